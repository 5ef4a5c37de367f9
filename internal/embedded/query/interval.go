package query

import (
	"bytes"
	"slices"

	"mrbench/internal/embedded/bsonx"
)

// edge is a place between encoded keys: before all keys that begin with key, or after them.
type edge struct {
	pos   []byte // the place itself, comparable with bytes.Compare
	key   []byte
	after bool
	val   bsonx.Value // what explain shows
}

func before(key []byte, val bsonx.Value) edge { return edge{pos: key, key: key, val: val} }

func after(key []byte, val bsonx.Value) edge {
	return edge{pos: bsonx.KeySuccessor(key), key: key, after: true, val: val}
}

// inverted is the same place in the key space of a descending field, where all bytes are inverted.
func (e edge) inverted() edge {
	key := slices.Clone(e.key)
	bsonx.InvertKey(key)
	if e.after {
		return before(key, e.val)
	}
	return after(key, e.val)
}

// interval holds the encoded keys k of one field with lo.pos <= k < hi.pos.
type interval struct{ lo, hi edge }

// isPoint: the interval holds one value only.
func (iv interval) isPoint() bool {
	return !iv.lo.after && iv.hi.after && bytes.Equal(iv.lo.key, iv.hi.key)
}

// intervals is a set of encoded keys: disjoint, ascending, never touching.
type intervals []interval

func encode(v bsonx.Value) []byte { return bsonx.AppendKey(nil, v, false) }

// point is the set of one value.
func point(v bsonx.Value) intervals {
	k := encode(v)
	return intervals{{before(k, v), after(k, v)}}
}

// everything is the set of all keys.
func everything() intervals {
	lo, hi := bsonx.MinKey(), bsonx.MaxKey()
	return intervals{{before(encode(lo), lo), after(encode(hi), hi)}}
}

// union merges sets given in any number.
func union(sets ...intervals) intervals {
	all := slices.Concat(sets...)
	slices.SortStableFunc(all, func(a, b interval) int { return bytes.Compare(a.lo.pos, b.lo.pos) })
	var out intervals
	for _, iv := range all {
		if n := len(out); n > 0 && bytes.Compare(iv.lo.pos, out[n-1].hi.pos) <= 0 {
			if bytes.Compare(iv.hi.pos, out[n-1].hi.pos) > 0 {
				out[n-1].hi = iv.hi
			}
			continue
		}
		out = append(out, iv)
	}
	return out
}

func (a intervals) intersect(b intervals) intervals {
	var out intervals
	for i, j := 0, 0; i < len(a) && j < len(b); {
		lo, hi := a[i].lo, a[i].hi
		if bytes.Compare(b[j].lo.pos, lo.pos) > 0 {
			lo = b[j].lo
		}
		if bytes.Compare(b[j].hi.pos, hi.pos) < 0 {
			hi = b[j].hi
		}
		if bytes.Compare(lo.pos, hi.pos) < 0 {
			out = append(out, interval{lo, hi})
		}
		if bytes.Compare(a[i].hi.pos, b[j].hi.pos) < 0 {
			i++
		} else {
			j++
		}
	}
	return out
}

// complement is what everything has besides a.
func (a intervals) complement() intervals {
	all := everything()[0]
	var out intervals
	lo := all.lo
	for _, iv := range a {
		if bytes.Compare(lo.pos, iv.lo.pos) < 0 {
			out = append(out, interval{lo, iv.lo})
		}
		lo = iv.hi
	}
	if bytes.Compare(lo.pos, all.hi.pos) < 0 {
		out = append(out, interval{lo, all.hi})
	}
	return out
}

func (a intervals) minus(b intervals) intervals { return a.intersect(b.complement()) }
func (a intervals) within(b intervals) bool     { return len(a.minus(b)) == 0 }

func (a intervals) equal(b intervals) bool {
	return slices.EqualFunc(a, b, func(x, y interval) bool {
		return bytes.Equal(x.lo.pos, y.lo.pos) && bytes.Equal(x.hi.pos, y.hi.pos)
	})
}

func (a intervals) isEverything() bool { return a.equal(everything()) }

// allPoints: the set lists single values.
func (a intervals) allPoints() bool {
	for _, iv := range a {
		if !iv.isPoint() {
			return false
		}
	}
	return len(a) > 0
}

// has reports whether the set holds an encoded key.
func (a intervals) has(key []byte) bool {
	i, _ := slices.BinarySearchFunc(a, key, func(iv interval, k []byte) int {
		if bytes.Compare(iv.hi.pos, k) <= 0 {
			return -1
		}
		return 1
	})
	return i < len(a) && bytes.Compare(a[i].lo.pos, key) <= 0
}

// inverted is the set in the key space of a descending field.
func (a intervals) inverted() intervals {
	out := make(intervals, len(a))
	for i, iv := range a {
		out[len(a)-1-i] = interval{iv.hi.inverted(), iv.lo.inverted()}
	}
	return out
}

// bracket is all values of one canonical type.
func bracket(canon int) intervals {
	lo, hi := bracketEnds(canon)
	return intervals{{lo, hi}}
}

// bracketEnds are the ends of a type's values, with what a 4.0 server shows for them.
func bracketEnds(canon int) (lo, hi edge) {
	minVal, maxVal, _ := bracketShown(canon)
	return before(bsonx.KeyMin(canon), minVal), before(bsonx.KeyMax(canon), maxVal)
}
