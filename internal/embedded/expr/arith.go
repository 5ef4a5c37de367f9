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

func sumAsDate(st *state, s *Sum) (bsonx.Value, error) {
	if s.rank <= rankInt64 {
		if n, ok := s.int64(); ok {
			return st.date(n), nil
		}
		return missing, errf(15, "date overflow in $add")
	}
	v := s.result(st)
	f := float(v)
	if math.IsNaN(f) || math.Abs(f) >= 0x1p63 {
		return missing, errf(15, "date overflow in $add")
	}
	if s.rank == rankDecimal {
		n, _ := v.TruncInt64()
		return st.date(n), nil
	}
	return st.date(int64(math.Round(f))), nil
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
		var s Sum
		s.AddInt(l.Int64())
		neg := subtract(st, bsonx.Int32(0), r)
		s.Add(neg)
		return sumAsDate(st, &s)
	case l.Type == tDate:
		return missing, errf(16613, "can't $subtract %s from Date", typeName(r))
	}
	return missing, errf(16556, "can't $subtract %s from %s", typeName(r), typeName(l))
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

func opMultiply(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
	acc := st.i32(1)
	isNull := false
	for _, v := range a {
		switch {
		case isNumber(v.Type):
			if !isNull {
				acc = multiply(st, acc, v)
			}
		case nullish(v):
			isNull = true
		default:
			return missing, errf(16555, "$multiply only supports numeric types, not %s", typeName(v))
		}
	}
	if isNull {
		return null, nil
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
	if t == tDouble {
		return st.f64(math.Mod(float(l), y)), nil
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
