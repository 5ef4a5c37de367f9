package extjson

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// Limits of a document.
const (
	MaxDepth = 180      // levels, the document itself included; a server stores no deeper ones
	MaxSize  = 16 << 20 // bytes of BSON
)

// SyntaxError says what is wrong at byte Offset (from 0) of the text.
type SyntaxError struct {
	Offset int
	Reason string
}

func (e *SyntaxError) Error() string { return e.Reason }

// Element types that are written here.
const (
	typeDouble   = 0x01
	typeString   = 0x02
	typeDocument = 0x03
	typeArray    = 0x04
	typeBinary   = 0x05
	typeUndef    = 0x06
	typeObjectID = 0x07
	typeBool     = 0x08
	typeDate     = 0x09
	typeNull     = 0x0a
	typeRegex    = 0x0b
	typePointer  = 0x0c
	typeCode     = 0x0d
	typeSymbol   = 0x0e
	typeScope    = 0x0f
	typeInt32    = 0x10
	typeStamp    = 0x11
	typeInt64    = 0x12
	typeDecimal  = 0x13
	typeMinKey   = 0xff
	typeMaxKey   = 0x7f
)

// Parser converts documents; one a goroutine. The zero value is ready.
type Parser struct {
	src   []byte
	pos   int
	out   []byte
	depth int
	key   []byte // an unescaped key that might be a wrapper's
	text  []byte // an unescaped string inside a wrapper
	err   *SyntaxError
}

// Append appends the document that src holds and returns the longer slice.
// White space around it and a byte order mark before it are passed over. The
// error is a *SyntaxError, and dst is then returned as it was.
func (p *Parser) Append(dst, src []byte) ([]byte, error) {
	p.src, p.pos, p.out, p.depth, p.err = src, 0, dst, 0, nil
	if len(src) >= 3 && src[0] == 0xef && src[1] == 0xbb && src[2] == 0xbf {
		p.pos = 3
	}
	switch c := p.next(); {
	case c == '{':
		p.pos++
		p.document()
	case c == 0 && p.pos >= len(src):
		p.fail("no document")
	default:
		p.fail("a document must begin with {")
	}
	if p.err == nil {
		if p.next(); p.pos < len(src) {
			p.fail("something follows the document")
		} else if n := len(p.out) - len(dst); n > MaxSize {
			p.pos = 0
			p.fail("the document has %d bytes, %d are allowed", n, MaxSize)
		}
	}
	out := p.out
	p.src, p.out = nil, nil
	if p.err != nil {
		return dst, p.err
	}
	return out, nil
}

// fail keeps the first error. All parsing functions give up after one.
func (p *Parser) fail(format string, args ...any) bool {
	if p.err == nil {
		p.err = &SyntaxError{Offset: p.pos, Reason: fmt.Sprintf(format, args...)}
	}
	return false
}

// next passes over white space and returns the byte there, 0 at the end.
func (p *Parser) next() byte {
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
			return c
		}
		p.pos++
	}
	return 0
}

func (p *Parser) expect(c byte) bool {
	if p.next() != c || p.pos >= len(p.src) {
		return p.unexpected(string(rune(c)))
	}
	p.pos++
	return true
}

func (p *Parser) unexpected(wanted string) bool {
	if p.pos >= len(p.src) {
		return p.fail("the text ends where %s should be", wanted)
	}
	r, _ := utf8.DecodeRune(p.src[p.pos:])
	return p.fail("%q where %s should be", r, wanted)
}

func (p *Parser) enter() bool {
	if p.depth++; p.depth > MaxDepth {
		return p.fail("more than %d levels", MaxDepth)
	}
	return true
}

// document reads the members of an object whose brace was read.
func (p *Parser) document() bool {
	if !p.enter() {
		return false
	}
	start := len(p.out)
	p.out = append(p.out, 0, 0, 0, 0)
	if p.next() == '}' {
		p.pos++
	} else {
		for {
			at := len(p.out)
			p.out = append(p.out, 0)
			if p.next() != '"' {
				return p.unexpected("a key")
			}
			if !p.cstring() || !p.expect(':') || !p.value(at) {
				return false
			}
			c := p.next()
			if c == ',' {
				p.pos++
				continue
			}
			if c == '}' {
				p.pos++
				break
			}
			return p.unexpected(", or }")
		}
	}
	p.end(start)
	return true
}

// end closes the document or array that begins at start.
func (p *Parser) end(start int) {
	p.out = append(p.out, 0)
	binary.LittleEndian.PutUint32(p.out[start:], uint32(len(p.out)-start))
	p.depth--
}

func (p *Parser) array() bool {
	if !p.enter() {
		return false
	}
	start := len(p.out)
	p.out = append(p.out, 0, 0, 0, 0)
	if p.next() == ']' {
		p.pos++
		p.end(start)
		return true
	}
	for i := int64(0); ; i++ {
		at := len(p.out)
		p.out = append(p.out, 0)
		p.out = append(strconv.AppendInt(p.out, i, 10), 0)
		if !p.value(at) {
			return false
		}
		switch p.next() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			p.end(start)
			return true
		default:
			return p.unexpected(", or ]")
		}
	}
}

// value reads a value and puts its type at out[at].
func (p *Parser) value(at int) bool {
	c := p.next()
	switch c {
	case '"':
		p.out[at] = typeString
		return p.string()
	case '{':
		p.pos++
		if p.next() == '"' && p.pos+1 < len(p.src) && (p.src[p.pos+1] == '$' || p.src[p.pos+1] == '\\') {
			if done, ok := p.wrapper(at); done || !ok {
				return ok
			}
		}
		p.out[at] = typeDocument
		return p.document()
	case '[':
		p.pos++
		p.out[at] = typeArray
		return p.array()
	case 't':
		p.out[at] = typeBool
		p.out = append(p.out, 1)
		return p.literal("true")
	case 'f':
		p.out[at] = typeBool
		p.out = append(p.out, 0)
		return p.literal("false")
	case 'n':
		p.out[at] = typeNull
		return p.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number(at)
	}
	return p.unexpected("a value")
}

func (p *Parser) literal(s string) bool {
	if len(p.src)-p.pos < len(s) || string(p.src[p.pos:p.pos+len(s)]) != s {
		return p.unexpected("a value")
	}
	p.pos += len(s)
	return true
}

func (p *Parser) putInt32(v int32) { p.out = binary.LittleEndian.AppendUint32(p.out, uint32(v)) }
func (p *Parser) putInt64(v int64) { p.out = binary.LittleEndian.AppendUint64(p.out, uint64(v)) }
func (p *Parser) putDouble(v float64) {
	p.out = binary.LittleEndian.AppendUint64(p.out, math.Float64bits(v))
}
