package seed

import (
	"encoding/binary"
	"math"
	"math/bits"

	"go.mongodb.org/mongo-driver/bson/primitive"
)

// random is one document's stream of numbers: its start is the hash of seed and index,
// so that no document depends on another.
type random struct{ x uint64 }

func newRandom(seed, i uint64) random { return random{mix(seed, i)} }

func (r *random) uint64() uint64 {
	r.x += 0x9e3779b97f4a7c15
	z := r.x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is uniform in [0, n), n > 0, with a bias below n/2^64.
func (r *random) below(n uint64) uint64 {
	hi, _ := bits.Mul64(r.uint64(), n)
	return hi
}

// between is uniform in [lo, hi], both included.
func (r *random) between(lo, hi int64) int64 {
	n := uint64(hi) - uint64(lo) + 1
	if n == 0 { // every int64
		return int64(r.uint64())
	}
	return int64(uint64(lo) + r.below(n))
}

// float is uniform in [0, 1).
func (r *random) float() float64 { return float64(r.uint64()>>11) / (1 << 53) }

// normal has mean 0 and deviation 1.
func (r *random) normal() float64 {
	return math.Sqrt(-2*math.Log(1-r.float())) * math.Cos(2*math.Pi*r.float())
}

func pick(r *random, list []string) string { return list[r.below(uint64(len(list)))] }

// uuid is a random uuid of version 4.
func (r *random) uuid() (u [16]byte) {
	binary.LittleEndian.PutUint64(u[:], r.uint64())
	binary.LittleEndian.PutUint64(u[8:], r.uint64())
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}

// seedTag is the part of an ObjectId that tells seeds apart.
func seedTag(seed uint64) uint64 { return mix(seed, 0) >> 40 }

// objectID ascends with the index: time, three bytes of the seed, and a 40-bit
// counter that carries into the time.
func objectID(tag, i uint64) (id primitive.ObjectID) {
	binary.BigEndian.PutUint32(id[:], firstSecond+uint32(i>>40))
	binary.BigEndian.PutUint64(id[4:], tag<<40|i&(1<<40-1))
	return id
}
