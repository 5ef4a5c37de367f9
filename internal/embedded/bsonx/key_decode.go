package bsonx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// DecodeKey reads one value from key (inverted if desc) and its type bits, giving back the original byte for byte.
// It returns the rest of both. A nil or exhausted tb means all common types.
// The value is in fresh memory; AppendDecodedElem avoids that.
//
// Bytes that AppendKey did not write give an error or some value, never a panic.
func DecodeKey(key, tb []byte, desc bool) (v Value, restKey, restTB []byte, err error) {
	var data []byte
	v.Type, data, restKey, restTB, err = decodeField(nil, key, tb, desc)
	v.Data = data
	return v, restKey, restTB, err
}

// AppendDecodedElem decodes one value of a key straight into a document under construction: type, name, NUL,
// data. A missing value appends nothing. On an error dst is returned as it was.
func AppendDecodedElem(dst []byte, name string, key, tb []byte, desc bool) (_, restKey, restTB []byte, err error) {
	start := len(dst)
	dst = append(dst, 0)
	dst = append(append(dst, name...), 0)
	t, dst, restKey, restTB, err := decodeField(dst, key, tb, desc)
	if err != nil || t == Missing {
		return dst[:start], restKey, restTB, err
	}
	dst[start] = byte(t)
	return dst, restKey, restTB, nil
}

// AppendDecodedData is AppendDecodedElem without type and name: it appends the
// value's data to dst and returns the type.
func AppendDecodedData(dst, key, tb []byte, desc bool) (t Type, _, restKey, restTB []byte, err error) {
	return decodeField(dst, key, tb, desc)
}

// decodeField decodes a value of a key of either direction.
func decodeField(dst, key, tb []byte, desc bool) (t Type, _, restKey, restTB []byte, err error) {
	if !desc {
		return decodeValue(dst, key, tb, 0, 0)
	}
	if len(key) > 0 {
		if lead := ^key[0]; lead >= leadNull && lead <= leadPosHuge {
			return decodeValue(dst, key, tb, 0xff, 0)
		}
	}
	// The long encodings are read from an inverted copy.
	n, err := SkipKey(key, true)
	if err != nil {
		return 0, dst, key, tb, err
	}
	var buf [64]byte
	asc := append(buf[:0], key[:n]...)
	invert(asc)
	t, dst, _, restTB, err = decodeValue(dst, asc, tb, 0, 0)
	return t, dst, key[n:], restTB, err
}

// decodeValue appends the data of the value that key begins with. flip is FF
// for inverted keys, of which it reads numbers and null only.
func decodeValue(dst, key, tb []byte, flip byte, depth int) (t Type, _, restKey, restTB []byte, err error) {
	if len(key) == 0 {
		return 0, dst, key, tb, errKeyEnd
	}
	lead := key[0] ^ flip
	if lead >= leadNaN && lead <= leadPosHuge {
		return decodeNumber(dst, key, tb, flip)
	}
	rest := key[1:]
	switch lead {
	case leadString, leadCode:
		t = TypeString
		if lead == leadCode {
			t = TypeJavaScript
		} else {
			var tag byte
			if tag, tb = nextTag(tb); tag == tagSymbol {
				t = TypeSymbol
			}
		}
		dst, rest, err = decodeText(dst, rest)
		return t, dst, rest, tb, err
	case leadObjectID:
		if len(rest) < 12 {
			return 0, dst, key, tb, errKeyEnd
		}
		return TypeObjectID, append(dst, rest[:12]...), rest[12:], tb, nil
	case leadNull:
		tag, tb := nextTag(tb)
		if tag == tagMissing {
			return Missing, dst, rest, tb, nil
		}
		return TypeNull, dst, rest, tb, nil
	case leadUndefined:
		return TypeUndefined, dst, rest, tb, nil
	case leadMinKey:
		return TypeMinKey, dst, rest, tb, nil
	case leadMaxKey:
		return TypeMaxKey, dst, rest, tb, nil
	case leadFalse, leadTrue:
		return TypeBoolean, append(dst, lead-leadFalse), rest, tb, nil
	case leadDate, leadTimestamp:
		if len(rest) < 8 {
			return 0, dst, key, tb, errKeyEnd
		}
		n := binary.BigEndian.Uint64(rest)
		t = TypeTimestamp
		if lead == leadDate {
			t, n = TypeDateTime, n^1<<63
		}
		return t, binary.LittleEndian.AppendUint64(dst, n), rest[8:], tb, nil
	case leadBinary, leadRegex, leadDBPointer:
		n, err := skipKey(key, 0, depth)
		if err != nil {
			return 0, dst, key, tb, err
		}
		t, dst = decodeBytes(dst, lead, key[1:n])
		return t, dst, key[n:], tb, nil
	case leadDocument:
		dst, rest, tb, err = decodeDoc(dst, rest, tb, depth)
		return TypeEmbeddedDocument, dst, rest, tb, err
	case leadArray:
		dst, rest, tb, err = decodeArray(dst, rest, tb, depth)
		return TypeArray, dst, rest, tb, err
	case leadCodeWithScope:
		start := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		if dst, rest, err = decodeText(dst, rest); err != nil {
			return 0, dst, key, tb, err
		}
		if dst, rest, tb, err = decodeDoc(dst, rest, tb, depth); err != nil {
			return 0, dst, key, tb, err
		}
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
		return TypeCodeWithScope, dst, rest, tb, nil
	}
	return 0, dst, key, tb, errKeyLead(lead)
}

