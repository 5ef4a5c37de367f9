package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mrbench/internal/report"
	"mrbench/seed"
	"mrbench/seed/source"
)

// emission is where generated documents are written to instead of a server.
type emission struct {
	format source.Format
	path   string // "" is standard output
	pack   string // ".gz", ".zst" or ""
}

// parseEmit reads a format, which is for standard output, or the name of a file, whose endings say how it is written.
func parseEmit(s string) (e emission, err error) {
	switch f := source.Format(strings.ToLower(s)); f {
	case source.NDJSON, source.JSON, source.BSON:
		return emission{format: f}, nil
	}
	e.path = s
	name := strings.ToLower(filepath.Base(s))
	for _, end := range []string{".gz", ".zst"} {
		if strings.HasSuffix(name, end) {
			name, e.pack = strings.TrimSuffix(name, end), end
		}
	}
	switch filepath.Ext(name) {
	case ".ndjson", ".jsonl":
		e.format = source.NDJSON
	case ".json":
		e.format = source.JSON
	case ".bson":
		e.format = source.BSON
	default:
		return e, usageError("--emit %q: it is ndjson, json or bson for standard output, or a file that ends in .ndjson, .json (one array) or .bson, "+
			"and then perhaps .gz or .zst", s)
	}
	return e, nil
}

// emit writes the generator's documents. A file is there when it is whole.
func (a *app) emit(ctx context.Context, o seedOptions) error {
	e, err := parseEmit(o.emit)
	if err != nil {
		return err
	}
	g, err := a.generatorOf(o)
	if err != nil {
		return err
	}
	if e.path == "" {
		return a.emitTo(ctx, a.env.Stdout, "", g, o.docs, e)
	}
	path := a.env.path(e.path)
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return usageError("--emit: %w", err)
	}
	if _, err := os.Lstat(path); err == nil && !o.overwrite {
		return usageError("--emit: %s exists: name another file, or replace it with --overwrite", e.path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usageError("--emit: %w", err)
	}
	err = writeFileAtomically(path, func(f *os.File) error {
		return a.emitTo(ctx, f, e.path, g, o.docs, e)
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("--emit: %w", err)
	}
	return err
}

func (a *app) emitTo(ctx context.Context, w io.Writer, name string, g seed.Generator, docs int64, e emission) (err error) {
	out := bufio.NewWriterSize(w, 256<<10)
	var packed io.WriteCloser
	to := io.Writer(out)
	switch e.pack {
	case ".gz":
		packed = gzip.NewWriter(out)
	case ".zst":
		if packed, err = zstd.NewWriter(out); err != nil {
			return err
		}
	}
	if packed != nil {
		to = packed
	}
	n, size, err := seed.Emit(ctx, to, g, 0, docs, e.format)
	if packed != nil {
		if cerr := packed.Close(); err == nil {
			err = cerr
		}
	}
	if ferr := out.Flush(); err == nil {
		err = ferr
	}
	where := ""
	if name != "" {
		where = " in " + name
	}
	if err == nil || name == "" {
		a.tell("%s documents, %s of text%s", report.Thousands(n), report.Bytes(size).Text, where)
	}
	return err
}
