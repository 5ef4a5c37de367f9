package spill

import (
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// List keeps records in the order of adding and gives them back by position: in memory up to the limit, what comes after
// that in a temporary file. Not safe for concurrent use.
type List struct {
	o    Options
	refs []listRef
	mem  [][]byte // chunks
	held int64
	file vfs.File
	path string
	done int64  // bytes in the file
	tail []byte // follows them
	buf  []byte
}

// listRef is where a record lies.
type listRef struct {
	off   int64
	chunk int32 // of memory, or onDisk
	n     uint32
	sum   uint32 // of a record on disk
}

const (
	onDisk       = -1
	listChunk    = 256 << 10
	listRefBytes = 24
)

// NewList returns an empty list.
func NewList(o Options) *List {
	if o.Refuse == nil {
		o.MemoryLimit = max(o.MemoryLimit, minLimit)
	}
	return &List{o: o}
}

// Len is the number of records.
func (l *List) Len() int { return len(l.refs) }

// Bytes is the memory held.
func (l *List) Bytes() int64 { return l.held + int64(cap(l.refs))*listRefBytes + int64(cap(l.tail)) }

// Spilled is the number of bytes that went to the file.
func (l *List) Spilled() int64 { return l.done }

// Add copies a record to the end.
func (l *List) Add(rec []byte) error {
	if len(rec) > maxLength {
		return fmt.Errorf("list: a record of %d bytes is too large", len(rec))
	}
	if l.file == nil && l.held+int64(len(rec)) <= l.o.MemoryLimit {
		l.addToMemory(rec)
		return nil
	}
	if l.o.Refuse != nil {
		return l.o.Refuse
	}
	if l.file == nil {
		l.path = l.o.FS.PathJoin(l.o.Dir, fmt.Sprintf("list-%016x", rand.Uint64()))
		f, err := l.o.FS.Create(l.path, vfs.WriteCategoryUnspecified)
		if err != nil {
			return fmt.Errorf("list: create %s: %w", l.path, err)
		}
		l.file = f
	}
	l.refs = append(l.refs, listRef{off: l.done + int64(len(l.tail)), chunk: onDisk, n: uint32(len(rec)), sum: crc32.Checksum(rec, castagnoli())})
	l.tail = append(l.tail, rec...)
	if len(l.tail) < listChunk {
		return nil
	}
	n, err := l.file.Write(l.tail)
	if err == nil && n < len(l.tail) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("list: write %s: %w", l.path, err)
	}
	l.done += int64(n)
	l.tail = l.tail[:0]
	return nil
}

func (l *List) addToMemory(rec []byte) {
	last := len(l.mem) - 1
	if last < 0 || cap(l.mem[last])-len(l.mem[last]) < len(rec) {
		// Small lists, of which there may be many, stay small.
		size := max(len(rec), min(listChunk, max(4<<10, int(l.held))))
		l.mem = append(l.mem, make([]byte, 0, size))
		l.held += int64(size)
		last++
	}
	l.refs = append(l.refs, listRef{off: int64(len(l.mem[last])), chunk: int32(last), n: uint32(len(rec))})
	l.mem[last] = append(l.mem[last], rec...)
}

// At gives record i, valid until the next At, Add or Reset.
func (l *List) At(i int) ([]byte, error) {
	r := l.refs[i]
	if r.chunk != onDisk {
		return l.mem[r.chunk][r.off : r.off+int64(r.n) : r.off+int64(r.n)], nil
	}
	if r.off >= l.done {
		from := int(r.off - l.done)
		return l.tail[from : from+int(r.n) : from+int(r.n)], nil
	}
	if cap(l.buf) < int(r.n) {
		l.buf = make([]byte, r.n)
	}
	b := l.buf[:r.n]
	if _, err := l.file.ReadAt(b, r.off); err != nil {
		return nil, fmt.Errorf("list: read %s: %w", l.path, err)
	}
	if crc32.Checksum(b, castagnoli()) != r.sum {
		return nil, fmt.Errorf("list: %s is damaged at byte %d", l.path, r.off)
	}
	return b, nil
}

// Reset forgets all records and removes the file.
func (l *List) Reset() error {
	clear(l.refs)
	l.refs = l.refs[:0]
	if len(l.mem) > 1 {
		l.mem, l.held = nil, 0
	} else if len(l.mem) == 1 {
		l.mem[0] = l.mem[0][:0]
	}
	l.tail, l.done = l.tail[:0], 0
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	if e := l.o.FS.Remove(l.path); err == nil && e != nil && !vfsNotExist(e) {
		err = e
	}
	if err != nil {
		return fmt.Errorf("list: remove %s: %w", l.path, err)
	}
	return nil
}

// Close is Reset for good. Idempotent.
func (l *List) Close() error {
	err := l.Reset()
	l.refs, l.mem, l.tail, l.buf, l.held = nil, nil, nil, nil, 0
	return err
}