// decodeBytes appends the data of an encoding without its lead, whose length is known to be right.
func decodeBytes(dst []byte, lead byte, b []byte) (Type, []byte) {
	switch lead {
	case leadBinary:
		if b[0] < 255 {
			b = b[1:]
		} else {
			b = b[5:]
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b)-1))
		return TypeBinary, append(dst, b...)
	case leadDBPointer:
		n := len(b) - 12
		dst = appendString(dst, b[4:n])
		return TypeDBPointer, append(dst, b[n:]...)
	}
	return TypeRegex, append(dst, b...)
}

// decodeText appends a string's data: length, bytes, NUL.
func decodeText(dst, key []byte) (_, rest []byte, err error) {
	end := cstringLen(key)
	if end == len(key) {
		return dst, key, errKeyEnd
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	s := key[:end]
	if low := indexLow(s); low < 0 {
		dst = append(dst, s...)
	} else {
		dst = append(dst, s[:low]...)
		for i := low; i < len(s); i++ {
			c := s[i]
			if c == 1 {
				i++
				if i == len(s) || s[i] != 1 && s[i] != 2 {
					return dst, key, errors.New("bsonx: bad escape in the text of a key")
				}
				c = s[i] - 1
			}
			dst = append(dst, c)
		}
	}
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, key[end+1:], nil
}

func decodeDoc(dst, key, tb []byte, depth int) (_, restKey, restTB []byte, err error) {
	if depth >= maxKeyDepth {
		return dst, key, tb, fmt.Errorf("bsonx: key nested deeper than %d", maxKeyDepth)
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for {
		if len(key) == 0 {
			return dst, key, tb, errKeyEnd
		}
		if key[0] == 0 {
			return EndDoc(dst, start), key[1:], tb, nil
		}
		end := cstringLen(key[1:]) + 2
		if end > len(key) {
			return dst, key, tb, errKeyEnd
		}
		elem := len(dst)
		dst = append(append(dst, 0), key[1:end]...)
		var t Type
		if t, dst, key, tb, err = decodeValue(dst, key[end:], tb, 0, depth+1); err != nil {
			return dst, key, tb, err
		}
		if t == Missing {
			return dst, key, tb, errors.New("bsonx: key of a document with a missing value")
		}
		dst[elem] = byte(t)
	}
}

func decodeArray(dst, key, tb []byte, depth int) (_, restKey, restTB []byte, err error) {
	if depth >= maxKeyDepth {
		return dst, key, tb, fmt.Errorf("bsonx: key nested deeper than %d", maxKeyDepth)
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	tag, tb := nextTag(tb)
	for i := 0; ; i++ {
		if len(key) == 0 {
			return dst, key, tb, errKeyEnd
		}
		if key[0] == 0 {
			return EndDoc(dst, start), key[1:], tb, nil
		}
		elem := len(dst)
		dst = append(dst, 0)
		if tag == tagNames {
			n := cstringLen(tb)
			dst = append(dst, tb[:n]...)
			tb = tb[min(n+1, len(tb)):]
		} else {
			dst = AppendIndex(dst, i)
		}
		dst = append(dst, 0)
		var t Type
		if t, dst, key, tb, err = decodeValue(dst, key, tb, 0, depth+1); err != nil {
			return dst, key, tb, err
		}
		if t == Missing {
			return dst, key, tb, errors.New("bsonx: key of an array with a missing value")
		}
		dst[elem] = byte(t)
	}
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
	lead := key[0] ^ flip
	if lead == leadNaN || lead == leadZero {
		n.size = 1
		return n, true
	}
	k := int(lead) - leadPosSmall
	if lead < leadZero {
		n.neg, k, flip = true, leadNegSmall-int(lead), ^flip
	}
	if k > 0 && k <= 8 && len(key) > k && (key[k]^flip)&1 == 0 {
		// A whole number, by far the most frequent. Its bytes are loaded at once where the key is long enough.
		var w uint64
		if len(key) >= 9 {
			w = (binary.BigEndian.Uint64(key[1:]) ^ flip64(flip)) >> (64 - 8*uint(k))
		} else {
			for _, c := range key[1 : 1+k] {
				w = w<<8 | uint64(c^flip)
			}
		}
		n.size, n.whole = 1+k, w>>1
		return n, true
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
