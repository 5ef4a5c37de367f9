package bsonx

import (
	"encoding/binary"
	"errors"
	"math"
)

// wholeKey reads a whole number between -2^63 and 2^63 that key begins with.
// size is 0 when key begins with something else or ends too early.
func wholeKey(key []byte, flip byte) (n int64, size int) {
	if len(key) == 0 {
		return 0, 0
	}
	lead := key[0] ^ flip
	k := uint(lead) - leadPosSmall
	sign := uint64(0)
	if lead < leadZero {
		k, sign = leadNegSmall-uint(lead), math.MaxUint64
	}
	if k-1 >= 8 {
		if lead == leadZero {
			return 0, 1
		}
		return 0, 0
	}
	if uint(len(key)) <= k {
		return 0, 0
	}
	// The k bytes, in one or two loads that may overlap.
	var w uint64
	switch {
	case k == 1:
		w = uint64(key[1])
	case k < 4:
		w = uint64(binary.BigEndian.Uint16(key[1:]))<<(8*k-16) | uint64(binary.BigEndian.Uint16(key[k-1:]))
	default:
		w = uint64(binary.BigEndian.Uint32(key[1:]))<<(8*k-32) | uint64(binary.BigEndian.Uint32(key[k-3:]))
	}
	w ^= (sign ^ flip64(flip)) >> (64 - 8*k)
	if w&1 != 0 {
		return 0, 0 // it has a fraction
	}
	// Negate where sign is all ones.
	return int64((w>>1 ^ sign) - sign), 1 + int(k)
}

// plainNumber decodes what nearly all keys of numbers are: an int32, int64 or
// double that takes one byte of type bits at most. data is little endian; size
// is 0 when the key holds something else, or something wrong.
func plainNumber(key, tb []byte, flip byte) (t Type, data uint64, size int) {
	tag, _ := nextTag(tb)
	if tag > tagDouble {
		return 0, 0, 0
	}
	n, size := wholeKey(key, flip)
	switch {
	case size == 0 && tag == tagDouble:
		f, size := floatKey(key, flip)
		return TypeDouble, math.Float64bits(f), size
	case tag == tagDouble:
		return TypeDouble, math.Float64bits(float64(n)), size
	case tag == tagInt64:
		return TypeInt64, uint64(n), size
	case int64(int32(n)) == n:
		return TypeInt32, uint64(n), size
	}
	return 0, 0, 0
}

// floatKey reads a double that is no whole number below 2^63, NaN or a decimal's
// beginning. size is 0 when key begins with something else or ends too early.
func floatKey(key []byte, flip byte) (f float64, size int) {
	if len(key) < 9 {
		return 0, 0
	}
	lead, w := key[0]^flip, binary.BigEndian.Uint64(key[1:])^flip64(flip)
	sign := uint64(0)
	if lead < leadZero {
		lead, w, sign = leadNegSmall+leadPosSmall-lead, ^w, 1<<63
	}
	k := uint(lead) - leadPosSmall
	switch {
	case k > 9 || w&1 != 0:
		return 0, 0
	case k == 0 || k == 9:
		return math.Float64frombits(w>>1 | sign), 9
	}
	rest := 64 - 8*k // bits of the fraction and the bit "there is more"
	whole, frac := w>>rest>>1, w&(1<<rest-1)>>1
	f = float64(whole) + float64(frac)*math.Float64frombits(uint64(1023-(rest-1))<<52)
	return math.Float64frombits(math.Float64bits(f) | sign), 9
}

// number is a number's key taken apart.
type number struct {
	size  int    // bytes of the key
	neg   bool   // below zero
	huge  bool   // at least 2^63
	whole uint64 // whole part of 1 to 2^63
	frac  uint64 // its fraction, of fracBits bits
	bits  uint64 // double below 1 or from 2^63
	// fracBits is not zero when there is a fraction.
	fracBits uint8
}

