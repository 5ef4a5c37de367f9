package bsonx

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// A number's key. Let x be its magnitude; a negative number's bytes after the
// lead are those of x inverted, and the leads mirror.
//
//	NaN, zero          the lead alone
//	1 <= x < 2^63      whole part w and a bit "has a fraction", in the fewest
//	                   bytes k (1–8), which the lead tells. With a fraction: as many of its leading bits
//	                   as fit into 8-k bytes, less one bit "there is more".
//	x < 1, x >= 2^63   the largest double not above x (its bits without the sign), and a bit
//	                   "there is more": 8 bytes. Infinity is the double.
//	"there is more"    a decimal that no double holds: exponent and digits follow
//
// k bytes of a whole part leave a double at most 8(8-k)-1 bits of fraction, so a
// double is always exact without more, and equal numbers of all four types get equal keys.

func appendNumberKey(dst []byte, v Value) []byte {
	switch v.Type {
	case TypeInt32:
		return appendIntKey(dst, int64(v.Int32()))
	case TypeInt64:
		return appendIntKey(dst, v.Int64())
	case TypeDouble:
		return appendFloatKey(dst, v.Double())
	}
	return appendDecimalKey(dst, decimalOf(v))
}

func appendIntKey(dst []byte, n int64) []byte {
	if n == 0 {
		return append(dst, leadZero)
	}
	u, lead, flip := uint64(n), byte(leadPosSmall), uint64(0)
	step := byte(1)
	if n < 0 {
		u, lead, flip, step = -u, leadNegSmall, math.MaxUint64, 0xff
		if u == 1<<63 {
			return appendBitsKey(dst, math.Float64bits(1<<63), true, false)
		}
	}
	u <<= 1
	k := (bits.Len64(u) + 7) >> 3
	w := u<<(64-8*uint(k)) ^ flip
	dst = appendWord(dst, lead+step*byte(k), w)
	return dst[:len(dst)-8+k]
}

// appendWord appends nine bytes with one check of the capacity.
func appendWord(dst []byte, lead byte, w uint64) []byte {
	n := len(dst)
	if cap(dst)-n < 9 {
		dst = slices.Grow(dst, 9)
	}
	dst = dst[:n+9]
	dst[n] = lead
	binary.BigEndian.PutUint64(dst[n+1:], w)
	return dst
}

func appendFloatKey(dst []byte, f float64) []byte {
	x := math.Abs(f)
	switch {
	case f != f:
		return append(dst, leadNaN)
	case x == 0:
		return append(dst, leadZero)
	case x < 1 || x >= 1<<63:
		return appendBitsKey(dst, math.Float64bits(x), f < 0, false)
	}
	whole := uint64(x)
	frac := x - float64(whole)
	if frac == 0 {
		return appendIntKey(dst, int64(f))
	}
	u := whole<<1 | 1
	k := uint(bits.Len64(u)+7) >> 3 // at most 7: beyond 2^53 a double has no fraction
	scale := math.Float64frombits(uint64(1023+8*(8-k)-1) << 52)
	w := u<<(64-8*k) | uint64(frac*scale)<<1
	lead := leadPosSmall + byte(k)
	if f < 0 {
		w, lead = ^w, leadNegSmall-byte(k)
	}
	return appendWord(dst, lead, w)
}

// appendBitsKey appends a magnitude below 1 or from 2^63 by its double's bits.
func appendBitsKey(dst []byte, b uint64, neg, more bool) []byte {
	w := b << 1
	if more {
		w |= 1
	}
	lead := byte(leadPosSmall)
	if b >= 0x43e0_0000_0000_0000 { // 2^63
		lead = leadPosHuge
	}
	if neg {
		w, lead = ^w, leadNegSmall+leadPosSmall-lead
	}
	return appendWord(dst, lead, w)
}

func appendDecimalKey(dst []byte, d decimal) []byte {
	switch {
	case d.kind == decNaN:
		return append(dst, leadNaN)
	case d.kind == decInf:
		return appendBitsKey(dst, math.Float64bits(math.Inf(1)), d.neg, false)
	case d.isZero():
		return append(dst, leadZero)
	}
	if n, exact := d.truncInt(); exact {
		return appendIntKey(dst, n)
	}
	if d.hi == 0 && d.exp < 0 && d.exp >= -18 {
		if den := pow10u[-d.exp]; d.lo >= den {
			return appendFractionKey(dst, d, d.lo/den, func(fracBits uint) (uint64, bool) {
				hi, lo := bits.Mul64(d.lo%den, 1<<fracBits)
				q, r := bits.Div64(hi, lo, den)
				return q, r != 0
			})
		}
	}
	f, exact := d.truncFloat()
	if f < 1 || f >= 1<<63 {
		dst = appendBitsKey(dst, math.Float64bits(f), d.neg, !exact)
		if !exact {
			dst = appendDigitsKey(dst, d)
		}
		return dst
	}
	den := pow10(-d.exp) // a whole number in range was taken above
	whole, rest := new(big.Int).QuoRem(d.coeff(), den, new(big.Int))
	return appendFractionKey(dst, d, whole.Uint64(), func(fracBits uint) (uint64, bool) {
		q, r := rest.QuoRem(rest.Lsh(rest, fracBits), den, new(big.Int))
		return q.Uint64(), r.Sign() != 0
	})
}

// appendFractionKey appends a decimal from 1 to 2^63 with a fraction. frac gives
// the fraction's leading bits and whether others follow.
func appendFractionKey(dst []byte, d decimal, whole uint64, frac func(uint) (uint64, bool)) []byte {
	u := whole<<1 | 1
	k := uint(bits.Len64(u)+7) >> 3
	w, more := u<<(64-8*k), true
	if k < 8 {
		var f uint64
		if f, more = frac(8*(8-k) - 1); more {
			w |= 1
		}
		w |= f << 1
	}
	lead := leadPosSmall + byte(k)
	if d.neg {
		w, lead = ^w, leadNegSmall-byte(k)
	}
	dst = appendWord(dst, lead, w)
	if more {
		dst = appendDigitsKey(dst, d)
	}
	return dst
}

// appendDigitsKey orders decimals that share a double: two bytes of exponent,
// then pairs of digits, doubled, odd while more pairs follow.
func appendDigitsKey(dst []byte, d decimal) []byte {
	start := len(dst)
	var buf [40]byte
	digits := d.trim().digits(&buf)
	dst = binary.BigEndian.AppendUint16(dst, uint16(d.adjusted()+decExpBias))
	for i := 0; i < len(digits); i += 2 {
		pair := digits[i] * 10
		if i+1 < len(digits) {
			pair += digits[i+1]
		}
		pair <<= 1
		if i+2 < len(digits) {
			pair |= 1
		}
		dst = append(dst, pair)
	}
	if d.neg {
		invert(dst[start:])
	}
	return dst
}

// compareDecimals orders two numbers of which at least one is a decimal: by
// their coefficients when the exponents agree, otherwise by their keys, which hold exact values.
func compareDecimals(a, b Value) int {
	if a.Type == b.Type {
		x, y := decimalOf(a), decimalOf(b)
		if x.exp == y.exp && x.kind == decFinite && y.kind == decFinite {
			return x.compareSameExp(y)
		}
	}
	var ka, kb [48]byte
	return bytes.Compare(appendNumberKey(ka[:0], a), appendNumberKey(kb[:0], b))
}

var pow10u = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()
