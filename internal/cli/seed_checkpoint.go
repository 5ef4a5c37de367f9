package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mrbench/internal/target"
	"mrbench/seed"
	"mrbench/seed/source"
)

// checkpoints is the file that says how far a load came: one for each server, namespace and set of files, in the data
// directory, until the load is complete.
type checkpoints struct {
	path string
	last *seed.Checkpoint // kept by this process; nil: none
}

func (a *app) checkpointsOf(t *target.Target, src *source.Config) (*checkpoints, error) {
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	what := struct {
		Server, NS, Format, Select, Columns string
		Paths                               []string
		From, To                            int
	}{t.Identity, a.common.ns.String(), string(src.Format), src.Select, src.Columns, nil, src.From, src.To}
	for _, p := range src.Paths {
		if p != "-" {
			if p, err = filepath.Abs(p); err != nil {
				return nil, fmt.Errorf("checkpoint: %w", err)
			}
		}
		what.Paths = append(what.Paths, p)
	}
	key, err := json.Marshal(what)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	sum := sha256.Sum256(key)
	name := fmt.Sprintf("%s-%s.json", strings.Map(nameRune, a.common.ns.String()), hex.EncodeToString(sum[:8]))
	return &checkpoints{path: filepath.Join(dir, "loads", name)}, nil
}

// nameRune keeps what is harmless in a file's name on every system.
func nameRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
		return r
	}
	return '_'
}

// load reads the checkpoint; nil when there is none.
func (c *checkpoints) load() (*seed.Checkpoint, error) {
	b, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	var p seed.Checkpoint
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("the checkpoint %s can not be read (%w): load the files again with --drop", c.path, err)
	}
	return &p, nil
}

// save replaces the checkpoint. Whenever the process or the machine stops, the old or the new one is there.
func (c *checkpoints) save(p *seed.Checkpoint) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := writeFileAtomically(c.path, func(f *os.File) error { _, err := f.Write(b); return err }); err != nil {
		return err
	}
	c.last = p
	return nil
}

// remove ends a load that is complete.
func (c *checkpoints) remove() error {
	if err := os.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// writeFileAtomically writes a file beside the path and puts it there when it is whole and on disk. Folders are made.
func writeFileAtomically(path string, write func(*os.File) error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "."+filepath.Base(path)+".tmp"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil { // some systems can't sync a folder, and need not
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}
