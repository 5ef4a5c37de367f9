package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Compressor is the id of a compressor in OP_COMPRESSED.
type Compressor byte

// The compressors of the protocol.
const (
	Noop   Compressor = 0
	Snappy Compressor = 1
	Zlib   Compressor = 2
	Zstd   Compressor = 3
)

// String is the compressor's name in hello's "compression" array.
func (c Compressor) String() string {
	switch c {
	case Noop:
		return "noop"
	case Snappy:
		return "snappy"
	case Zlib:
		return "zlib"
	case Zstd:
		return "zstd"
	}
	return fmt.Sprintf("compressor %d", byte(c))
}

// CompressorByName gives the id of "snappy", "zlib" or "zstd".
func CompressorByName(name string) (Compressor, bool) {
	for _, c := range []Compressor{Snappy, Zlib, Zstd} {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

// Negotiate picks, in the client's order, the compressors of a handshake's
// "compression" array that this package has: the array of the reply.
func Negotiate(client []string) []string {
	var both []string
	for _, name := range client {
		if _, ok := CompressorByName(name); ok && !slices.Contains(both, name) {
			both = append(both, name)
		}
	}
	return both
}

// codec holds the (de)compressors of one direction of a connection, made at first use.
type codec struct {
	zlibReader io.ReadCloser
	zlibWriter *zlib.Writer
	zstdReader *zstd.Decoder
	zstdWriter *zstd.Encoder
}

func (c *codec) close() {
	if c.zstdReader != nil {
		c.zstdReader.Close()
	}
	*c = codec{}
}

var errSize = errors.New("content does not have the size it says")

// decompress appends exactly size bytes to dst, which has that capacity and no more.
func (c *codec) decompress(dst, src []byte, by Compressor, size int) ([]byte, error) {
	start := len(dst)
	var err error
	switch by {
	case Noop:
		if len(src) != size {
			return nil, errSize
		}
		return append(dst, src...), nil
	case Snappy:
		n, err := snappy.DecodedLen(src)
		if err != nil {
			return nil, err
		}
		if n != size {
			return nil, errSize
		}
		dst = dst[:start+size]
		if _, err = snappy.Decode(dst[start:], src); err != nil {
			return nil, err
		}
	case Zlib:
		if c.zlibReader == nil {
			c.zlibReader, err = zlib.NewReader(bytes.NewReader(src))
		} else {
			err = c.zlibReader.(zlib.Resetter).Reset(bytes.NewReader(src), nil)
		}
		if err != nil {
			return nil, err
		}
		dst = dst[:start+size]
		if _, err = io.ReadFull(c.zlibReader, dst[start:]); err != nil {
			return nil, fmt.Errorf("%w: %w", errSize, err)
		}
		// The end must follow; reading it also checks zlib's own checksum.
		var one [1]byte
		if _, err := io.ReadFull(c.zlibReader, one[:]); !errors.Is(err, io.EOF) {
			return nil, errSize
		}
	case Zstd:
		if c.zstdReader == nil {
			if c.zstdReader, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderMaxMemory(MaxMessageSize), zstd.WithDecodeAllCapLimit(true)); err != nil {
				return nil, err
			}
		}
		if dst, err = c.zstdReader.DecodeAll(src, dst); err != nil {
			return nil, err
		}
		if len(dst) != start+size {
			return nil, errSize
		}
	default:
		return nil, errors.New("unknown")
	}
	return dst, nil
}

// compress appends src, compressed, to dst. They must not overlap.
func (c *codec) compress(dst, src []byte, by Compressor) ([]byte, error) {
	switch by {
	case Noop:
		return append(dst, src...), nil
	case Snappy:
		start := len(dst)
		dst = slices.Grow(dst, snappy.MaxEncodedLen(len(src)))
		out := snappy.Encode(dst[start:cap(dst)], src)
		return dst[:start+len(out)], nil
	case Zlib:
		out := bytes.NewBuffer(dst)
		if c.zlibWriter == nil {
			c.zlibWriter = zlib.NewWriter(out)
		} else {
			c.zlibWriter.Reset(out)
		}
		if _, err := c.zlibWriter.Write(src); err != nil {
			return nil, err
		}
		if err := c.zlibWriter.Close(); err != nil {
			return nil, err
		}
		return out.Bytes(), nil
	case Zstd:
		if c.zstdWriter == nil {
			var err error
			if c.zstdWriter, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
				return nil, err
			}
		}
		return c.zstdWriter.EncodeAll(src, dst), nil
	}
	return nil, fmt.Errorf("%v is unknown", by)
}
