package source

import (
	"bytes"
	"errors"
)

// rows splits CSV and TSV: a quote at a field's start protects separators and
// line ends up to the closing one; a quote in it is doubled.
type rows struct{ comma byte }

func (r *rows) split(c *Chunk, data []byte, final bool) (int, *RecordError) {
	at := 0
	for at < len(data) {
		end, ok := r.row(data, at)
		if !ok {
			if !final {
				break
			}
			if end < 0 {
				return at, &RecordError{
					Pos: Pos{Offset: int64(at)}, Start: int64(at), Rest: true,
					Err: errors.New("a quoted field begins in this row and does not end"),
				}
			}
		}
		if len(bytes.TrimRight(data[at:end], "\r\n")) > 0 {
			c.spans = append(c.spans, span{at, end})
		}
		at = end
	}
	return at, nil
}

// row returns where the row at i ends, behind its line end. Without a line end it
// is the end of data, and -1 inside quotes.
func (r *rows) row(data []byte, i int) (int, bool) {
	n := bytes.IndexByte(data[i:], '\n')
	if n >= 0 && bytes.IndexByte(data[i:i+n], '"') < 0 {
		return i + n + 1, true
	}
	start := true
	for i < len(data) {
		c := data[i]
		if c == '"' && start {
			for i++; ; {
				n := bytes.IndexByte(data[i:], '"')
				if n < 0 {
					return -1, false
				}
				i += n + 1
				if i == len(data) || data[i] != '"' {
					break
				}
				i++
			}
			start = false
			continue
		}
		i++
		if c == '\n' {
			return i, true
		}
		start = c == r.comma
	}
	return len(data), false
}

// field cuts the next field off a row. quoted says that it was in quotes; text
// is then without them.
func (r *rows) field(row, buf []byte) (text, rest, kept []byte, quoted, more bool, err error) {
	kept = buf
	if len(row) == 0 || row[0] != '"' {
		n := bytes.IndexByte(row, r.comma)
		if n < 0 {
			return row, nil, kept, false, false, nil
		}
		return row[:n], row[n+1:], kept, false, true, nil
	}
	row = row[1:]
	kept = kept[:0]
	for {
		n := bytes.IndexByte(row, '"')
		if n < 0 {
			return nil, nil, kept, true, false, errors.New("a quoted field without an end")
		}
		if n+1 < len(row) && row[n+1] == '"' {
			kept = append(kept, row[:n+1]...)
			row = row[n+2:]
			continue
		}
		text = row[:n]
		if len(kept) > 0 {
			kept = append(kept, text...)
			text = kept
		}
		row = row[n+1:]
		switch {
		case len(row) == 0:
			return text, nil, kept, true, false, nil
		case row[0] == r.comma:
			return text, row[1:], kept, true, true, nil
		}
		return nil, nil, kept, true, false, errors.New("text after a field's closing quote")
	}
}
