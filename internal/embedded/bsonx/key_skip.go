package bsonx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// maxKeyDepth bounds the nesting of a key that is read, above what Validate lets in.
const maxKeyDepth = 512

var errKeyEnd = errors.New("bsonx: key ends inside a value")

func errKeyLead(lead byte) error {
	return fmt.Errorf("bsonx: no value begins with the key byte %#x", lead)
}

// SkipKey returns the length of the first encoding in key.
func SkipKey(key []byte, desc bool) (int, error) {
	flip := flipOf(desc)
	if _, size := wholeKey(key, flip); size > 0 {
		return size, nil
	}
	return skipKey(key, flip, 0)
}

// flipOf is the mask of the bytes of a key of that direction.
func flipOf(desc bool) byte {
	if desc {
		return 0xff
	}
	return 0
}

// skipKey measures one encoding. flip is FF for inverted keys.
func skipKey(key []byte, flip byte, depth int) (int, error) {
	if len(key) == 0 {
		return 0, errKeyEnd
	}
	n := 0
	switch lead := key[0] ^ flip; lead {
	case leadMinKey, leadUndefined, leadNull, leadNaN, leadZero, leadFalse, leadTrue, leadMaxKey:
		return 1, nil
	case leadDate, leadTimestamp:
		n = 9
	case leadObjectID:
		n = 13
	case leadString, leadCode:
		n = 1 + endOfCString(key[1:], flip)
	case leadRegex:
		n = 1 + endOfCString(key[1:], flip)
		n += endOfCString(key[min(n, len(key)):], flip)
	case leadDBPointer:
		if len(key) < 5 {
			return 0, errKeyEnd
		}
		n = 5 + 12 + int(binary.BigEndian.Uint32(key[1:])^flip32(flip))
	case leadBinary:
		switch {
		case len(key) < 2:
			return 0, errKeyEnd
		case key[1]^flip < 255:
			n = 3 + int(key[1]^flip)
		case len(key) < 6:
			return 0, errKeyEnd
		default:
			n = 7 + int(binary.BigEndian.Uint32(key[2:])^flip32(flip))
		}
	case leadArray:
		return skipElems(key, 1, flip, depth, false)
	case leadDocument:
		return skipElems(key, 1, flip, depth, true)
	case leadCodeWithScope:
		n = 1 + endOfCString(key[1:], flip)
		return skipElems(key, n, flip, depth, true)
	default:
		if lead < leadNaN || lead > leadPosHuge {
			return 0, errKeyLead(lead)
		}
		return skipNumber(key, flip)
	}
	if n > len(key) {
		return 0, errKeyEnd
	}
	return n, nil
}

// endOfCString is the offset behind the first 00, beyond b's end when there is none.
func endOfCString(b []byte, flip byte) int {
	if i := bytes.IndexByte(b, flip); i >= 0 {
		return i + 1
	}
	return len(b) + 1
}

func flip32(flip byte) uint32 { return -uint32(flip & 1) }
func flip64(flip byte) uint64 { return -uint64(flip & 1) }

// skipElems measures a document's or array's elements from n on.
func skipElems(key []byte, n int, flip byte, depth int, names bool) (int, error) {
	if depth >= maxKeyDepth {
		return 0, fmt.Errorf("bsonx: key nested deeper than %d", maxKeyDepth)
	}
	for n < len(key) {
		if key[n] == flip {
			return n + 1, nil
		}
		if names {
			n += 1 + endOfCString(key[n+1:], flip)
			if n > len(key) {
				break
			}
		}
		m, err := skipKey(key[n:], flip, depth+1)
		if err != nil {
			return 0, err
		}
		n += m
	}
	return 0, errKeyEnd
}

// skipNumber measures a number other than NaN and zero.
func skipNumber(key []byte, flip byte) (int, error) {
	num, ok := parseNumber(key, flip)
	if !ok {
		return 0, errKeyEnd
	}
	return num.size, nil
}
