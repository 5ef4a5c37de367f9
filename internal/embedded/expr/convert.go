package expr

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

func opType(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	return st.str(typeName(a[0])), nil
}

func opIsNumber(_ *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	return boolean(isNumber(a[0].Type)), nil
}

// convertTo makes $toInt and its like.
func convertTo(t bsonx.Type) op {
	fn := func(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
		if nullish(a[0]) {
			return null, nil
		}
		return convert(st, a[0], t)
	}
	return op{parse: func(c *compiler, name string, arg bsonx.Value) (node, error) {
		if arg.Type == tArray && bsonx.Doc(arg.Data).Len() != 1 {
			return nil, errf(50723, "%s requires a single argument, got %d", name, bsonx.Doc(arg.Data).Len())
		}
		args, err := c.args(name, arg, 1, 1)
		if err != nil {
			return nil, err
		}
		return &callNode{name: name, fn: fn, args: args}, nil
	}}
}

type convertNode struct{ input, to, onError, onNull node }

func (n *convertNode) kids() []node {
	return []node{n.input, n.to, n.onError, n.onNull}
}

func (n *convertNode) eval(st *state) (bsonx.Value, error) {
	to, err := n.to.eval(st)
	if err != nil {
		return missing, err
	}
	in, err := n.input.eval(st)
	if err != nil {
		return missing, err
	}
	var t bsonx.Type
	if !nullish(to) {
		if t, err = convertTarget(to); err != nil {
			return missing, err
		}
	}
	if nullish(in) {
		if n.onNull != nil {
			return n.onNull.eval(st)
		}
		return null, nil
	}
	if nullish(to) {
		return null, nil
	}
	v, err := convert(st, in, t)
	if err != nil && n.onError != nil && mongoerr.CodeOf(err) == mongoerr.ConversionFailure {
		return n.onError.eval(st)
	}
	return v, err
}

func convertTarget(to bsonx.Value) (bsonx.Type, error) {
	if to.Type == tString {
		t, ok := bsonx.TypeByName(to.Str())
		if !ok {
			return 0, errf(mongoerr.BadValue, "Unknown type name: %s", to.Str())
		}
		return t, nil
	}
	if !isNumber(to.Type) {
		return 0, errf(mongoerr.FailedToParse, "$convert's 'to' argument must be a string or number, but is %s", typeName(to))
	}
	n, ok := whole32(to)
	if !ok || n < -1 || n > 19 && n != 127 {
		return 0, errf(mongoerr.FailedToParse, "In $convert, numeric value for 'to' does not correspond to a BSON type: %s", to)
	}
	return bsonx.Type(uint8(n)), nil
}

func parseConvert(c *compiler, name string, arg bsonx.Value) (node, error) {
	if arg.Type != tDoc {
		return nil, errf(mongoerr.FailedToParse, "$convert expects an object of named arguments but found: %s", typeName(arg))
	}
	args, err := c.named(name, arg, int32(mongoerr.FailedToParse), []param{
		{"input", int32(mongoerr.FailedToParse)}, {"to", int32(mongoerr.FailedToParse)}, {"onError", 0}, {"onNull", 0},
	})
	if err != nil {
		return nil, err
	}
	return &convertNode{args[0], args[1], args[2], args[3]}, nil
}

func failed(format string, args ...any) error {
	return errf(mongoerr.ConversionFailure, format+" in $convert with no onError value", args...)
}

func unsupported(v bsonx.Value, t bsonx.Type) error {
	return failed("Unsupported conversion from %s to %s", typeName(v), bsonx.TypeName(t))
}

// convert changes a value's type; v is not null.
func convert(st *state, v bsonx.Value, t bsonx.Type) (bsonx.Value, error) {
	switch t {
	case v.Type:
		switch t {
		case tDouble, tString, tObjectID, tBool, tDate, tInt32, tInt64, tDecimal:
			return v, nil
		}
		return missing, unsupported(v, t)
	case tDouble:
		return convertDouble(st, v)
	case tString:
		if s, ok := plainString(v); ok && v.Type != tTime && v.Type != tCode && v.Type != tSymbol {
			return st.str(s), nil
		}
	case tObjectID:
		if v.Type == tString {
			s := v.Str()
			b, err := hex.DecodeString(s)
			if err != nil || len(b) != 12 {
				return missing, failed("Failed to parse objectId '%s'", s)
			}
			return st.keep(tObjectID, b), nil
		}
	case tBool:
		return boolean(v.Truthy()), nil
	case tDate:
		return convertDate(st, v)
	case tInt32, tInt64:
		return convertInt(st, v, t)
	case tDecimal:
		return convertDecimal(st, v)
	}
	return missing, unsupported(v, t)
}

