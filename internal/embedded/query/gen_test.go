package query

import (
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"

	"mrbench/internal/embedded/bsonx"
)

// gen makes documents and filters over few values, so that filters find something.
type gen struct{ t *rapid.T }

func pick[T any](g gen, label string, of ...T) T { return rapid.SampledFrom(of).Draw(g.t, label) }

func (g gen) n(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.t, "n") }

func decimal(s string) primitive.Decimal128 {
	d, err := primitive.ParseDecimal128(s)
	if err != nil {
		panic(err) // the literals of this file are valid
	}
	return d
}

// scalar draws a value of any type but document, array and undefined. ends: MinKey and MaxKey too.
func (g gen) scalar(ends bool) any {
	vals := []any{
		int32(0), int32(1), int32(5), int64(5), int64(-1), 5.0, 1.5, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1),
		int64(math.MaxInt64), decimal("5"), decimal("5.00"), decimal("1E+40"), decimal("NaN"),
		"", "a", "ab", "b", "a\x00b", primitive.Symbol("a"), true, false, nil, nil,
		primitive.DateTime(-5), primitive.DateTime(5),
		primitive.Timestamp{T: 1, I: 2},
		primitive.ObjectID{11: 1},
		primitive.ObjectID{11: 2},
		primitive.Binary{Data: []byte{1}},
		primitive.Binary{Subtype: 5, Data: []byte{1, 2}},
		primitive.Regex{Pattern: "^a"},
		primitive.Regex{Pattern: "b", Options: "i"},
		primitive.JavaScript("x"),
		primitive.CodeWithScope{Code: "x", Scope: bson.D{}},
		primitive.DBPointer{DB: "d", Pointer: primitive.ObjectID{1}},
	}
	if ends {
		vals = append(vals, primitive.MinKey{}, primitive.MaxKey{})
	}
	return rapid.SampledFrom(vals).Draw(g.t, "scalar")
}

// value draws a value to be stored.
func (g gen) value(depth int, arrays bool) any {
	switch k := g.n(0, 9); {
	case k == 0 && depth > 0:
		return g.object(depth-1, arrays)
	case k <= 2 && depth > 0 && arrays:
		a := bson.A{}
		for range g.n(0, 3) {
			if g.n(0, 4) == 0 {
				a = append(a, g.value(depth-1, arrays))
			} else {
				a = append(a, g.scalar(false))
			}
		}
		return a
	}
	return g.scalar(!arrays)
}

func (g gen) object(depth int, arrays bool) bson.D {
	d := bson.D{}
	for _, name := range []string{"x", "y"} {
		if g.n(0, 2) > 0 {
			d = append(d, bson.E{Key: name, Value: g.value(depth, arrays)})
		}
	}
	return d
}

// document draws {_id, a, b, c: {x, y}} with fields missing now and then.
func (g gen) document(id int, arrays bool) bsonx.Doc {
	d := bson.D{{Key: "_id", Value: int32(id)}}
	for _, name := range []string{"a", "b"} {
		if g.n(0, 5) > 0 {
			d = append(d, bson.E{Key: name, Value: g.value(1, arrays)})
		}
	}
	switch k := g.n(0, 6); {
	case k == 0:
	case k == 1:
		d = append(d, bson.E{Key: "c", Value: g.value(2, arrays)})
	case k <= 3 && arrays: // several entries in an index on c.x and c.y
		d = append(d, bson.E{Key: "c", Value: bson.A{g.object(0, false), g.object(0, false)}})
	default:
		d = append(d, bson.E{Key: "c", Value: g.object(1, arrays)})
	}
	return marshal(g.t, d)
}

func (g gen) path() string {
	return pick(g, "path", "a", "a", "a", "b", "b", "c", "c.x", "c.y", "a.x", "_id")
}

// filter draws a query document. Left out are the cases where a 4.0 server itself gives other documents
// with an index: undefined, ranges of arrays, and MinKey and MaxKey from the wrong side.
func (g gen) filter(depth int) bson.D {
	var d bson.D
	for range g.n(1, 2) {
		switch k := g.n(0, 11); {
		case k == 0 && depth > 0:
			d = append(d, bson.E{Key: "$or", Value: g.filters(depth - 1)})
		case k == 1 && depth > 0:
			d = append(d, bson.E{Key: "$and", Value: g.filters(depth - 1)})
		case k == 2 && depth > 0:
			d = append(d, bson.E{Key: "$nor", Value: g.filters(depth - 1)})
		case k == 3:
			d = append(d, bson.E{Key: "$expr", Value: g.expr(depth)})
		default:
			d = append(d, g.condition(depth))
		}
	}
	return d
}

func (g gen) filters(depth int) bson.A {
	var a bson.A
	for range g.n(1, 3) {
		a = append(a, g.filter(depth))
	}
	return a
}

// condition draws one path with its operators.
func (g gen) condition(depth int) bson.E {
	path := g.path()
	if path == "_id" {
		return bson.E{Key: path, Value: bson.D{{Key: pick(g, "op", "$lt", "$gte", "$eq", "$ne"), Value: int32(g.n(0, 30))}}}
	}
	if g.n(0, 4) == 0 {
		v := g.value(1, true)
		if _, isMap := v.(bson.D); !isMap {
			return bson.E{Key: path, Value: v}
		}
	}
	return bson.E{Key: path, Value: g.operators(depth, false)}
}

