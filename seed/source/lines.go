package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// lines splits NDJSON. Where each line ends is found by the decoder.
type lines struct{}

func (lines) split(_ *Chunk, data []byte, final bool) (int, *RecordError) {
	if final {
		return len(data), nil
	}
	return bytes.LastIndexByte(data, '\n') + 1, nil
}

// trim cuts white space off both ends of a record.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// dump splits documents that stand back to back.
type dump struct{}

const maxBSON = 16<<20 + 16<<10 // what a server writes at most

func (dump) split(c *Chunk, data []byte, final bool) (int, *RecordError) {
	at := 0
	for at < len(data) {
		if len(data)-at >= 4 {
			n := int(int32(binary.LittleEndian.Uint32(data[at:])))
			if n < 5 || n > maxBSON {
				return at, &RecordError{
					Pos: Pos{Offset: int64(at)}, Start: int64(at), Rest: true,
					Err: fmt.Errorf("a document of %d bytes: is this a dump of BSON?", n),
				}
			}
			if len(data)-at >= n {
				c.spans = append(c.spans, span{at, at + n})
				at += n
				continue
			}
		}
		if final {
			return at, &RecordError{
				Pos: Pos{Offset: int64(len(data))}, Start: int64(at), Rest: true,
				Err: errors.New("the file ends inside a document"),
			}
		}
		break
	}
	return at, nil
}

// plausibleBSON says whether a file may begin with a document.
func plausibleBSON(head []byte) bool {
	n := int32(binary.LittleEndian.Uint32(head))
	if n < 5 || n > maxBSON {
		return false
	}
	if n == 5 {
		return head[4] == 0
	}
	return (head[4] >= 1 && head[4] <= 0x13) || head[4] == 0xff || head[4] == 0x7f
}
