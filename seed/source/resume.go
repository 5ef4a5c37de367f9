package source

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Extent is the bytes [From, To) of a file's text after decompression.
type Extent struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Done says which records of a file are not to be read again: those that
// begin in an extent. Extents are sorted and do not touch. A complete file is not
// opened; Text is then the length of its text.
type Done struct {
	Complete bool     `json:"complete,omitempty"`
	Text     int64    `json:"text,omitempty"`
	Extents  []Extent `json:"extents,omitempty"`
}

// Add adds an extent.
func (d *Done) Add(e Extent) {
	if e.To <= e.From {
		return
	}
	// The first extent that ends at or behind e's begin, from the end: that is where most come.
	i := len(d.Extents)
	for i > 0 && d.Extents[i-1].To >= e.From {
		i--
	}
	j := i
	for j < len(d.Extents) && d.Extents[j].From <= e.To {
		e.From, e.To = min(e.From, d.Extents[j].From), max(e.To, d.Extents[j].To)
		j++
	}
	d.Extents = slices.Replace(d.Extents, i, j, e)
}

// covers says whether [from, to) lies in one extent.
func covers(list []Extent, from, to int64) bool {
	for _, e := range list {
		if from >= e.From && to <= e.To {
			return true
		}
	}
	return false
}

// has says whether a record that begins at byte at is in an extent.
func has(list []Extent, at int64) bool {
	for _, e := range list {
		if at >= e.From && at < e.To {
			return true
		}
	}
	return false
}

// Fingerprint tells whether a file is still the one that it was.
type Fingerprint struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
	Head     string    `json:"head,omitempty"` // SHA-256 of the first 64 KiB
}

const headSize = 64 << 10

// Fingerprint looks at a file.
func (f File) Fingerprint() (Fingerprint, error) {
	in, err := os.Open(f.Path)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("source: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return Fingerprint{}, fmt.Errorf("source: %w", err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(bufio.NewReader(in), headSize)); err != nil {
		return Fingerprint{}, fmt.Errorf("source: %s: %w", f.Path, err)
	}
	return Fingerprint{Size: info.Size(), Modified: info.ModTime().UTC(), Head: hex.EncodeToString(h.Sum(nil))}, nil
}

// Changed says what differs from an earlier fingerprint, "" when nothing does.
func (p Fingerprint) Changed(was Fingerprint) string {
	switch {
	case p.Size != was.Size:
		return fmt.Sprintf("it had %d bytes and has %d", was.Size, p.Size)
	case p.Head != was.Head:
		return "its first bytes are others"
	case !p.Modified.Equal(was.Modified):
		return fmt.Sprintf("it was written to at %s", p.Modified.Format(time.RFC3339))
	}
	return ""
}

// NotResumable names the first of the files that can't be read twice, and why;
// "" when all can.
func NotResumable(files []File) string {
	for _, f := range files {
		if f.Path == "-" {
			return "standard input"
		}
		if info, err := os.Stat(f.Path); err == nil && !info.Mode().IsRegular() {
			return f.Path + " (not a regular file)"
		}
	}
	return ""
}
