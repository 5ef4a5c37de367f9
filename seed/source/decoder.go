package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/seed/extjson"
)

// Decoder turns the records of chunks into BSON. One a goroutine; the zero
// value is ready.
type Decoder struct {
	parser extjson.Parser
	c      *Chunk
	next   int // the next span, or the next line's first byte
	line   int64
	at     int // where line was counted
	field  []byte
	open   []int
}

// Start begins with a chunk's first record.
func (d *Decoder) Start(c *Chunk) { d.c, d.next, d.line, d.at = c, 0, c.Line, 0 }

// Append appends the next record's document to dst and returns the longer slice
// and where the record begins. A broken record is a *RecordError; dst comes
// back as it was, and the next call goes on. io.EOF says that the chunk is done.
func (d *Decoder) Append(dst []byte) ([]byte, Pos, error) {
	c := d.c
	record, from, ok := d.record()
	for ok && len(c.done) > 0 && has(c.done, c.Offset+int64(from)) {
		record, from, ok = d.record()
	}
	if !ok {
		if bad := c.bad; bad != nil {
			c.bad = nil
			if len(c.done) == 0 || !has(c.done, bad.Start) {
				return dst, bad.Pos, bad
			}
		}
		return dst, Pos{}, io.EOF
	}
	pos := Pos{File: c.File, Line: d.line, Offset: c.Offset + int64(from)}
	var err error
	switch c.format {
	case BSON:
		if err = bson.Raw(record).Validate(); err == nil {
			return append(dst, record...), pos, nil
		}
	case CSV, TSV:
		if dst, err = c.cols.append(dst, record, d); err == nil {
			return dst, pos, nil
		}
	default:
		if dst, err = d.parser.Append(dst, record); err == nil {
			return dst, pos, nil
		}
	}
	bad := &RecordError{Pos: pos, Start: pos.Offset, Err: err, Record: keep(record)}
	var syntax *extjson.SyntaxError
	if errors.As(err, &syntax) {
		bad.Offset += int64(syntax.Offset)
		bad.Line += int64(bytes.Count(record[:min(syntax.Offset, len(record))], newline))
	}
	return dst, pos, bad
}

// record finds the next record and counts lines up to it.
func (d *Decoder) record() (record []byte, from int, ok bool) {
	data := d.c.Data
	if d.c.format != NDJSON {
		if d.next == len(d.c.spans) {
			return nil, 0, false
		}
		s := d.c.spans[d.next]
		d.next++
		if d.c.format != BSON {
			d.line += int64(bytes.Count(data[d.at:s.from], newline))
			d.at = s.from
		}
		return data[s.from:s.to], s.from, true
	}
	for d.next < len(data) {
		from, to := d.next, len(data)
		if d.at > 0 {
			d.line++
		}
		if n := bytes.IndexByte(data[from:], '\n'); n >= 0 {
			to = from + n
		}
		d.next = to + 1
		d.at = d.next
		if line := data[from:to]; len(trim(line)) > 0 {
			return line, from, true
		}
	}
	return nil, 0, false
}

// Document is a document with the place that its record begins at.
type Document struct {
	Pos
	Raw bson.Raw // valid until the next one is asked for
}

// Documents reads all documents of a configuration. A *RecordError is a broken
// record, after which the loop may go on; any other error is the last.
func Documents(ctx context.Context, c Config) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		r, err := Open(c)
		if err != nil {
			yield(Document{}, err)
			return
		}
		defer r.Close() // read only
		var chunk Chunk
		var d Decoder
		var buf []byte
		for {
			if err := r.Next(ctx, &chunk); err != nil {
				if err != io.EOF { //nolint:errorlint // bare, by Next's contract
					yield(Document{Pos: Pos{File: r.file.Path}}, err)
				}
				return
			}
			for d.Start(&chunk); ; {
				doc, pos, err := d.Append(buf[:0])
				if err == io.EOF { //nolint:errorlint // bare, by Append's contract
					break
				}
				buf = doc
				if err != nil {
					doc = nil
				}
				if !yield(Document{Pos: pos, Raw: doc}, err) {
					return
				}
			}
		}
	}
}
