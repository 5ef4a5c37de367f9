package bsonx

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	if t, data, size := plainNumber(key, tb, flipOf(desc)); size > 0 {
		dst = append(dst, byte(t))
		dst = append(append(dst, name...), 0)
		dst = binary.LittleEndian.AppendUint64(dst, data)
		if t == TypeInt32 {
			dst = dst[:len(dst)-4]
		}
		if len(tb) > 0 {
			tb = tb[1:]
		}
		return dst, key[size:], tb, nil
	}
	if tag, rest := nextTag(tb); tag == 0 && !desc && len(key) > 0 && key[0] == leadString {
		with := append(append(append(dst, byte(TypeString)), name...), 0)
		if with, restKey, err = decodeText(with, key[1:]); err == nil {
			return with, restKey, rest, nil
		}
		return dst, key, tb, err
	}
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
