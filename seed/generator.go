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
	seed   uint64
	keys   uint64
	long   bool
	prefix []byte // the document up to its value; the _id is filled in
	tag    uint64 // the seed's three bytes of every _id
}

// Uniques makes {_id: ObjectId, <field>: int in [0, keys)}, uniformly. keys 0
// means documents/10, and at least 1. The field is an int32, or an int64 for
// every document when keys do not fit an int32, so that it has one type.
// The ObjectIds ascend with the index.
func Uniques(seed uint64, field string, documents, keys int64) Generator {
	if keys <= 0 {
		keys = max(documents/10, 1)
	}
	u := &uniques{seed: seed, keys: uint64(keys), long: keys-1 > math.MaxInt32, tag: seedTag(seed)}
	kind, size := byte(0x10), 4+1+len("_id")+1+12+1+len(field)+1+4+1
	if u.long {
		kind, size = 0x12, size+4
	}
	u.prefix = binary.LittleEndian.AppendUint32(nil, uint32(size))
	u.prefix = append(u.prefix, "\x07_id\x00............"...)
	u.prefix = append(u.prefix, kind)
	u.prefix = append(u.prefix, field...)
	u.prefix = append(u.prefix, 0)
	return u
}

func (u *uniques) Name() string { return "uniques" }

// firstSecond is the time that the ObjectIds of index 0 carry (2020-01-01 UTC).
// It is fixed: the time of the run must not be part of the content.
const firstSecond = 1577836800

func (u *uniques) Append(dst []byte, i int64) []byte {
	const idAt = 4 + 1 + len("_id") + 1
	start := len(dst)
	dst = append(dst, u.prefix...)
	id := objectID(u.tag, uint64(i))
	copy(dst[start+idAt:], id[:])
	v := u.value(uint64(i))
	if u.long {
		return append(binary.LittleEndian.AppendUint64(dst, v), 0)
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(v)), 0)
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
