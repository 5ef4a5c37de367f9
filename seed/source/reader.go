package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// span is a record within a chunk's data: [from, to).
type span struct{ from, to int }

// Chunk is a piece of one file: whole records only.
type Chunk struct {
	Pos             // of Data[0]
	Data   []byte   // belongs to the chunk
	Folder string   // the file's top-level folder
	Index  int      // of the file, among the Reader's Files
	Extent Extent   // of the file that this chunk stands for: its begin is the end of the chunk before
	Base   int64    // bytes of text of the files before
	Last   bool     // the file ends with this chunk
	done   []Extent // records that begin here are left out
	format Format
	spans  []span // nil when each line is a record
	cols   *columns
	bad    *RecordError // follows the records
}

// Records counts the chunk's records, broken ones included, without decoding them.
func (c *Chunk) Records() int64 {
	if c.format != NDJSON {
		return int64(len(c.spans))
	}
	n := int64(0)
	for rest := c.Data; len(rest) > 0; {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		if len(trim(line)) > 0 {
			n++
		}
	}
	return n
}

// splitter finds the records of one file.
type splitter interface {
	// split appends the spans of whole records in data to c and returns how many
	// bytes it is done with. final says that nothing follows data. A *RecordError has
	// its Offset relative to data.
	split(c *Chunk, data []byte, final bool) (used int, err *RecordError)
}

// Reader cuts files into chunks. It is for one goroutine; Close it.
type Reader struct {
	c     Config
	files []File
	next  int
	base  int64 // bytes of text of the files that were read
	from  int64 // end of the last chunk
	disk  atomic.Int64

	// Of the open file:
	file   File
	in     io.Reader
	close  func() error
	split  splitter
	format Format
	cols   *columns
	at     Pos // of tail[0]
	tail   []byte
	ended  bool
	failed error // what reading stopped with, to be told after the records before it
}

// Open lists the files. None is opened yet.
func Open(c Config) (*Reader, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	files, err := c.Files()
	if err != nil {
		return nil, err
	}
	return &Reader{c: c, files: files}, nil
}

// Files are the files that are read, in this order.
func (r *Reader) Files() []File { return r.files }

// DiskBytes counts the bytes read so far, before decompression. It may be called from
// any goroutine.
func (r *Reader) DiskBytes() int64 { return r.disk.Load() }

// Close closes what is open. Chunks stay valid.
func (r *Reader) Close() error {
	if r.close == nil {
		return nil
	}
	err := r.close()
	r.close, r.in = nil, nil
	return err
}

// Next fills c, whose memory is used again, with the next records. The error is
// io.EOF at the end, the context's, or that of a file which can't be opened or
// read. Text that is broken is not an error here: the chunk's Decoder tells it.
func (r *Reader) Next(ctx context.Context, c *Chunk) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.in == nil {
			if r.next == len(r.files) {
				return io.EOF
			}
			if done := r.done(r.next); done.Complete {
				r.base += done.Text
				r.next++
				continue
			}
			if err := r.open(r.files[r.next]); err != nil {
				return err
			}
			r.next++
		}
		*c = Chunk{
			Pos: r.at, Data: c.Data[:0], Folder: r.file.Folder, spans: c.spans[:0],
			Index: r.next - 1, Base: r.base, done: r.done(r.next - 1).Extents,
		}
		if err := r.fill(c); err != nil {
			return err
		}
		c.Extent = Extent{r.from, r.at.Offset}
		r.from = r.at.Offset
		if c.Last {
			r.base += r.at.Offset
		}
		if len(c.done) > 0 && covers(c.done, c.Extent.From, c.Extent.To) && !c.Last {
			continue
		}
		if len(c.Data) > 0 || c.bad != nil || c.Last {
			return nil
		}
	}
}

// done is what Config.Done says of a file.
func (r *Reader) done(i int) (d Done) {
	if i < len(r.c.Done) {
		d = r.c.Done[i]
	}
	return d
}

func (r *Reader) open(f File) error {
	r.from = 0
	in, done, err := r.c.text(f, &r.disk)
	if err != nil {
		return err
	}
	line := int64(1)
	r.file, r.in, r.close, r.split, r.cols = f, in, done, nil, nil
	r.at, r.tail, r.ended, r.failed = Pos{File: f.Path, Line: line}, r.tail[:0], false, nil
	return nil
}

// read appends up to size bytes to data; the file's end or its failure is noted in r.
func (r *Reader) read(data []byte, size int) []byte {
	for want := len(data) + size; len(data) < want && !r.ended; {
		if cap(data) < want {
			data = append(make([]byte, 0, want), data...)
		}
		n, err := r.in.Read(data[len(data):want])
		data = data[:len(data)+n]
		if err != nil {
			r.ended = true
			if err != io.EOF { // bare, by io.Reader's contract
				r.failed = err
			}
		}
	}
	return data
}

