package query

import (
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// valueTests parses operators that are asked of one value by itself ($elemMatch, $pull).
func (p *parser) valueTests(d bsonx.Doc, depth int) ([]leaf, error) {
	if depth > maxFilterDepth {
		return nil, bad("filter is nested deeper than %d levels", maxFilterDepth)
	}
	var out []leaf
	for it := d.Iter(); it.Next(); {
		l, err := p.valueTest(string(it.Name()), it.Value(), d, depth)
		if err != nil {
			return nil, err
		}
		if l != nil {
			out = append(out, l)
		}
	}
	return out, nil
}

func (p *parser) valueTest(name string, v bsonx.Value, d bsonx.Doc, depth int) (leaf, error) {
	switch name {
	case "$eq", "$lt", "$lte", "$gt", "$gte":
		return compareLeaf(map[string]cmpOp{"$eq": opEQ, "$lt": opLT, "$lte": opLTE, "$gt": opGT, "$gte": opGTE}[name], v)
	case "$ne":
		if v.Type == typeRegex {
			return nil, bad("Can't have regex as arg to $ne.")
		}
		l, err := compareLeaf(opEQ, v)
		return notLeaf{l}, err
	case "$in", "$nin":
		in, err := parseIn(name, v)
		if err != nil {
			return nil, err
		}
		if name == "$nin" {
			return notLeaf{in}, nil
		}
		return in, nil
	case "$not":
		if v.Type == typeRegex {
			r, err := newRegex(v.Regex())
			return notLeaf{r}, err
		}
		if v.Type != typeObject || v.Doc().Len() == 0 {
			return nil, bad("$not needs a regex or a document")
		}
		tests, err := p.valueTests(v.Doc(), depth+1)
		return notLeaf{&allLeaf{tests}}, err
	case "$exists":
		if v.Truthy() {
			return existsLeaf{}, nil
		}
		return notLeaf{existsLeaf{}}, nil
	case "$all":
		n, err := p.all("v", v, depth)
		if err != nil {
			return nil, err
		}
		return &nestedLeaf{n}, nil
	case "$elemMatch":
		return p.elemMatch(v, depth)
	case "$size":
		return parseSize(v)
	}
	return p.valueOperator(name, v, d)
}

// nestedLeaf asks a node that was parsed for the path "v" about a value.
type nestedLeaf struct{ n node }

func (l *nestedLeaf) clone() leaf { return &nestedLeaf{l.n.clone()} }

func (l *nestedLeaf) test(v bsonx.Value, m *matcher) bool {
	return l.n.match(oneField("v", v), m)
}

// valueOperator parses the operators that are the same on a path and on one value.
// A nil leaf is an operator that says nothing by itself.
func (p *parser) valueOperator(name string, v bsonx.Value, d bsonx.Doc) (leaf, error) {
	switch name {
	case "$type":
		return parseType(v)
	case "$mod":
		return parseMod(v)
	case "$regex":
		return parseRegex(v, d.Get("$options"))
	case "$options":
		if d.Get("$regex").IsMissing() {
			return nil, bad("$options needs a $regex")
		}
		return nil, nil
	case "$bitsAllSet":
		return parseBits(name, bitsAllSet, v)
	case "$bitsAllClear":
		return parseBits(name, bitsAllClear, v)
	case "$bitsAnySet":
		return parseBits(name, bitsAnySet, v)
	case "$bitsAnyClear":
		return parseBits(name, bitsAnyClear, v)
	case "$comment":
		return nil, nil
	case "$near", "$nearSphere", "$geoNear":
		return nil, mongoerr.New(mongoerr.NoQueryExecutionPlans, "unable to find index for %s query: geospatial indexes are not supported by this engine", name)
	case "$geoWithin", "$within", "$geoIntersects":
		return nil, mongoerr.New(mongoerr.CommandNotSupported, "%s is not supported by this engine", name)
	case "$expr", "$where", "$and", "$or", "$nor", "$text", "$jsonSchema":
		return nil, bad("%s is not allowed on a field: unknown operator: %s", name, name)
	}
	return nil, bad("unknown operator: %s", name)
}

func parseIn(name string, v bsonx.Value) (*inLeaf, error) {
	if v.Type != typeArray {
		return nil, bad("%s needs an array", name)
	}
	var vals []bsonx.Value
	var regexes []*regexLeaf
	for it := v.Elems(); it.Next(); {
		e := it.Value()
		switch {
		case e.Type == typeRegex:
			r, err := newRegex(e.Regex())
			if err != nil {
				return nil, err
			}
			regexes = append(regexes, r)
		case e.Type == typeUndefined:
			return nil, bad("InMatchExpression equality cannot be undefined")
		case e.Type == typeObject && isOperators(e.Doc()):
			return nil, bad("cannot nest $ under %s", name)
		default:
			vals = append(vals, e)
		}
	}
	return newIn(vals, regexes), nil
}

func parseSize(v bsonx.Value) (sizeLeaf, error) {
	if !v.IsNumber() {
		return 0, bad("$size needs a number")
	}
	n, ok := v.AsInt64()
	if !ok {
		return 0, bad("$size must be a whole number")
	}
	if n < 0 {
		return 0, bad("$size may not be negative, but found %d", n)
	}
	return sizeLeaf(n), nil
}

var numberTypes = [...]bsonx.Type{typeDouble, typeInt32, typeInt64, typeDecimal}

func parseType(v bsonx.Value) (leaf, error) {
	l := &typeLeaf{}
	if v.Type != typeArray {
		return l, l.add(v)
	}
	for it := v.Elems(); it.Next(); {
		if err := l.add(it.Value()); err != nil {
			return nil, err
		}
	}
	if len(l.types) == 0 {
		return nil, mongoerr.New(mongoerr.FailedToParse, "$type must match at least one type")
	}
	return l, nil
}

func (l *typeLeaf) add(v bsonx.Value) error {
	switch {
	case v.Type == typeString:
		if v.Str() == "number" {
			l.types = append(l.types, numberTypes[:]...)
			return nil
		}
		t, ok := bsonx.TypeByName(v.Str())
		if !ok || t == bsonx.Missing {
			return bad("Unknown type name alias: %s", v.Str())
		}
		l.types = append(l.types, t)
		return nil
	case v.IsNumber():
		n, ok := v.AsInt64()
		if ok && n == 0 {
			return bad("Invalid numerical type code: 0. Instead use {$exists:false}.")
		}
		if !ok || (n < 1 || n > 19) && n != 127 && n != -1 {
			return bad("Invalid numerical type code: %s", v.String())
		}
		l.types = append(l.types, bsonx.Type(byte(int8(n))))
		return nil
	}
	return mongoerr.New(mongoerr.TypeMismatch, "type must be represented as a number or a string")
}

func parseMod(v bsonx.Value) (leaf, error) {
	if v.Type != typeArray {
		return nil, bad("malformed mod, needs to be an array")
	}
	var nums []int64
	for it := v.Elems(); it.Next(); {
		n, ok := it.Value().TruncInt64()
		if !ok {
			if len(nums) == 0 {
				return nil, bad("malformed mod, divisor not a number")
			}
			n = 0 // a 4.0 server takes a remainder of another type as 0
		}
		nums = append(nums, n)
	}
	switch {
	case len(nums) < 2:
		return nil, bad("malformed mod, not enough elements")
	case len(nums) > 2:
		return nil, bad("malformed mod, too many elements")
	case nums[0] == 0:
		return nil, bad("divisor cannot be 0")
	}
	return modLeaf{nums[0], nums[1]}, nil
}

func parseRegex(v, options bsonx.Value) (leaf, error) {
	var pattern, opts string
	switch v.Type {
	case typeString:
		pattern = v.Str()
	case typeRegex:
		pattern, opts = v.Regex()
	default:
		return nil, bad("$regex has to be a string")
	}
	if !options.IsMissing() {
		if options.Type != typeString {
			return nil, bad("$options has to be a string")
		}
		if opts != "" {
			return nil, mongoerr.New(51075, "options set in both $regex and $options")
		}
		opts = options.Str()
	}
	return newRegex(pattern, opts)
}

// parseBits reads bit positions from a mask (number or binary) or a list of positions.
func parseBits(name string, op bitsOp, v bsonx.Value) (leaf, error) {
	l := &bitsLeaf{op: op}
	switch {
	case v.IsNumber():
		n, ok := v.AsInt64()
		if f, _ := v.AsFloat(); !ok || math.IsNaN(f) {
			return nil, bad("%s takes a whole number that fits 64 bits, not %s", name, v.String())
		}
		if n < 0 {
			return nil, bad("%s takes a mask that is not negative, not %d", name, n)
		}
		for b := range uint32(63) {
			if n>>b&1 == 1 {
				l.bits = append(l.bits, b)
			}
		}
	case v.Type == typeBinary:
		_, data := v.Binary()
		for b := range uint32(len(data) * 8) {
			if data[b/8]>>(b%8)&1 == 1 {
				l.bits = append(l.bits, b)
			}
		}
	case v.Type == typeArray:
		for it := v.Elems(); it.Next(); {
			n, ok := it.Value().AsInt64()
			if !ok || !it.Value().IsNumber() {
				return nil, bad("bit positions must be whole numbers, not %s", it.Value().String())
			}
			if n < 0 || n > math.MaxInt32 {
				return nil, bad("bit positions must be >= 0 and < 2^31, not %d", n)
			}
			l.bits = append(l.bits, uint32(n))
		}
	default:
		return nil, bad("%s takes an Array, a number, or a BinData but received: %s", name, v.String())
	}
	return l, nil
}
