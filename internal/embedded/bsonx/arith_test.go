package bsonx

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"
)

func mustDecimal(t *testing.T, s string) Value {
	t.Helper()
	v, err := ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestArithmetic(t *testing.T) {
	d := func(s string) Value { return mustDecimal(t, s) }
	add, sub, mul := Add, Sub, Mul
	for name, c := range map[string]struct {
		op   func(a, b Value) Value
		a, b Value
		want Value
	}{
		"ints":                 {add, Int32(1), Int32(2), Int32(3)},
		"int grows":            {add, Int32(math.MaxInt32), Int32(1), Int64(1 << 31)},
		"int shrinks":          {sub, Int32(math.MinInt32), Int32(1), Int64(-1<<31 - 1)},
		"int and long":         {add, Int32(1), Int64(2), Int64(3)},
		"long grows":           {add, Int64(math.MaxInt64), Int64(1), Double(1 << 63)},
		"long grows down":      {add, Int64(math.MinInt64), Int64(math.MinInt64), Double(-1 << 64)},
		"long minus":           {sub, Int64(math.MinInt64), Int32(1), Double(-1 << 63)},
		"long minus min":       {sub, Int64(0), Int64(math.MinInt64), Double(1 << 63)},
		"min minus min":        {sub, Int64(math.MinInt64), Int64(math.MinInt64), Int64(0)},
		"int times int":        {mul, Int32(1 << 20), Int32(1 << 20), Int64(1 << 40)},
		"long times long":      {mul, Int64(1 << 40), Int64(1 << 40), Double(1 << 80)},
		"long times negative":  {mul, Int64(1 << 32), Int64(-1 << 31), Int64(math.MinInt64)},
		"long times -1":        {mul, Int64(math.MinInt64), Int32(-1), Double(1 << 63)},
		"double":               {add, Int32(1), Double(0.5), Double(1.5)},
		"double and long":      {mul, Double(0.5), Int64(3), Double(1.5)},
		"decimal keeps zeros":  {add, d("1.10"), d("2.2"), d("3.30")},
		"decimal and int":      {add, d("0.1"), Int32(1), d("1.1")},
		"decimal and double":   {mul, d("2"), Double(0.1), d("0.200000000000000")},
		"decimal minus":        {sub, d("1"), d("1.00"), d("0.00")},
		"decimal rounds":       {add, d("9999999999999999999999999999999999"), d("0.5"), d("1.000000000000000000000000000000000E+34")},
		"decimal overflows":    {mul, d("9E+6144"), Int32(10), d("Infinity")},
		"decimal underflows":   {mul, d("1E-6176"), d("0.1"), d("0E-6176")},
		"decimal NaN":          {add, d("NaN"), Int32(1), d("NaN")},
		"infinities":           {sub, d("Infinity"), d("Infinity"), d("NaN")},
		"infinity wins":        {add, d("-Infinity"), Double(5), d("-Infinity")},
		"quotient":             {DecimalQuo, d("1"), d("3"), d("0.3333333333333333333333333333333333")},
		"remainder":            {DecimalRem, d("-7"), d("3"), d("-1")},
		"decimal of a long":    {mul, d("1"), Int64(math.MinInt64), d("-9223372036854775808")},
		"decimal of a max int": {add, d("0"), Int64(math.MaxInt64), d("9223372036854775807")},
	} {
		if got := c.op(c.a, c.b); got.Type != c.want.Type || !bytes.Equal(got.Data, c.want.Data) {
			t.Errorf("%s: %v (%s), want %v (%s)", name, got, TypeName(got.Type), c.want, TypeName(c.want.Type))
		}
	}
}

func TestToDecimal(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Int32(5), "5"},
		{Int64(-1 << 40), "-1099511627776"},
		{Double(2.5), "2.50000000000000"},
		{Double(0), "0"},
		{Double(0.1), "0.100000000000000"},
		{Double(-1e300), "-1.00000000000000E+300"},
		{Double(math.Inf(-1)), "-Infinity"},
		{Double(nan()), "NaN"},
		{Double(123456789.123456789), "123456789.123457"},
		{Double(math.MaxFloat64), "1.79769313486232E+308"},
	} {
		if got := ToDecimal(c.v).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
		}
	}
	if _, err := ParseDecimal("x"); err == nil {
		t.Error("x is a decimal")
	}
}

func TestWholeArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.OneOf(rapid.SampledFrom(edges), rapid.Int64())
		x, y := whole.Draw(t, "x"), whole.Draw(t, "y")
		if rapid.Bool().Draw(t, "neg") {
			x, y = -x, -y
		}
		bx, by := big.NewInt(x), big.NewInt(y)
		for name, c := range map[string]struct {
			got  Value
			want *big.Int
		}{
			"add": {Add(Int64(x), Int64(y)), new(big.Int).Add(bx, by)},
			"sub": {Sub(Int64(x), Int64(y)), new(big.Int).Sub(bx, by)},
			"mul": {Mul(Int64(x), Int64(y)), new(big.Int).Mul(bx, by)},
		} {
			if c.want.IsInt64() {
				if c.got.Type != TypeInt64 || c.got.Int64() != c.want.Int64() {
					t.Fatalf("%s %d, %d: %v, want %v", name, x, y, c.got, c.want)
				}
				continue
			}
			f, _ := new(big.Float).SetInt(c.want).Float64()
			// A product of rounded factors may be one step off.
			if c.got.Type != TypeDouble || math.Abs(c.got.Double()-f) > math.Abs(f)*1e-15 || name != "mul" && c.got.Double() != f {
				t.Fatalf("%s %d, %d: %v, want %v", name, x, y, c.got, f)
			}
		}
	})
}

func TestDecimalPartsAgreeWithTheDriver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genNumber().Filter(func(v Value) bool { return v.Type == TypeDecimal128 }).Draw(t, "v")
		d := decimalOf(v)
		h, l := v.Decimal()
		p := primitive.NewDecimal128(h, l)
		if p.IsNaN() != (d.kind == decNaN) || (p.IsInf() != 0) != (d.kind == decInf) {
			t.Fatalf("%x: kind %d", v.Data, d.kind)
		}
		if d.kind != decFinite {
			return
		}
		c, exp, err := p.BigInt()
		if err != nil {
			t.Fatal(err)
		}
		if c.CmpAbs(pow10(decDigits)) < 0 && (c.CmpAbs(d.coeff()) != 0 || exp != d.exp) {
			t.Fatalf("%x: %v×10^%d, want %v×10^%d", v.Data, d.coeff(), d.exp, c, exp)
		}
		if back := FromAPD(ToAPD(v)); Compare(back, v) != 0 {
			t.Fatalf("%v came back as %v", v, back)
		}
		if f, _ := v.AsFloat(); d.exp > -400 && d.exp < 400 {
			r := d.rat()
			want, _ := r.Float64()
			if d.neg {
				want = -want
			}
			if f != want {
				t.Fatalf("%v as a double: %v, want %v", v, f, want)
			}
		}
	})
}
