package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"mrbench/seed/source"
)

// rejects is the file that broken records go to. A load that is resumed goes on in it.
type rejects struct {
	path  string
	f     *os.File
	known map[rejected]bool // that are in it from before
	n     int
}

// rejected tells broken records apart.
type rejected struct {
	File  string `json:"file"`
	Start int64  `json:"start"`
}

// openRejects makes the file, before any work is done. One that exists is replaced only when that is asked for.
func openRejects(path string, resume, overwrite bool) (*rejects, error) {
	r := &rejects{path: path, known: map[rejected]bool{}}
	flags := os.O_RDWR | os.O_CREATE
	switch {
	case resume:
	case overwrite:
		flags |= os.O_TRUNC
	default:
		flags |= os.O_EXCL
	}
	var err error
	if r.f, err = os.OpenFile(path, flags, 0o644); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, usageError("--skip-bad: %s exists: name another file, or replace it with --overwrite", path)
		}
		return nil, usageError("--skip-bad: %w", err)
	}
	if resume {
		if err := r.readKnown(); err != nil {
			return nil, fmt.Errorf("--skip-bad: %s: %w", path, err)
		}
	}
	return r, nil
}

// readKnown reads the records that were written before. A last line that a crash cut off goes.
func (r *rejects) readKnown() error {
	in := bufio.NewReader(r.f)
	end := int64(0)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF { // bare, by ReadBytes's contract
			break
		}
		if err != nil {
			return err
		}
		end += int64(len(line))
		var at rejected
		if json.Unmarshal(bytes.TrimSpace(line), &at) == nil {
			r.known[at] = true
		}
	}
	r.n = len(r.known)
	if err := r.f.Truncate(end); err != nil {
		return err
	}
	_, err := r.f.Seek(end, io.SeekStart)
	return err
}

func (r *rejects) take(e *source.RecordError) error {
	at := rejected{e.File, e.Start}
	if r.known[at] {
		return nil
	}
	r.n++
	return source.WriteReject(r.f, e)
}

// sync makes sure that what a checkpoint counts is on disk.
func (r *rejects) sync() error {
	if r == nil {
		return nil
	}
	return r.f.Sync()
}

// close also removes a file that nothing was written to.
func (r *rejects) close() error {
	if r == nil {
		return nil
	}
	err := r.f.Close()
	if r.n == 0 && err == nil {
		err = os.Remove(r.path)
	}
	if err != nil {
		return fmt.Errorf("--skip-bad: %w", err)
	}
	return nil
}
