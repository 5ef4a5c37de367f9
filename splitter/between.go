package splitter

import (
	"encoding/binary"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// span is a stretch of keys of one bracket.
type span struct{ lo, hi bson.RawValue }

// between gives up to n-1 values that cut a stretch evenly, as far as the values
// alone tell: it knows nothing of how many documents lie where. They need not be keys. nil where there is no telling.
func between(s span, n int) []bson.RawValue {
	var out []bson.RawValue
	for i := 1; i < n; i++ {
		v := part(s, float64(i)/float64(n))
		if v == nil {
			return nil
		}
		t, b, err := bson.MarshalValue(v)
		if err != nil {
			return nil
		}
		w := bson.RawValue{Type: t, Value: b}
		last := s.lo
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		if Compare(last, w) < 0 && Compare(w, s.hi) < 0 {
			out = append(out, w)
		}
	}
	return out
}

// part is the value a share of the way through a stretch; nil where that has no meaning.
func part(s span, share float64) any {
	switch bracketOf(s.lo) {
	case number:
		lo, hi := float(s.lo), float(s.hi)
		if v := lo + (hi-lo)*share; !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case date:
		lo, hi := float64(s.lo.DateTime()), float64(s.hi.DateTime())
		return primitive.DateTime(lo + (hi-lo)*share)
	case objectID:
		lo, hi := s.lo.ObjectID(), s.hi.ObjectID()
		var id primitive.ObjectID
		binary.BigEndian.PutUint64(id[:], uint64(mix(binary.BigEndian.Uint64(lo[:]), binary.BigEndian.Uint64(hi[:]), share)))
		return id
	case text:
		return partOfText(textOf(s.lo), textOf(s.hi), share)
	}
	return nil
}

func mix(lo, hi uint64, share float64) float64 { return float64(lo) + float64(hi-lo)*share }

// partOfText goes on from what both begin with by one character, if both are plain there.
func partOfText(lo, hi string, share float64) any {
	n := 0
	for n < min(len(lo), len(hi)) && lo[n] == hi[n] {
		n++
	}
	if n >= min(len(lo), len(hi)) || strings.ContainsFunc(lo[n:n+1]+hi[n:n+1], func(r rune) bool { return r >= 0x80 }) {
		return nil
	}
	// the end's own character counts: more keys may begin with it
	return lo[:n] + string(byte(mix(uint64(lo[n]), uint64(hi[n])+1, share)))
}
