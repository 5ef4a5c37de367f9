package expr

import (
	"math"

	"github.com/cockroachdb/apd/v3"

	"mrbench/internal/embedded/bsonx"
)

func opAdd(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	if len(a) == 2 && a[0].Type == tInt32 && a[1].Type == tInt32 {
		return st.intOrLong(int64(a[0].Int32()) + int64(a[1].Int32())), nil
	}
	var s Sum
	isDate := false
	for _, v := range a {
		switch {
		case isNumber(v.Type):
			s.Add(v)
		case v.Type == tDate:
			if isDate {
				return missing, errf(16612, "only one date allowed in an $add expression")
			}
			isDate = true
			s.AddInt(v.Int64())
		case nullish(v):
			return null, nil
		default:
			return missing, errf(16554, "$add only supports numeric or date types, not %s", typeName(v))
		}
	}
	if isDate {
		return sumAsDate(st, &s)
	}
	return s.result(st), nil
}

// sumAsDate rounds a sum of milliseconds to a date as MongoDB's two-double sum does: the sum to the nearest whole
// number, then what that left over. Halves so end at the lower one of two positive neighbours.
func sumAsDate(st *state, s *Sum) (bsonx.Value, error) {
	overflow := errf(15, "date overflow in $add")
	switch {
	case s.rank <= rankInt64:
		if n, ok := s.int64(); ok {
			return st.date(n), nil
		}
		return missing, overflow
	case s.rank == rankDecimal:
		n, err := quantize(s.decimal(), 0, apd.RoundHalfEven).Int64()
		if err != nil {
			return missing, overflow
		}
		return st.date(n), nil
	}
	hi, lo := s.parts()
	if math.IsNaN(hi) || math.Abs(hi) >= 0x1p63 {
		return missing, overflow
	}
	n := math.Round(hi)
	return st.date(int64(n) + int64(math.Round(hi-n+lo))), nil
}

func opSubtract(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	l, r := a[0], a[1]
	switch {
	case isNumber(l.Type) && isNumber(r.Type):
		return subtract(st, l, r), nil
	case nullish(l) || nullish(r):
		return null, nil
	case l.Type == tDate && r.Type == tDate:
		n := l.Int64() - r.Int64()
		if (l.Int64() >= 0) != (r.Int64() >= 0) && (n >= 0) != (l.Int64() >= 0) {
			return missing, errf(15, "date overflow in $subtract")
		}
		return st.i64(n), nil
	case l.Type == tDate && isNumber(r.Type):
		return dateMinus(st, l.Int64(), r)
	case l.Type == tDate:
		return missing, errf(16613, "can't $subtract %s from Date", typeName(r))
	}
	return missing, errf(16556, "can't $subtract %s from %s", typeName(r), typeName(l))
}

// dateMinus takes a number of milliseconds off a date: a double is cut to a whole number, a decimal rounded.
func dateMinus(st *state, ms int64, r bsonx.Value) (bsonx.Value, error) {
	n, ok := r.TruncInt64()
	if r.Type == tDecimal {
		var err error
		n, err = quantize(readDecimal(r), 0, apd.RoundHalfEven).Int64()
		ok = err == nil
	}
	if f := float(r); !ok || math.IsNaN(f) || math.Abs(f) >= 0x1p63 {
		return missing, errf(15, "date overflow in $subtract")
	}
	return st.date(ms - n), nil
}

func subtract(st *state, l, r bsonx.Value) bsonx.Value {
	switch wider(l.Type, r.Type) {
	case tDecimal:
		d := new(apd.Decimal)
		_, _ = decimalContext().Sub(d, toDecimal(l), toDecimal(r))
		return st.decimal(d)
	case tDouble:
		return st.f64(float(l) - float(r))
	case tInt32:
		return st.intOrLong(integer(l) - integer(r))
	}
	x, y := integer(l), integer(r)
	n := x - y
	if (x >= 0) != (y >= 0) && (n >= 0) != (x >= 0) {
		return st.f64(float64(x) - float64(y))
	}
	return st.i64(n)
}

func opMultiply(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
	acc := st.i32(1)
	for _, v := range a {
		switch {
		case isNumber(v.Type):
			acc = multiply(st, acc, v)
		case nullish(v):
			return null, nil
		default:
			return missing, errf(16555, "$multiply only supports numeric types, not %s", typeName(v))
		}
	}
	return acc, nil
}

func multiply(st *state, l, r bsonx.Value) bsonx.Value {
	t := wider(l.Type, r.Type)
	switch t {
	case tDecimal:
		d := new(apd.Decimal)
		_, _ = decimalContext().Mul(d, toDecimal(l), toDecimal(r))
		return st.decimal(d)
	case tDouble:
		return st.f64(float(l) * float(r))
	}
	n, over := mulOverflows(integer(l), integer(r))
	switch {
	case over:
		return st.f64(float(l) * float(r))
	case t == tInt32:
		return st.intOrLong(n)
	}
	return st.i64(n)
}

func opDivide(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	l, r := a[0], a[1]
	switch {
	case isNumber(l.Type) && isNumber(r.Type):
		if wider(l.Type, r.Type) == tDecimal {
			d := toDecimal(r)
			if d.IsZero() {
				return missing, errf(16608, "can't $divide by zero")
			}
			return st.decimal(quotient(toDecimal(l), d)), nil
		}
		if float(r) == 0 {
			return missing, errf(16608, "can't $divide by zero")
		}
		return st.f64(float(l) / float(r)), nil
	case nullish(l) || nullish(r):
		return null, nil
	}
	return missing, errf(16609, "$divide only supports numeric types, not %s and %s", typeName(l), typeName(r))
}

func opMod(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	l, r := a[0], a[1]
	if !isNumber(l.Type) || !isNumber(r.Type) {
		if nullish(l) || nullish(r) {
			return null, nil
		}
		return missing, errf(16611, "$mod only supports numeric types, not %s and %s", typeName(l), typeName(r))
	}
	t := wider(l.Type, r.Type)
	if t == tDecimal {
		d, m := toDecimal(r), new(apd.Decimal)
		if d.IsZero() {
			return missing, errf(16610, "can't $mod by zero")
		}
		_, _ = decimalContext().Rem(m, toDecimal(l), d)
		return st.decimal(m), nil
	}
	y := float(r)
	if y == 0 {
		return missing, errf(16610, "can't $mod by zero")
	}
	if _, ok := whole32(r); l.Type == tDouble || r.Type == tDouble && !ok {
		return st.f64(math.Mod(float(l), y)), nil
	}
	if r.Type == tDouble { // a whole double leaves whole numbers whole
		t, r = l.Type, bsonx.Int64(int64(y))
	}
	m := int64(0)
	if d := integer(r); d != -1 { // the smallest int64 % -1
		m = integer(l) % d
	}
	if t == tInt32 {
		return st.i32(int32(m)), nil
	}
	return st.i64(m), nil
}
