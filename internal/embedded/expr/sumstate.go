package expr

import (
	"encoding/binary"
	"math"

	"mrbench/internal/embedded/bsonx"
)

// sumBytes is the fixed part of a Sum in a file.
const sumBytes = 1 + 8 + 8 + 8 + 8 + 1

// Append appends the sum's state for ReadSum.
func (s *Sum) Append(dst []byte) []byte {
	dst = append(dst, byte(s.rank))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.hi))
	dst = binary.LittleEndian.AppendUint64(dst, s.lo)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.sum))
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.comp))
	if s.dec == nil {
		return append(dst, 0)
	}
	hi, lo := decimalBits(s.dec)
	dst = append(dst, 1)
	dst = binary.LittleEndian.AppendUint64(dst, lo)
	return binary.LittleEndian.AppendUint64(dst, hi)
}

// ReadSum reads what Append wrote and gives what follows it.
func ReadSum(b []byte) (s Sum, rest []byte, ok bool) {
	if len(b) < sumBytes {
		return s, nil, false
	}
	u := func(o int) uint64 { return binary.LittleEndian.Uint64(b[o:]) }
	s.rank = numRank(b[0])
	s.hi, s.lo = int64(u(1)), u(9)
	s.sum, s.comp = math.Float64frombits(u(17)), math.Float64frombits(u(25))
	if b[33] == 0 {
		return s, b[sumBytes:], true
	}
	if len(b) < sumBytes+16 {
		return s, nil, false
	}
	s.dec = readDecimal(bsonx.Value{Type: tDecimal, Data: b[sumBytes : sumBytes+16]})
	return s, b[sumBytes+16:], true
}

// Whole gives the sum and its type when only whole numbers within int64 were added.
func (s *Sum) Whole() (n int64, t bsonx.Type, ok bool) {
	n, ok = s.int64()
	return n, s.rank.typ(), ok && s.rank <= rankInt64
}
