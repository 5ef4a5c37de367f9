package query

import "mrbench/internal/embedded/bsonx"

// inLeaf is $in: one of some values, or a match of one of some patterns.
type inLeaf struct {
	vals    []bsonx.Value
	regexes []*regexLeaf
	hasNull bool
	set     map[string]struct{} // encoded values, when there are many
	key     []byte
}

// Up to so many values are compared one by one; more are looked up by their encoded key.
const inLinear = 6

func newIn(vals []bsonx.Value, regexes []*regexLeaf) *inLeaf {
	l := &inLeaf{regexes: regexes}
	seen := make(map[string]struct{}, len(vals))
	for _, v := range vals {
		if v.Type == typeNull {
			l.hasNull = true
		}
		k := string(bsonx.AppendKey(nil, v, false))
		if _, dup := seen[k]; dup {
			continue
		}
		seen[k] = struct{}{}
		l.vals = append(l.vals, v.Clone())
	}
	if len(l.vals) > inLinear {
		l.set = seen
	}
	return l
}

func (l *inLeaf) clone() leaf {
	c := *l
	c.key = nil
	return &c
}

func (l *inLeaf) test(v bsonx.Value, m *matcher) bool {
	if v.IsMissing() {
		return l.hasNull
	}
	if l.set != nil {
		l.key = bsonx.AppendKey(l.key[:0], v, false)
		if _, ok := l.set[string(l.key)]; ok {
			return true
		}
	} else {
		for _, w := range l.vals {
			if bsonx.Canon(v.Type) == bsonx.Canon(w.Type) && bsonx.Compare(v, w) == 0 {
				return true
			}
		}
	}
	for _, r := range l.regexes {
		if r.test(v, m) {
			return true
		}
	}
	return false
}
