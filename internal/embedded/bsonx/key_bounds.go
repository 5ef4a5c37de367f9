package bsonx

import "slices"

// KeyMin and KeyMax bracket a canonical type in (ascending) key space: every
// encoding k of a value of that rank has KeyMin(canon) <= k < KeyMax(canon).
func KeyMin(canon int) []byte { return []byte{leadOf(canon)} }

// KeyMax is the exclusive upper end of a canonical type; see KeyMin.
func KeyMax(canon int) []byte {
	switch canon {
	case CanonNumber:
		return []byte{leadPosHuge + 1}
	case CanonBool:
		return []byte{leadTrue + 1}
	}
	return []byte{leadOf(canon) + 1}
}

// KeySuccessor returns the smallest bytes above everything that begins with
// prefix, in fresh memory; nil, "no upper bound", when there are none (all FF).
// As no key is a prefix of another, [enc(v), KeySuccessor(enc(v))) holds
// exactly the compound keys whose first field equals v.
func KeySuccessor(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			s := slices.Clone(prefix[:i+1])
			s[i]++
			return s
		}
	}
	return nil
}

// InvertKey inverts every byte in place: the encoding of a descending field from
// that of an ascending one, and back. For bounds of a descending field, invert
// both ends of an ascending [lo, hi) and swap them; each then includes what it
// excluded, so take KeySuccessor of both where they are whole keys.
func InvertKey(key []byte) { invert(key) }