// fill reads the next chunk of the open file.
func (r *Reader) fill(c *Chunk) error {
	data := append(c.Data, r.tail...)
	size := max(r.c.ChunkSize-len(data), 4096)
	for {
		data = r.read(data, size)
		var pack *packedError
		if r.failed != nil && !errors.As(r.failed, &pack) {
			return fmt.Errorf("source: %s: byte %d: %w", r.file.Path, r.at.Offset+int64(len(data)), r.failed)
		}
		if r.split == nil {
			var bad *RecordError
			if data, bad = r.begin(data); bad != nil {
				return r.giveUp(c, data, 0, bad)
			}
		}
		c.Pos, c.format, c.cols = r.at, r.format, r.cols
		// The end of damaged data is not the end of the text: a half record there is
		// not told as a broken one.
		used, bad := r.split.split(c, data, r.ended && r.failed == nil)
		switch {
		case bad != nil && bad.Rest:
			return r.giveUp(c, data, used, bad)
		case r.ended && r.failed != nil:
			return r.giveUp(c, data, used, &RecordError{Pos: Pos{Offset: int64(len(data))}, Err: r.failed, Rest: true})
		case used > 0 || bad != nil || r.ended:
			c.Data = data[:used]
			r.tail = append(r.tail[:0], data[used:]...)
			r.locate(c, data, bad)
			r.advance(data[:used])
			if r.ended && len(r.tail) == 0 {
				c.Last = true
				return r.Close()
			}
			return nil
		case len(data) > r.c.MaxRecord:
			err := fmt.Errorf("a record of more than %d bytes", r.c.MaxRecord)
			if r.format != NDJSON {
				return r.giveUp(c, data, 0, &RecordError{Err: err, Rest: true})
			}
			c.Data = data[:0]
			bad := &RecordError{Err: err}
			r.locate(c, data, bad)
			r.dropLine(data)
			return nil
		}
		size = len(data) // a long record: twice as much
	}
}

// dropLine passes over the rest of a line that is too long.
func (r *Reader) dropLine(data []byte) {
	r.at.Offset += int64(len(data))
	buf := data[:0]
	for !r.ended {
		buf = r.read(buf[:0], 64<<10)
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			r.at.Offset += int64(i + 1)
			r.at.Line++
			r.tail = append(r.tail[:0], buf[i+1:]...)
			return
		}
		r.at.Offset += int64(len(buf))
	}
	r.tail = r.tail[:0]
}

// locate makes a broken record's place absolute and hands it to the chunk.
func (r *Reader) locate(c *Chunk, data []byte, bad *RecordError) {
	if bad == nil {
		return
	}
	rel := int(bad.Offset)
	bad.Pos = r.at
	bad.Offset += int64(rel)
	bad.Start += r.at.Offset
	if r.format == BSON {
		bad.Line = 0
	} else {
		bad.Line += int64(bytes.Count(data[:min(rel, len(data))], newline))
	}
	c.bad = bad
}

// giveUp ends the file with a broken record.
func (r *Reader) giveUp(c *Chunk, data []byte, used int, bad *RecordError) error {
	if bad.Start == 0 {
		bad.Start = int64(used)
	}
	bad.Record = keep(data[min(int(bad.Start), len(data)):])
	c.Data = data[:used]
	r.locate(c, data, bad)
	r.at.Offset += int64(len(data))
	c.Last = true
	r.tail = r.tail[:0]
	if r.file.Path == "-" {
		r.ended = true
	}
	return r.Close()
}

var newline = []byte{'\n'}

func (r *Reader) advance(done []byte) {
	r.at.Offset += int64(len(done))
	if r.format != BSON {
		r.at.Line += int64(bytes.Count(done, newline))
	}
}

// begin looks at a file's first bytes: mark, format, header.
func (r *Reader) begin(data []byte) ([]byte, *RecordError) {
	r.format = r.c.Format
	if r.failed != nil && len(data) == 0 {
		return data, &RecordError{Err: r.failed, Rest: true}
	}
	if len(data) == 0 {
		return data, &RecordError{Err: errors.New("the file is empty"), Rest: true}
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		if r.format != BSON {
			return data, &RecordError{Err: errors.New("the text is UTF-16: convert it to UTF-8 first"), Rest: true}
		}
	}
	if r.format != BSON && bytes.HasPrefix(data, []byte{0xef, 0xbb, 0xbf}) {
		data = data[3:]
		r.at.Offset += 3
	}
	if r.format == "" {
		f, err := recognise(r.file.Path, data)
		switch {
		case r.c.Select != "" && (f == NDJSON || f == JSON):
			f = JSON
		case r.c.Select != "" && err == nil:
			err = fmt.Errorf("an array is selected from json documents only, not from %s", f)
		}
		if err != nil {
			return data, &RecordError{Err: err, Rest: true}
		}
		r.format = f
	}
	if r.c.Columns != "" && r.format != CSV && r.format != TSV {
		return data, &RecordError{Err: fmt.Errorf("columns are of csv and tsv files, and this one is %s", r.format), Rest: true}
	}
	switch r.format {
	case NDJSON:
		r.split = lines{}
	case JSON:
		r.split = newValues(r.c.Select)
	case BSON:
		r.at.Line = 0
		r.split = dump{}
	case CSV, TSV:
		rows := &rows{comma: ','}
		if r.format == TSV {
			rows.comma = '\t'
		}
		if r.c.Columns != "" {
			cols, err := parseColumns(r.c.Columns, ',')
			if err != nil {
				return data, &RecordError{Err: err, Rest: true}
			}
			r.cols = cols.separated(rows.comma)
			r.split = rows
			break
		}
		end, ok := rows.row(data, 0)
		if !ok && !r.ended {
			return data, &RecordError{Err: errors.New("the header is longer than the first piece of the file"), Rest: true}
		}
		if end < 0 {
			return data, &RecordError{Err: errors.New("header: a quoted field without an end"), Rest: true}
		}
		cols, err := parseColumns(string(bytes.TrimRight(data[:end], "\r\n")), rows.comma)
		if err != nil {
			return data, &RecordError{Err: fmt.Errorf("header: %w", err), Rest: true}
		}
		r.cols = cols
		r.advance(data[:end])
		data = data[end:]
		r.split = rows
	}
	return data, nil
}