// parseNumber takes apart the number that key begins with, whose lead is known
// to be a number's. ok is false when the key ends too early.
func parseNumber(key []byte, flip byte) (n number, ok bool) {
	if i, size := wholeKey(key, flip); size > 0 {
		n.size, n.whole, n.neg = size, magnitude(i), i < 0
		return n, true
	}
	lead := key[0] ^ flip
	if lead == leadNaN {
		n.size = 1
		return n, true
	}
	k := int(lead) - leadPosSmall
	if lead < leadZero {
		n.neg, k, flip = true, leadNegSmall-int(lead), ^flip
	}
	if len(key) < 9 {
		return n, false
	}
	w := binary.BigEndian.Uint64(key[1:]) ^ flip64(flip)
	n.size = 9
	if k == 0 || k > 8 {
		n.bits, n.huge = w>>1, k > 8
	} else {
		rest := 64 - 8*uint(k)
		n.whole = w >> rest >> 1
		n.fracBits = uint8(max(rest, 1) - 1)
		n.frac = w & (1<<rest - 1) >> 1
		if rest == 0 {
			n.fracBits = 0
		}
	}
	if w&1 == 0 {
		return n, true
	}
	// Digits follow: two bytes of exponent, then pairs up to an even one.
	for i := 11; i < len(key); i++ {
		if (key[i]^flip)&1 == 0 {
			n.size = i + 1
			return n, true
		}
	}
	return n, false
}

// float is the number as a double: exact for what was one.
func (n *number) float() float64 {
	f := float64(n.whole)
	switch {
	case n.whole == 0:
		f = math.Float64frombits(n.bits)
	case n.fracBits > 0:
		f += float64(n.frac) / float64(uint64(1)<<n.fracBits)
	}
	if n.neg {
		return -f
	}
	return f
}

// int is the number as an int64, if it is one.
func (n *number) int() (i int64, ok bool) {
	i = int64(n.whole)
	if n.neg {
		i = -i
	}
	if n.huge && n.neg && n.bits == math.Float64bits(1<<63) {
		return math.MinInt64, true
	}
	return i, n.fracBits == 0 && n.bits == 0
}

var errKeyNumber = errors.New("bsonx: the type bits do not fit the number in the key")

func decodeNumber(dst, key, tb []byte, flip byte) (t Type, _, restKey, restTB []byte, err error) {
	n, ok := parseNumber(key, flip)
	if !ok {
		return 0, dst, key, tb, errKeyEnd
	}
	lead := key[0] ^ flip
	key = key[n.size:]
	tag, tb := nextTag(tb)
	switch tag {
	case tagInt32:
		i, ok := n.int()
		if !ok || int64(int32(i)) != i || lead == leadNaN {
			return 0, dst, key, tb, errKeyNumber
		}
		return TypeInt32, binary.LittleEndian.AppendUint32(dst, uint32(i)), key, tb, nil
	case tagInt64:
		i, ok := n.int()
		if !ok || lead == leadNaN {
			return 0, dst, key, tb, errKeyNumber
		}
		return TypeInt64, binary.LittleEndian.AppendUint64(dst, uint64(i)), key, tb, nil
	case tagDouble:
		b := uint64(plainNaN)
		if lead != leadNaN {
			b = math.Float64bits(n.float())
		}
		return TypeDouble, binary.LittleEndian.AppendUint64(dst, b), key, tb, nil
	case tagNegZero:
		return TypeDouble, binary.LittleEndian.AppendUint64(dst, negZero), key, tb, nil
	case tagNaN:
		var raw [8]byte
		tb = takeBits(raw[:], tb)
		return TypeDouble, append(dst, raw[:]...), key, tb, nil
	}
	if tag < tagDecimal || tag > tagDecimal+14 {
		return 0, dst, key, tb, errKeyNumber
	}
	var raw [16]byte
	tb = takeBits(raw[:tag-tagDecimal], tb)
	tb = takeBits(raw[14:], tb)
	return TypeDecimal128, append(dst, raw[:]...), key, tb, nil
}
