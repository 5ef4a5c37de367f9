package seed

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Generator makes documents; a document depends on the generator's seed and its index only.
type Generator interface {
	// Name is how tables and results call it.
	Name() string
	// Append appends document i as raw BSON and returns the longer slice. It is
	// called from several goroutines at once.
	Append(dst []byte, i int64) []byte
}

// uniques is the data of the unique-count job: one small integer a document.
type uniques struct {
	seed  uint64
	field string
	keys  uint64
	long  bool
}

// Uniques makes {_id: ObjectId, <field>: int in [0, keys)}, uniformly. keys 0
// means documents/10, and at least 1. The field is an int32, or an int64 for
// every document when keys do not fit an int32, so that it has one type.
// The ObjectIds ascend with the index.
func Uniques(seed uint64, field string, documents, keys int64) Generator {
	if keys <= 0 {
		keys = max(documents/10, 1)
	}
	return &uniques{seed: seed, field: field, keys: uint64(keys), long: keys-1 > math.MaxInt32}
}

func (u *uniques) Name() string { return "uniques" }

// firstSecond is the time that the ObjectIds of index 0 carry (2020-01-01 UTC).
// It is fixed: the time of the run must not be part of the content.
const firstSecond = 1577836800

func (u *uniques) Append(dst []byte, i int64) []byte {
	size := 4 + 1 + 4 + 12 + 1 + len(u.field) + 1 + 4 + 1
	if u.long {
		size += 4
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = append(dst, 0x07, '_', 'i', 'd', 0)
	dst = appendObjectID(dst, u.seed, uint64(i))
	if u.long {
		dst = append(dst, 0x12)
	} else {
		dst = append(dst, 0x10)
	}
	dst = append(dst, u.field...)
	dst = append(dst, 0)
	v := u.value(uint64(i))
	if u.long {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	} else {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return append(dst, 0)
}

// value maps the hash of (seed, i) to [0, keys) by the high half of a product,
// whose bias is below keys/2^64.
func (u *uniques) value(i uint64) uint64 {
	hi, _ := bits.Mul64(mix(u.seed, i), u.keys)
	return hi
}

// mix is a counter-based hash: a Weyl step per index, then two rounds of
// multiply-xorshift, so that neighbouring indexes and seeds share nothing.
func mix(seed, i uint64) uint64 {
	x := (seed^0x6a09e667f3bcc909)*0xd1342543de82ef95 + i*0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return x
}

// appendObjectID lays out an ObjectId that ascends with the index: time, three
// bytes of the seed, and a 40-bit counter that carries into the time.
func appendObjectID(dst []byte, seed, i uint64) []byte {
	dst = binary.BigEndian.AppendUint32(dst, firstSecond+uint32(i>>40))
	s := mix(seed, 0) >> 40
	return append(dst, byte(s>>16), byte(s>>8), byte(s),
		byte(i>>32), byte(i>>24), byte(i>>16), byte(i>>8), byte(i))
}
