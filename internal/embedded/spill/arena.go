package spill

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// ref is a pair in the arena and eight bytes of its key, so that most comparisons stay out of the arena.
type ref struct {
	prefix uint64
	at     uint64 // chunk number << chunkShift | offset
}

const (
	chunkShift = 22 // chunks of 4 MiB; a larger pair has a chunk of its own
	chunkSize  = 1 << chunkShift
	refBytes   = 32 // a ref and its place in the buffer that sorting needs
)

// arena holds pairs as lengths, key, value, one behind the other in chunks.
type arena struct {
	chunks [][]byte
	used   int // chunks in use; the rest is kept for the next filling
	refs   []ref
	tmp    []ref
	bytes  int64
	common []byte // what all keys start with
	any    bool
}

// size is what the arena takes up, in bytes.
func (a *arena) size() int64 { return a.bytes + int64(len(a.refs))*refBytes }

func (a *arena) reset() {
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
	}
	// A chunk made for one large pair is not kept.
	a.chunks = slices.DeleteFunc(a.chunks, func(c []byte) bool { return cap(c) > chunkSize })
	a.used, a.refs, a.bytes, a.common, a.any = 0, a.refs[:0], 0, nil, false
}

func (a *arena) add(key, value []byte) {
	if !a.any {
		a.any = true
		a.common = append([]byte(nil), key...)
	} else if n := len(a.common); n > len(key) || !bytes.Equal(a.common, key[:n]) {
		a.common = a.common[:commonPrefix(a.common, key)]
	}
	need := 2*binary.MaxVarintLen32 + len(key) + len(value)
	c := a.chunk(need)
	at := uint64(a.used-1)<<chunkShift | uint64(len(*c))
	before := len(*c)
	b := binary.AppendUvarint(*c, uint64(len(key)))
	b = binary.AppendUvarint(b, uint64(len(value)))
	b = append(b, key...)
	b = append(b, value...)
	*c = b
	a.bytes += int64(len(b) - before)
	a.refs = append(a.refs, ref{at: at})
}

// chunk returns one with room for need bytes, the last in use.
func (a *arena) chunk(need int) *[]byte {
	if a.used > 0 {
		if c := &a.chunks[a.used-1]; cap(*c)-len(*c) >= need {
			return c
		}
	}
	if a.used == len(a.chunks) {
		a.chunks = append(a.chunks, nil)
	}
	if cap(a.chunks[a.used]) < need {
		// The first chunk starts small: most sorters never see many pairs.
		size := chunkSize
		if a.used == 0 && need < chunkSize>>6 {
			size >>= 6
		}
		a.chunks[a.used] = make([]byte, 0, max(need, size))
	}
	a.used++
	return &a.chunks[a.used-1]
}

// pair returns the key and value of a ref.
func (a *arena) pair(r ref) (key, value []byte) {
	b := a.chunks[r.at>>chunkShift][r.at&(chunkSize-1):]
	k, n := binary.Uvarint(b)
	b = b[n:]
	v, n := binary.Uvarint(b)
	b = b[n:]
	return b[:k:k], b[k : k+v : k+v]
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// prefix8 is up to eight bytes of a key as a number that compares like them.
func prefix8(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v << (8 * (8 - len(b)))
}

// sort orders the refs by key, equal keys by insertion: by the eight bytes behind the common prefix with a
// stable radix sort, then the few that are equal there by comparing.
func (a *arena) sort() {
	skip := len(a.common)
	ordered := true
	var last uint64
	for i := range a.refs {
		k, _ := a.pair(a.refs[i])
		p := prefix8(k[skip:])
		a.refs[i].prefix = p
		ordered = ordered && p >= last
		last = p
	}
	if !ordered {
		a.radix()
	}
	for i := 0; i < len(a.refs); {
		j := i + 1
		for j < len(a.refs) && a.refs[j].prefix == a.refs[i].prefix {
			j++
		}
		if j-i > 1 {
			a.sortTies(a.refs[i:j], skip)
		}
		i = j
	}
}

func (a *arena) sortTies(refs []ref, skip int) {
	// Keys of equal prefix and at most eight more bytes need no more than a look at their lengths, which the
	// comparison gives; already ordered is the common case.
	cmp := func(x, y ref) int {
		kx, _ := a.pair(x)
		ky, _ := a.pair(y)
		return bytes.Compare(kx[skip:], ky[skip:])
	}
	if !slices.IsSortedFunc(refs, cmp) {
		slices.SortStableFunc(refs, cmp)
	}
}

const radixSmall = 256 // below this many refs comparing is quicker

func (a *arena) radix() {
	refs := a.refs
	if len(refs) < radixSmall {
		slices.SortStableFunc(refs, func(x, y ref) int {
			switch {
			case x.prefix < y.prefix:
				return -1
			case x.prefix > y.prefix:
				return 1
			}
			return 0
		})
		return
	}
	if cap(a.tmp) < len(refs) {
		a.tmp = make([]ref, len(refs), cap(refs))
	}
	var counts [8][256]uint32
	for _, r := range refs {
		p := r.prefix
		for d := range 8 {
			counts[d][byte(p>>(8*d))]++
		}
	}
	from, to := refs, a.tmp[:len(refs)]
	for d := range 8 {
		c := &counts[d]
		shift := 8 * d
		if c[byte(from[0].prefix>>shift)] == uint32(len(refs)) {
			continue // the same byte everywhere
		}
		var sum uint32
		for i := range c {
			c[i], sum = sum, sum+c[i]
		}
		for _, r := range from {
			b := byte(r.prefix >> shift)
			to[c[b]] = r
			c[b]++
		}
		from, to = to, from
	}
	a.refs, a.tmp = from, to
}
