package parity

import (
	"bytes"
	"iter"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/bsontype"

	"mrbench/splitter"
)

// Near says what else than equal values counts as agreement.
type Near struct {
	// Unordered are fields of the value, in dot notation, whose elements or fields may come in any order; "" is the value.
	Unordered []string
	// Relative is how far apart numbers may be, as a part of the larger one.
	Relative float64
}

// Agreement is what [Near.Compare] found.
type Agreement struct {
	Keys      int64 // in both answers
	Rounded   int64 // of them, those that agree but for their last digits
	Reordered int64 // of them, those that agree but for the order of elements
	Largest   float64
	Different int64
	First     []Difference // the first n of them, ascending
}

// Compare walks two answers that are ascending by _id in the server's order.
func (n Near) Compare(a, b iter.Seq2[bson.Raw, error], first int) (Agreement, error) {
	left, right := follow(a), follow(b)
	defer left.stop()
	defer right.stop()
	var g Agreement
	if err := left.advance(); err != nil {
		return g, err
	}
	if err := right.advance(); err != nil {
		return g, err
	}
	differ := func(d Difference) {
		g.Different++
		if len(g.First) < first {
			g.First = append(g.First, d)
		}
	}
	for left.ok || right.ok {
		order := 0
		switch {
		case !left.ok:
			order = 1
		case !right.ok:
			order = -1
		default:
			order = splitter.Compare(left.key, right.key)
		}
		switch {
		case order < 0:
			differ(Difference{Key: show(left.key), A: show(left.value)})
		case order > 0:
			differ(Difference{Key: show(right.key), B: show(right.value)})
		default:
			g.Keys++
			same, err := equal(left, right)
			if err != nil {
				return g, err
			}
			if !same {
				c := nearness{Near: n}
				if !c.same(left.value, right.value, "") {
					differ(Difference{Key: show(left.key), A: show(left.value), B: show(right.value)})
				} else if c.largest > 0 {
					g.Rounded++
				} else {
					g.Reordered++
				}
				g.Largest = max(g.Largest, c.largest)
			}
		}
		if order <= 0 {
			if err := left.advance(); err != nil {
				return g, err
			}
		}
		if order >= 0 {
			if err := right.advance(); err != nil {
				return g, err
			}
		}
	}
	return g, nil
}

type nearness struct {
	Near
	largest float64
}

type field struct {
	name  string
	value bson.RawValue
}

func (c *nearness) same(a, b bson.RawValue, path string) bool {
	if isNumber(a.Type) && isNumber(b.Type) {
		return c.sameNumber(a, b)
	}
	nested := a.Type == b.Type && (a.Type == bson.TypeArray || a.Type == bson.TypeEmbeddedDocument)
	if !nested {
		return sameBytes(a, b)
	}
	x, y := fieldsOf(a), fieldsOf(b)
	if len(x) != len(y) {
		return false
	}
	if slices.Contains(c.Unordered, path) {
		sortFields(x, a.Type)
		sortFields(y, b.Type)
	}
	for i := range x {
		inner := path
		if a.Type == bson.TypeEmbeddedDocument {
			if x[i].name != y[i].name {
				return false
			}
			inner = x[i].name
			if path != "" {
				inner = path + "." + inner
			}
		}
		if !c.same(x[i].value, y[i].value, inner) {
			return false
		}
	}
	return true
}

func (c *nearness) sameNumber(a, b bson.RawValue) bool {
	if sameBytes(a, b) {
		return true
	}
	f, g := asDouble(a), asDouble(b)
	if math.IsNaN(f) || math.IsNaN(g) || math.IsInf(f, 0) || math.IsInf(g, 0) {
		return false
	}
	rel := math.Abs(f-g) / max(math.Abs(f), math.Abs(g))
	if rel > c.Relative {
		return false
	}
	c.largest = max(c.largest, rel)
	return true
}

func asDouble(v bson.RawValue) float64 {
	n, ok := numberOf(v)
	switch {
	case !ok:
		return math.NaN()
	case n.kind == integer:
		return float64(n.i)
	case n.kind == double:
		return n.f
	}
	f, _ := n.d.Float64()
	return f
}

func sameBytes(a, b bson.RawValue) bool {
	x, err := appendCanonical(nil, a)
	if err != nil {
		return false
	}
	y, err := appendCanonical(nil, b)
	return err == nil && bytes.Equal(x, y)
}

func fieldsOf(v bson.RawValue) []field {
	var out []field
	_ = fields(v.Value, func(name []byte, f bson.RawValue) error { // a broken value has no more fields, and differs
		out = append(out, field{string(name), f})
		return nil
	})
	return out
}

func sortFields(list []field, t bsontype.Type) {
	slices.SortStableFunc(list, func(a, b field) int {
		if t == bson.TypeEmbeddedDocument && a.name != b.name {
			if a.name < b.name {
				return -1
			}
			return 1
		}
		return splitter.Compare(a.value, b.value)
	})
}
