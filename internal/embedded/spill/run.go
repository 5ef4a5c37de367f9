package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A run file is blocks, each a header (length and CRC32-C of the payload, four bytes each, little endian) and
// a payload of pairs (length of key, length of value, key, value). The last block is empty,
// so a file that ends early is told from one that is whole.
const headerLen = 8

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func vfsNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// writeRun writes the sorted arena and returns the bytes written.
func writeRun(vf vfs.FS, path string, a *arena, block int) (n int64, err error) {
	f, err := vf.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err2 := f.Close(); err == nil {
			err = err2
		}
	}()
	table := castagnoli()
	buf := make([]byte, headerLen, headerLen+block+block/4)
	flush := func() error {
		binary.LittleEndian.PutUint32(buf, uint32(len(buf)-headerLen))
		binary.LittleEndian.PutUint32(buf[4:], crc32.Checksum(buf[headerLen:], table))
		w, err := f.Write(buf)
		n += int64(max(w, 0))
		if err == nil && w < len(buf) {
			err = io.ErrShortWrite
		}
		buf = buf[:headerLen]
		return err
	}
	for _, r := range a.refs {
		k, v := a.pair(r)
		if len(buf) > headerLen && len(buf)+len(k)+len(v) > headerLen+block {
			if err := flush(); err != nil {
				return n, err
			}
		}
		buf = binary.AppendUvarint(buf, uint64(len(k)))
		buf = binary.AppendUvarint(buf, uint64(len(v)))
		buf = append(buf, k...)
		buf = append(buf, v...)
	}
	if len(buf) > headerLen {
		if err := flush(); err != nil {
			return n, err
		}
	}
	return n, flush()
}

// source gives the pairs of one run in order. Key and value are valid until the next call of next.
type source interface {
	next() (key, value []byte, ok bool, err error)
	close() error
}

// memSource is what was still in memory.
type memSource struct {
	a *arena
	i int
}

func (m *memSource) next() (key, value []byte, ok bool, err error) {
	if m.i >= len(m.a.refs) {
		return nil, nil, false, nil
	}
	key, value = m.a.pair(m.a.refs[m.i])
	m.i++
	return key, value, true, nil
}

func (m *memSource) close() error { return nil }

// fileSource reads a run file.
type fileSource struct {
	f     vfs.File
	path  string
	table *crc32.Table
	buf   []byte
	rest  []byte
	done  bool
}

func openRun(vf vfs.FS, path string) (*fileSource, error) {
	f, err := vf.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return nil, fmt.Errorf("sort: open %s: %w", path, err)
	}
	return &fileSource{f: f, path: path, table: castagnoli()}, nil
}

func (s *fileSource) next() (key, value []byte, ok bool, err error) {
	if len(s.rest) == 0 {
		if s.done {
			return nil, nil, false, nil
		}
		if err := s.readBlock(); err != nil {
			return nil, nil, false, fmt.Errorf("sort: read %s: %w", s.path, err)
		}
		if s.done {
			return nil, nil, false, nil
		}
	}
	k, n := binary.Uvarint(s.rest)
	if n > 0 {
		v, m := binary.Uvarint(s.rest[n:])
		if m > 0 && k <= maxLength && v <= maxLength && uint64(len(s.rest)-n-m) >= k+v {
			b := s.rest[n+m:]
			s.rest = b[k+v:]
			return b[:k:k], b[k : k+v : k+v], true, nil
		}
	}
	return nil, nil, false, fmt.Errorf("sort: read %s: a pair is malformed", s.path)
}

var errChecksum = errors.New("wrong checksum")

func (s *fileSource) readBlock() error {
	var h [headerLen]byte
	if err := readFull(s.f, h[:]); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint32(h[:]))
	sum := binary.LittleEndian.Uint32(h[4:])
	if n == 0 {
		if sum != 0 {
			return errChecksum
		}
		s.done = true
		return nil
	}
	// The length itself may be wrong: grow as the bytes really come.
	s.buf = s.buf[:0]
	for len(s.buf) < n {
		step := min(n-len(s.buf), max(maxBlock*2, len(s.buf)))
		at := len(s.buf)
		if cap(s.buf) < at+step {
			grown := make([]byte, at, at+step)
			copy(grown, s.buf)
			s.buf = grown
		}
		s.buf = s.buf[:at+step]
		if err := readFull(s.f, s.buf[at:]); err != nil {
			return err
		}
	}
	if crc32.Checksum(s.buf, s.table) != sum {
		return errChecksum
	}
	s.rest = s.buf
	return nil
}

func readFull(f vfs.File, b []byte) error {
	_, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (s *fileSource) close() error { return s.f.Close() }