func convertDouble(st *state, v bsonx.Value) (bsonx.Value, error) {
	switch v.Type {
	case tInt32, tInt64:
		return st.f64(float(v)), nil
	case tDecimal:
		d, f := readDecimal(v), float(v)
		if math.IsInf(f, 0) && d.Form == apd.Finite {
			return missing, failed("Conversion would overflow target type")
		}
		return st.f64(f), nil
	case tBool:
		return st.f64(boolFloat(v)), nil
	case tDate:
		return st.f64(float64(v.Int64())), nil
	case tString:
		s := v.Str()
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || strings.ContainsAny(s, "xX_pP") {
			return missing, failed("Failed to parse number '%s'", s)
		}
		return st.f64(f), nil
	}
	return missing, unsupported(v, tDouble)
}

func boolFloat(v bsonx.Value) float64 {
	if v.Bool() {
		return 1
	}
	return 0
}

func convertInt(st *state, v bsonx.Value, t bsonx.Type) (bsonx.Value, error) {
	var n int64
	switch v.Type {
	case tInt32, tInt64:
		n = integer(v)
	case tDouble:
		f := v.Double()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return missing, failed("Attempt to convert %s value to integer type", formatFloat(f))
		}
		if t == tInt32 && (f < math.MinInt32 || f > math.MaxInt32) || f < -0x1p63 || f >= 0x1p63 {
			return missing, failed("Conversion would overflow target type")
		}
		n = int64(f)
	case tDecimal:
		d := readDecimal(v)
		if d.Form != apd.Finite {
			return missing, failed("Attempt to convert %s value to integer type", v)
		}
		var err error
		if n, err = quantize(d, 0, apd.RoundDown).Int64(); err != nil {
			return missing, failed("Conversion would overflow target type")
		}
	case tBool:
		n = int64(boolFloat(v))
	case tDate:
		if t == tInt32 {
			return missing, unsupported(v, t)
		}
		n = v.Int64()
	case tString:
		s := v.Str()
		var err error
		if n, err = strconv.ParseInt(s, 10, 64); err != nil {
			return missing, failed("Failed to parse number '%s'", s)
		}
	default:
		return missing, unsupported(v, t)
	}
	if t == tInt64 {
		return st.i64(n), nil
	}
	if n != int64(int32(n)) {
		return missing, failed("Conversion would overflow target type")
	}
	return st.i32(int32(n)), nil
}

func convertDecimal(st *state, v bsonx.Value) (bsonx.Value, error) {
	switch v.Type {
	case tInt32, tInt64, tDouble:
		return st.decimal(toDecimal(v)), nil
	case tBool:
		return st.decimal(apd.New(int64(boolFloat(v)), 0)), nil
	case tDate:
		return st.decimal(apd.New(v.Int64(), 0)), nil
	case tString:
		s := v.Str()
		d, _, err := apd.NewFromString(s)
		if err != nil {
			return missing, failed("Failed to parse number '%s'", s)
		}
		return st.decimal(d), nil
	}
	return missing, unsupported(v, tDecimal)
}

func convertDate(st *state, v bsonx.Value) (bsonx.Value, error) {
	switch v.Type {
	case tInt64:
		return st.date(v.Int64()), nil
	case tDouble, tDecimal:
		f := float(v)
		if math.IsNaN(f) || math.Abs(f) >= 0x1p63 {
			return missing, failed("Conversion would overflow target type")
		}
		n, _ := v.TruncInt64()
		return st.date(n), nil
	case tObjectID:
		return st.date(oidSeconds(v) * 1000), nil
	case tTime:
		return st.date(int64(uint64(v.Int64())>>32) * 1000), nil
	case tString:
		ms, err := parseDate(v.Str(), "", nil)
		if err != nil {
			return missing, err
		}
		return st.date(ms), nil
	}
	return missing, unsupported(v, tDate)
}

func oidSeconds(v bsonx.Value) int64 {
	b := v.Data
	return int64(uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]))
}