func (g gen) operators(depth int, inElem bool) bson.D {
	var ops bson.D
	for range g.n(1, 2) {
		ops = append(ops, g.operator(depth, inElem))
	}
	return ops
}

func (g gen) operator(depth int, inElem bool) bson.E {
	switch g.n(0, 15) {
	case 0, 1, 2, 3, 4:
		op := pick(g, "op", "$lt", "$lte", "$gt", "$gte")
		v := g.scalar(false)
		if _, re := v.(primitive.Regex); re {
			v = int32(5)
		}
		switch g.n(0, 15) {
		case 0:
			return bson.E{Key: pick(g, "op", "$gt", "$gte"), Value: primitive.MinKey{}}
		case 1:
			return bson.E{Key: pick(g, "op", "$lt", "$lte"), Value: primitive.MaxKey{}}
		case 2:
			v = g.object(0, false)
		}
		return bson.E{Key: op, Value: v}
	case 5:
		return bson.E{Key: "$eq", Value: g.value(1, true)}
	case 6:
		v := g.value(1, true)
		if _, re := v.(primitive.Regex); re {
			v = nil
		}
		return bson.E{Key: "$ne", Value: v}
	case 7, 8:
		a := bson.A{}
		for range g.n(0, 4) {
			a = append(a, g.scalar(true))
		}
		return bson.E{Key: pick(g, "op", "$in", "$in", "$nin"), Value: a}
	case 9:
		return bson.E{Key: "$exists", Value: rapid.Bool().Draw(g.t, "exists")}
	case 10, 11:
		names := []string{
			"double", "string", "object", "array", "binData", "objectId", "bool", "date", "null", "regex", "javascript",
			"symbol", "int", "timestamp", "long", "decimal", "minKey", "maxKey", "number",
		}
		a := bson.A{}
		for range g.n(1, 4) {
			a = append(a, rapid.SampledFrom(names).Draw(g.t, "type"))
		}
		return bson.E{Key: "$type", Value: a}
	case 12:
		if depth > 0 {
			return bson.E{Key: "$not", Value: g.operators(depth-1, inElem)}
		}
		return bson.E{Key: "$mod", Value: bson.A{int32(5), int32(g.n(0, 1))}}
	case 13:
		if depth > 0 {
			if rapid.Bool().Draw(g.t, "object") {
				return bson.E{Key: "$elemMatch", Value: bson.D{{Key: pick(g, "field", "x", "y"), Value: g.operators(depth-1, true)}}}
			}
			return bson.E{Key: "$elemMatch", Value: g.operators(depth-1, true)}
		}
		return bson.E{Key: "$size", Value: int32(g.n(0, 2))}
	case 14:
		return bson.E{Key: "$regex", Value: pick(g, "regex", "^a", "^ab?", "b$", "^a.*", "")}
	}
	return bson.E{Key: pick(g, "op", "$bitsAllSet", "$bitsAnyClear"), Value: int32(g.n(0, 6))}
}

func (g gen) expr(depth int) any {
	if depth > 0 && g.n(0, 3) == 0 {
		op := pick(g, "op", "$and", "$or", "$not")
		if op == "$not" {
			return bson.D{{Key: op, Value: bson.A{g.expr(depth - 1)}}}
		}
		return bson.D{{Key: op, Value: bson.A{g.expr(depth - 1), g.expr(depth - 1)}}}
	}
	v := g.scalar(true)
	if g.n(0, 2) == 0 {
		v = nil // where missing and null part
	}
	args := bson.A{"$" + g.path(), bson.D{{Key: "$literal", Value: v}}}
	if rapid.Bool().Draw(g.t, "swap") {
		args[0], args[1] = args[1], args[0]
	}
	return bson.D{{Key: pick(g, "op", "$eq", "$ne", "$lt", "$lte", "$gt", "$gte"), Value: args}}
}

// index draws an index spec.
func (g gen) index(n int) bson.D {
	key := bson.D{}
	used := map[string]bool{}
	if g.n(0, 3) == 0 {
		key = bson.D{{Key: "c.x", Value: int32(1)}, {Key: "c.y", Value: int32(1)}}
		used["c.x"], used["c.y"] = true, true
	}
	for range g.n(1, 3) {
		p := pick(g, "indexed", "a", "a", "b", "c", "c.x", "c.y", "_id")
		if used[p] || len(key) == 0 && p == "_id" || p == "c" && (used["c.x"] || used["c.y"]) || used["c"] && len(p) > 1 && p[0] == 'c' {
			continue
		}
		used[p] = true
		key = append(key, bson.E{Key: p, Value: pick[int32](g, "direction", 1, 1, -1)})
	}
	if len(key) == 0 {
		key = bson.D{{Key: "a", Value: int32(1)}}
	}
	spec := bson.D{{Key: "key", Value: key}, {Key: "name", Value: "i" + strconv.Itoa(n)}}
	switch g.n(0, 5) {
	case 0:
		spec = append(spec, bson.E{Key: "sparse", Value: true})
	case 1:
		spec = append(spec, bson.E{Key: "partialFilterExpression", Value: pick(g, "partial",
			bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: int32(0)}}}},
			bson.D{{Key: "b", Value: bson.D{{Key: "$exists", Value: true}}}},
			bson.D{{Key: "a", Value: bson.D{{Key: "$type", Value: "string"}}}})})
	}
	return spec
}
