package expr

import (
	"cmp"
	"math"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// Percentiles says which percentiles $percentile or $median wants. They are values of the input, exactly: the smallest one that
// has the share p of the values at or below it.
type Percentiles struct {
	p      []float64
	median bool
}

// Of sorts values and picks the percentiles: doubles, or null without a value. Memory is fresh.
func (p *Percentiles) Of(values []float64) bsonx.Value {
	slices.SortFunc(values, cmp.Compare[float64])
	out := make([]bsonx.Value, len(p.p))
	for i, share := range p.p {
		out[i] = null
		if n := len(values); n > 0 {
			at := int(math.Ceil(share*float64(n))) - 1
			out[i] = bsonx.Double(values[min(max(at, 0), n-1)])
		}
	}
	if p.median {
		return out[0]
	}
	return bsonx.Array(out...)
}

// ParsePercentiles reads {input, p, method}; notObject is the code of an argument that is no document, constant gives the
// value of a constant expression.
func ParsePercentiles(name string, arg bsonx.Value, notObject int32, constant func(bsonx.Value) (bsonx.Value, bool, error)) (input bsonx.Value, p *Percentiles, err error) {
	if arg.Type != tDoc {
		return missing, nil, errf(codeOf(notObject), "specification must be an object; found %s: %s", name, arg)
	}
	p = &Percentiles{median: name == "$median"}
	var shares, method bsonx.Value
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		switch field := string(it.Name()); {
		case field == "input":
			input = v
		case field == "p" && !p.median:
			shares = v
		case field == "method":
			method = v
		default:
			return missing, nil, errf(40415, "BSON field '%s.%s' is an unknown field.", name, field)
		}
	}
	for _, need := range []struct {
		field string
		v     bsonx.Value
		want  bool
	}{{"input", input, true}, {"p", shares, !p.median}, {"method", method, true}} {
		if need.want && need.v.IsMissing() {
			return missing, nil, errf(40414, "BSON field '%s.%s' is missing but a required field", name, need.field)
		}
	}
	switch {
	case method.Type != tString:
		return missing, nil, errf(mongoerr.TypeMismatch, "BSON field '%s.method' is the wrong type '%s', expected type 'string'", name, typeName(method))
	case method.Str() != "approximate":
		return missing, nil, errf(mongoerr.BadValue, "Currently only 'approximate' can be used as percentile 'method'.")
	case p.median:
		p.p = []float64{0.5}
		return input, p, nil
	}
	p.p, err = shareList(shares, constant)
	return input, p, err
}

func shareList(v bsonx.Value, constant func(bsonx.Value) (bsonx.Value, bool, error)) (shares []float64, err error) {
	list, ok, err := constant(v)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errf(7750300, "The $percentile 'p' field must be an array of constant values, but found value: %s.", v)
	}
	const want = "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s"
	if list.Type != tArray || list.Doc().Len() == 0 {
		return nil, errf(7750301, want, list)
	}
	for it := list.Elems(); it.Next(); {
		f, _ := it.Value().AsFloat()
		if !isNumber(it.Value().Type) {
			return nil, errf(7750302, want, it.Value())
		}
		if !(f >= 0 && f <= 1) {
			return nil, errf(7750303, want, it.Value())
		}
		shares = append(shares, f)
	}
	return shares, nil
}

// parsePercentile is the expression: of one number, or of an array's numbers.
func parsePercentile(c *compiler, name string, arg bsonx.Value) (node, error) {
	notObject := int32(7436200)
	if name == "$median" {
		notObject = 7436201
	}
	input, p, err := ParsePercentiles(name, arg, notObject, func(v bsonx.Value) (bsonx.Value, bool, error) {
		n, err := c.compile(v)
		if err != nil {
			return missing, false, err
		}
		k, ok := n.(*constNode)
		if !ok {
			return missing, false, nil
		}
		return k.v, true, nil
	})
	if err != nil {
		return nil, err
	}
	n, err := c.compile(input)
	if err != nil {
		return nil, err
	}
	return &callNode{name: name, args: []node{n}, fn: func(_ *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
		var values []float64
		switch {
		case isNumber(a[0].Type):
			values = append(values, float(a[0]))
		case a[0].Type == tArray:
			for it := a[0].Elems(); it.Next(); {
				if isNumber(it.Value().Type) {
					values = append(values, float(it.Value()))
				}
			}
		}
		return p.Of(values), nil
	}}, nil
}
