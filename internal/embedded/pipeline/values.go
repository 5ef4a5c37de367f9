package pipeline

import (
	"encoding/binary"

	"mrbench/internal/embedded/bsonx"
)

// values holds one value per group: those of fixed types up to 8 bytes in place, others beside.
type values struct {
	typ   []uint8
	small []uint64
	big   [][]byte // as long as typ once there is a long value
	held  int64    // bytes in big
	buf   [8]byte
}

func (s *values) resize(n int) {
	s.typ, s.small = grow(s.typ, n), grow(s.small, n)
	if s.big != nil {
		s.big = grow(s.big, n)
	}
}

func (s *values) bytes() int64 {
	return 9*int64(cap(s.typ)) + 24*int64(cap(s.big)) + s.held
}

func (s *values) reset() {
	s.typ, s.small, s.big, s.held = wipe(s.typ), wipe(s.small), nil, 0
}

// set stores a copy.
func (s *values) set(g uint32, v bsonx.Value) {
	s.typ[g] = uint8(v.Type)
	switch n := len(v.Data); fixedSize(v.Type) {
	case 0:
	case 1:
		s.small[g] = uint64(v.Data[0])
	case 4:
		s.small[g] = uint64(binary.LittleEndian.Uint32(v.Data))
	case 8:
		s.small[g] = binary.LittleEndian.Uint64(v.Data)
	default:
		if s.big == nil {
			s.big = grow(s.big, len(s.typ))
		}
		s.held += int64(n - cap(s.big[g]))
		s.big[g] = append(s.big[g][:0], v.Data...)
		s.held += int64(cap(s.big[g]) - n)
	}
}

// get is valid until the next get or set.
func (s *values) get(g uint32) bsonx.Value {
	t := bsonx.Type(s.typ[g])
	n := fixedSize(t)
	if n < 0 {
		if s.big == nil {
			return bsonx.Value{Type: t}
		}
		return bsonx.Value{Type: t, Data: s.big[g]}
	}
	binary.LittleEndian.PutUint64(s.buf[:], s.small[g])
	return bsonx.Value{Type: t, Data: s.buf[:n]}
}

// fixedSize is the length of the types that stand in place, -1 for the others.
func fixedSize(t bsonx.Type) int {
	switch t {
	case tInt32:
		return 4
	case tInt64, tDouble, tDate, tTimestamp:
		return 8
	case tBool:
		return 1
	case tMissing, tNull, tUndef, tMinKey, tMaxKey:
		return 0
	}
	return -1
}
