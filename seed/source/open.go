package source

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// counter counts the bytes that go through it.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// text opens a file and undoes its compression. disk counts what is read from it.
func (c Config) text(f File, disk *atomic.Int64) (r io.Reader, closeAll func() error, err error) {
	in := c.Stdin
	closeAll = func() error { return nil }
	if f.Path != "-" {
		file, err := os.Open(f.Path)
		if err != nil {
			return nil, nil, pathError(f.Path, err)
		}
		if info, err := file.Stat(); err == nil && info.IsDir() {
			_ = file.Close()
			return nil, nil, fmt.Errorf("source: %s is a folder, not a file", f.Path)
		}
		in, closeAll = file, file.Close
	}
	b := bufio.NewReaderSize(counter{in, disk}, 64<<10)
	head, _ := b.Peek(4) // an error comes again with the first read
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return failing{packed("gzip", err)}, closeAll, nil
		}
		return unpacker{z, "gzip"}, closeAll, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return failing{packed("zstd", err)}, closeAll, nil
		}
		inner := closeAll
		return unpacker{z, "zstd"}, func() error { z.Close(); return inner() }, nil
	}
	return b, closeAll, nil
}

// packedError is a compressed file that is damaged, as against one that can't be read.
type packedError struct {
	kind string
	err  error
}

func (e *packedError) Error() string {
	if e.err == io.ErrUnexpectedEOF { //nolint:errorlint // the decompressors give it bare
		return e.kind + ": the compressed data ends too early: is the file cut off?"
	}
	return fmt.Sprintf("%s: %v", e.kind, e.err)
}

func (e *packedError) Unwrap() error { return e.err }

func packed(kind string, err error) error {
	if err == io.EOF { //nolint:errorlint // bare, by io.Reader's contract
		err = io.ErrUnexpectedEOF
	}
	return &packedError{kind, err}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type unpacker struct {
	r    io.Reader
	kind string
}

func (u unpacker) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // bare, by io.Reader's contract
		if _, ok := err.(*os.PathError); !ok { //nolint:errorlint // a disk's error is handed on bare
			err = packed(u.kind, err)
		}
	}
	return n, err
}
