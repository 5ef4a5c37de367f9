package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A log whose end a power cut left unfinished looks like one with a wrong byte: pebble goes on without what follows, in both cases.
// What tells them apart is how far the log is known to have been on stable storage. A small file beside the logs says so; it is
// written after each fsync. Damage before that point is no unfinished end, and an error.

// syncedFile holds the name of the newest log and how many of its bytes are on stable storage.
const syncedFile = "LOG-SYNCED"

// syncedMark is the file's content. Its length is fixed, so that it can be overwritten in place.
func syncedMark(log string, n int64) []byte {
	text := fmt.Sprintf("%-20s %20d ", log, n)
	return fmt.Appendf(nil, "%s%08x\n", text, crc32.ChecksumIEEE([]byte(text)))
}

// readSyncedMark gives nothing for a file that is absent or not whole: it is no more than a help.
func readSyncedMark(vf vfs.FS, dir string) (log string, n int64) {
	b, err := readAll(vf, vf.PathJoin(dir, syncedFile))
	fields := strings.Fields(string(b))
	if err != nil || len(fields) != 3 {
		return "", 0
	}
	n, err = strconv.ParseInt(fields[1], 10, 64)
	if err != nil || string(syncedMark(fields[0], n)) != string(b) {
		return "", 0
	}
	return fields[0], n
}

func readAll(vf vfs.FS, path string) ([]byte, error) {
	f, err := vf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// damagedLogError says that a log has a wrong byte among those that were on stable storage.
type damagedLogError struct {
	path, mark string
	at, follow int64
	missing    bool
}

func (e *damagedLogError) Error() string {
	what := fmt.Sprintf("is damaged at byte %d: the %d bytes from there on were on stable storage once, and hold writes", e.at, e.follow)
	if e.missing {
		what = fmt.Sprintf("ends at byte %d: %d bytes are missing that were on stable storage once", e.at, e.follow)
	}
	return fmt.Sprintf("the log %s %s. Restore the data directory from a copy; or, to go on with the writes before that byte and without those after it, remove %s and start again", e.path, what, e.mark)
}

// checkLog reads the newest log as far as it was on stable storage when the program ended.
func checkLog(vf vfs.FS, dir string) error {
	name, n := readSyncedMark(vf, dir)
	if n == 0 {
		return nil
	}
	path := vf.PathJoin(dir, name)
	f, err := vf.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its writes have gone to tables
	}
	if err != nil {
		return err
	}
	defer f.Close()
	num, err := strconv.ParseUint(strings.TrimSuffix(name, ".log"), 10, 64)
	if err != nil {
		return nil
	}
	at, ok, err := soundUntil(f, uint32(num), n)
	if err != nil {
		return fmt.Errorf("read the log %s: %w", path, err)
	}
	if ok {
		return nil
	}
	e := &damagedLogError{path: path, mark: vf.PathJoin(dir, syncedFile), at: at, follow: n - at}
	if st, err := f.Stat(); err == nil && st.Size() < n {
		e.missing, e.at, e.follow = true, st.Size(), n-st.Size()
	}
	return e
}

// blameLog adds to pebble's error of a log that is not the newest, and was whole when the next one was begun, which one it is.
func blameLog(vf vfs.FS, dir string, err error) error {
	if !errors.Is(err, record.ErrInvalidChunk) && !errors.Is(err, record.ErrZeroedChunk) && !errors.Is(err, record.ErrUnexpectedEOF) {
		return err
	}
	names, _ := vf.List(dir)
	slices.Sort(names)
	for _, name := range names {
		num, bad := strconv.ParseUint(strings.TrimSuffix(name, ".log"), 10, 64)
		if bad != nil || !isLog(name) {
			continue
		}
		b, bad := readAll(vf, vf.PathJoin(dir, name))
		if bad != nil {
			continue
		}
		if at, ok, _ := soundUntil(bytes.NewReader(b), uint32(num), int64(len(b))); !ok {
			return fmt.Errorf("the log %s is damaged at byte %d, before others that follow it. Restore the data directory from a copy (%w)", vf.PathJoin(dir, name), at, err)
		}
	}
	return err
}

// Sizes in pebble's log: blocks, and the headers of chunks, of which each block holds whole ones. A header is a checksum of what follows
// it, a length, a type and the log's number, which tells an older log's bytes in a file that is used again.
const (
	logBlock    = 32 << 10
	chunkHeader = 11 // 4, 2, 1, 4
	syncHeader  = 8  // more, of the types above lastRecyclable

	firstRecyclable = 5
	lastRecyclable  = 8
	lastChunkType   = 12
)

// soundUntil checks the chunks of a log that end within its first n bytes; at is where the first bad one begins.
func soundUntil(r io.Reader, num uint32, n int64) (at int64, ok bool, err error) {
	block := make([]byte, logBlock)
	for at < n {
		got, err := io.ReadFull(r, block[:min(logBlock, n-at)])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return at, false, err
		}
		b := block[:got]
		for len(b) >= chunkHeader {
			size, end, ok := chunk(b, num)
			if !ok {
				return at + int64(got-len(b)), false, nil
			}
			if end {
				return at, true, nil
			}
			if size > len(b) {
				// Goes on where nothing is known, or beyond the block, which no chunk does.
				sound := got < logBlock && at+int64(got) == n
				return at + int64(got-len(b)), sound, nil
			}
			b = b[size:]
		}
		if int64(got) < min(logBlock, n-at) {
			return at + int64(got), false, nil
		}
		at += int64(got)
	}
	return n, true, nil
}

// chunk checks the first chunk of b; its size may be larger than b, when it is not checked. end is the mark at the end of a log that was closed.
func chunk(b []byte, num uint32) (size int, end, ok bool) {
	sum, n, typ := binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint16(b[4:])), b[6]
	log := binary.LittleEndian.Uint32(b[7:])
	if sum == 0 && n == 0 && typ == 0 && len(b) < chunkHeader+syncHeader {
		return len(b), false, true // what is left of a block
	}
	if log == num+1 && sum == 0 && n == 0 && typ == firstRecyclable {
		return 0, true, true
	}
	if typ < firstRecyclable || typ > lastChunkType || log != num {
		return 0, false, false
	}
	size = chunkHeader + n
	if typ > lastRecyclable {
		size += syncHeader
	}
	if size > len(b) {
		return size, false, true
	}
	c := crc32.Checksum(b[6:size], crc32.MakeTable(crc32.Castagnoli))
	return size, false, sum == (c>>15|c<<17)+0xa282ead8
}
