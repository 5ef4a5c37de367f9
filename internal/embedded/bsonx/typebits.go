package bsonx

import (
	"bytes"
	"encoding/binary"
	"math"
)

// Type bits hold, in the order of the key, one byte for every place where one
// encoding stands for several values; zero is the common case, so trailing
// zeros are dropped and most keys have none at all.
//
//	number  int32 0, int64 1, double 2, -0.0 3, a NaN other than the usual one 4 and its eight
//	        bytes, decimal 16+n and its n low and two high bytes
//	string  string 0, symbol 1
//	null    null 0, missing 1
//	array   names are positions 0, other names 1 and each name with its NUL
const (
	tagInt32   = 0
	tagInt64   = 1
	tagDouble  = 2
	tagNegZero = 3
	tagNaN     = 4
	tagDecimal = 16

	tagSymbol  = 1
	tagMissing = 1
	tagNames   = 1

	plainNaN = 0x7ff8_0000_0000_0000
	negZero  = 0x8000_0000_0000_0000
)

// AppendTypeBits appends what AppendKey loses of v (int32/int64/double/decimal, -0, trailing zeros,
// string/symbol, null/missing, also inside documents and arrays); the bits of a
// key of several fields are appended in order, then finished by TrimTypeBits.
func AppendTypeBits(tb []byte, v Value) []byte {
	switch v.Type {
	case TypeInt32, TypeString, TypeNull:
		return append(tb, 0)
	case TypeInt64:
		return append(tb, tagInt64)
	case TypeDouble:
		switch b := binary.LittleEndian.Uint64(v.Data); {
		case b == negZero:
			return append(tb, tagNegZero)
		case b != plainNaN && b&^negZero > math.Float64bits(math.Inf(1)):
			return append(append(tb, tagNaN), v.Data...)
		}
		return append(tb, tagDouble)
	case TypeDecimal128:
		n := 14
		for n > 0 && v.Data[n-1] == 0 {
			n--
		}
		tb = append(append(tb, tagDecimal+byte(n)), v.Data[:n]...)
		return append(tb, v.Data[14:]...)
	case TypeSymbol:
		return append(tb, tagSymbol)
	case Missing:
		return append(tb, tagMissing)
	case TypeEmbeddedDocument:
		return appendDocTypeBits(tb, v.Data)
	case TypeArray:
		if numbered(v.Data) {
			return appendDocTypeBits(append(tb, 0), v.Data)
		}
		tb = append(tb, tagNames)
		it := v.Elems()
		for it.Next() {
			tb = append(append(tb, it.Name()...), 0)
			tb = AppendTypeBits(tb, it.Value())
		}
	case TypeCodeWithScope:
		_, scope := v.codeWithScope()
		return appendDocTypeBits(tb, scope)
	}
	return tb
}

func appendDocTypeBits(tb []byte, d Doc) []byte {
	it := d.Iter()
	for it.Next() {
		tb = AppendTypeBits(tb, it.Value())
	}
	return tb
}

// numbered reports whether an array's names are "0", "1", ….
func numbered(d Doc) bool {
	var buf [20]byte
	i := 0
	it := d.Iter()
	for ; it.Next(); i++ {
		if !bytes.Equal(it.Name(), AppendIndex(buf[:0], i)) {
			return false
		}
	}
	return true
}

// TrimTypeBits drops what need not be stored. Nothing is left for int32,
// string, ObjectId, null, boolean, date, and all others that have no look-alike.
func TrimTypeBits(tb []byte) []byte {
	n := len(tb)
	for n > 0 && tb[n-1] == 0 {
		n--
	}
	return tb[:n]
}

// nextTag takes one byte of type bits; dropped ones are zero.
func nextTag(tb []byte) (byte, []byte) {
	if len(tb) == 0 {
		return 0, nil
	}
	return tb[0], tb[1:]
}

// takeBits copies len(dst) bytes of type bits; dropped ones are zero.
func takeBits(dst, tb []byte) []byte {
	n := copy(dst, tb)
	clear(dst[n:])
	return tb[n:]
}
