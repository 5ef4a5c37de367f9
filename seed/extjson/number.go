package extjson

import (
	"math"
	"strconv"
	"unsafe"
)

// powers of ten that a double holds exactly.
var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// number reads a JSON number. Numbers of up to 18 digits are worked out on the
// way: as integers, and with a fraction as a quotient of two exact doubles, which
// is rounded once and so correctly. The rest goes to strconv.
func (p *Parser) number(at int) bool {
	src, start := p.src, p.pos
	i := start
	negative := src[i] == '-'
	if negative {
		i++
	}
	digits := i
	var m uint64
	for i < len(src) && src[i]-'0' <= 9 {
		m = m*10 + uint64(src[i]-'0')
		i++
	}
	n := i - digits
	if n == 0 || (n > 1 && src[digits] == '0') {
		p.pos = i
		if n > 0 {
			p.pos = digits
			return p.fail("a number with a leading zero")
		}
		return p.unexpected("a digit")
	}
	whole, fraction := true, 0
	if i < len(src) && src[i] == '.' {
		whole = false
		i++
		for from := i; ; i++ {
			if i == len(src) || src[i]-'0' > 9 {
				if fraction = i - from; fraction == 0 {
					p.pos = i
					return p.unexpected("a digit")
				}
				break
			}
			m = m*10 + uint64(src[i]-'0')
		}
	}
	exponent := false
	if i < len(src) && src[i]|0x20 == 'e' {
		whole, exponent = false, true
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		from := i
		for i < len(src) && src[i]-'0' <= 9 {
			i++
		}
		if i == from {
			p.pos = i
			return p.unexpected("a digit")
		}
	}
	p.pos = i
	text := src[start:i]
	switch {
	case whole && n <= 18:
		v := int64(m)
		if negative {
			v = -v
		}
		p.putInt(at, v)
		return true
	case whole:
		if v, err := strconv.ParseInt(str(text), 10, 64); err == nil {
			p.putInt(at, v)
			return true
		}
	case !exponent && n+fraction <= 18 && m <= 1<<53 && fraction < len(powers):
		v := float64(m) / powers[fraction]
		if negative {
			v = -v
		}
		p.out[at] = typeDouble
		p.putDouble(v)
		return true
	}
	v, err := strconv.ParseFloat(str(text), 64)
	if err != nil { // only its range can be wrong
		p.pos = start
		return p.fail("a number beyond the range of a double")
	}
	p.out[at] = typeDouble
	p.putDouble(v)
	return true
}

func (p *Parser) putInt(at int, v int64) {
	if v >= math.MinInt32 && v <= math.MaxInt32 {
		p.out[at] = typeInt32
		p.putInt32(int32(v))
		return
	}
	p.out[at] = typeInt64
	p.putInt64(v)
}

// str looks at bytes as a string, for functions that keep none.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
