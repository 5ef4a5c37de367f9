package source

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Pos is a place in a file: lines count from 1, bytes from 0. Both are of
// the text after decompression. A dump of BSON has no lines: Line is 0.
type Pos struct {
	File   string `json:"file"`
	Line   int64  `json:"line,omitempty"`
	Offset int64  `json:"offset"`
}

func (p Pos) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: byte %d", p.File, p.Offset)
	}
	return fmt.Sprintf("%s: line %d, byte %d", p.File, p.Line, p.Offset)
}

// RecordError is a record that is not a document. Reading can go on after it.
type RecordError struct {
	Pos           // of what is wrong
	Start  int64  // the byte at which the record begins
	Err    error  // what is wrong
	Record []byte // the record's text, as far as it was read; at most 1 MiB of it
	Rest   bool   // where the next record begins can't be known: the rest of the file is not read
}

func (e *RecordError) Error() string {
	s := e.String() + ": " + e.Err.Error()
	if e.Rest {
		s += " (the rest of the file can not be read)"
	}
	return s
}

func (e *RecordError) Unwrap() error { return e.Err }

// maxKept bounds the text that a RecordError keeps.
const maxKept = 1 << 20

func keep(b []byte) []byte { return append([]byte(nil), b[:min(len(b), maxKept)]...) }

// WriteReject writes a broken record as one line of JSON: where it is, what is
// wrong, whether the rest of the file was given up, and its text. Bytes that are
// not UTF-8 are written as \x escapes under "escaped" instead of "record".
func WriteReject(w io.Writer, e *RecordError) error {
	line := struct {
		Pos
		Start   int64  `json:"start"`
		Error   string `json:"error"`
		Rest    bool   `json:"rest_not_read,omitempty"`
		Record  string `json:"record,omitempty"`
		Escaped string `json:"escaped,omitempty"`
	}{Pos: e.Pos, Start: e.Start, Error: e.Err.Error(), Rest: e.Rest, Record: string(e.Record)}
	if q := strconv.Quote(line.Record); !validText(e.Record) {
		line.Record, line.Escaped = "", q[1:len(q)-1]
	}
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("source: reject of %s: %w", e.File, err)
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("source: write the reject of %s: %w", e.File, err)
	}
	return nil
}
