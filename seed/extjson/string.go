package extjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns where the run of bytes that stand for themselves ends: before
// a quote, a backslash, a control character or a byte beyond ASCII.
func plain(src []byte, i int) int {
	for ; i+8 <= len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		q := w ^ ones*'"'
		b := w ^ ones*'\\'
		// A byte's high bit comes out where it is a quote, a backslash, below
		// 0x20, or has it set. A borrow can mark a byte too many, above the
		// first marked one only.
		special := ((q - ones) | (b - ones) | (w - ones*0x20) | w) & highs
		if special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for i < len(src) {
		if c := src[i]; c == '"' || c == '\\' || c < 0x20 || c >= 0x80 {
			break
		}
		i++
	}
	return i
}

// string reads a string value at its quote and appends length, bytes, NUL.
func (p *Parser) string() bool {
	mark := len(p.out)
	p.out = append(p.out, 0, 0, 0, 0)
	var ok bool
	if p.out, ok = p.chars(p.out); !ok {
		return false
	}
	p.out = append(p.out, 0)
	binary.LittleEndian.PutUint32(p.out[mark:], uint32(len(p.out)-mark-4))
	return true
}

// cstring reads a key at its quote and appends bytes, NUL.
func (p *Parser) cstring() bool {
	mark, at := len(p.out), p.pos
	var ok bool
	if p.out, ok = p.chars(p.out); !ok {
		return false
	}
	if bytes.IndexByte(p.out[mark:], 0) >= 0 {
		p.pos = at
		return p.fail("a NUL in a key")
	}
	p.out = append(p.out, 0)
	return true
}

// chars reads a string at its quote and appends its bytes to dst.
func (p *Parser) chars(dst []byte) ([]byte, bool) {
	src := p.src
	i := p.pos + 1
	for from := i; ; from = i {
		i = plain(src, i)
		for i < len(src) && src[i] >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && n == 1 {
				p.pos = i
				return dst, p.fail("invalid UTF-8 (byte 0x%02x)", src[i])
			}
			if i += n; i < len(src) && src[i] < utf8.RuneSelf {
				i = plain(src, i)
			}
		}
		dst = append(dst, src[from:i]...)
		if i >= len(src) {
			return dst, p.fail("a string without an end")
		}
		switch src[i] {
		case '"':
			p.pos = i + 1
			return dst, true
		case '\\':
			p.pos = i
			var ok bool
			if dst, ok = p.escape(dst); !ok {
				return dst, false
			}
			i = p.pos
		default:
			p.pos = i
			return dst, p.fail("control character 0x%02x in a string: it must be escaped", src[i])
		}
	}
}

// escape reads an escape at its backslash.
func (p *Parser) escape(dst []byte) ([]byte, bool) {
	if p.pos+1 >= len(p.src) {
		return dst, p.fail("a string without an end")
	}
	c := p.src[p.pos+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		r, ok := p.hex4(p.pos + 2)
		if !ok {
			return dst, p.fail("\\u without four hexadecimal digits")
		}
		size := 6
		if utf16.IsSurrogate(r) {
			low, ok := rune(0), false
			if p.pos+7 < len(p.src) && p.src[p.pos+6] == '\\' && p.src[p.pos+7] == 'u' {
				low, ok = p.hex4(p.pos + 8)
			}
			if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
				return dst, p.fail("half of a surrogate pair")
			}
			size = 12
		}
		p.pos += size
		return utf8.AppendRune(dst, r), true
	default:
		return dst, p.fail("unknown escape \\%c", c)
	}
	p.pos += 2
	return append(dst, c), true
}

func (p *Parser) hex4(i int) (rune, bool) {
	if i+4 > len(p.src) {
		return 0, false
	}
	var r rune
	for _, c := range p.src[i : i+4] {
		d := unhex(c)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// unhex is a hexadecimal digit's value, or -1.
func unhex(c byte) int {
	switch {
	case c-'0' <= 9:
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
