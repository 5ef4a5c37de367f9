package bsonx

import (
	"bytes"
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"

	"mrbench/internal/embedded/mongoerr"
)

func nan() float64 { return math.NaN() }

// The driver writes a document of every type; the readers must see what it wrote.
func TestReadersAgreeWithTheDriver(t *testing.T) {
	oid := primitive.ObjectID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	dec, err := primitive.ParseDecimal128("12.50")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := bson.Marshal(bson.D{
		{Key: "double", Value: 1.5},
		{Key: "string", Value: "s"},
		{Key: "doc", Value: bson.D{{Key: "a", Value: int32(1)}}},
		{Key: "array", Value: bson.A{int32(1), "x"}},
		{Key: "bin", Value: primitive.Binary{Subtype: 5, Data: []byte("b")}},
		{Key: "undefined", Value: primitive.Undefined{}},
		{Key: "oid", Value: oid},
		{Key: "bool", Value: true},
		{Key: "date", Value: primitive.DateTime(77)},
		{Key: "null", Value: nil},
		{Key: "regex", Value: primitive.Regex{Pattern: "p", Options: "i"}},
		{Key: "ptr", Value: primitive.DBPointer{DB: "d.c", Pointer: oid}},
		{Key: "js", Value: primitive.JavaScript("f()")},
		{Key: "symbol", Value: primitive.Symbol("y")},
		{Key: "cws", Value: primitive.CodeWithScope{Code: "g()", Scope: bson.D{{Key: "a", Value: int32(2)}}}},
		{Key: "int", Value: int32(-7)},
		{Key: "ts", Value: primitive.Timestamp{T: 3, I: 4}},
		{Key: "long", Value: int64(1 << 40)},
		{Key: "dec", Value: dec},
		{Key: "min", Value: primitive.MinKey{}},
		{Key: "max", Value: primitive.MaxKey{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(raw, 10); err != nil {
		t.Fatal(err)
	}
	d := Doc(raw)
	if d.Len() != 21 {
		t.Errorf("%d elements", d.Len())
	}
	inner := func(n int32) Doc { return EndDoc(AppendElem(BeginDoc(nil), "a", Int32(n)), 0) }
	h, l := dec.GetBytes()
	for name, want := range map[string]Value{
		"double": Double(1.5), "string": String("s"), "doc": DocValue(inner(1)), "array": Array(Int32(1), String("x")),
		"bin": Binary(5, []byte("b")), "undefined": Undefined(), "oid": ObjectID(oid), "bool": Bool(true), "date": Date(77), "null": Null(),
		"regex": Regex("p", "i"), "ptr": DBPointer("d.c", oid), "js": JavaScript("f()"), "symbol": Symbol("y"),
		"cws": CodeWithScope("g()", inner(2)), "int": Int32(-7), "ts": Timestamp(3, 4), "long": Int64(1 << 40), "dec": Decimal(h, l),
		"min": MinKey(), "max": MaxKey(), "none": {},
	} {
		got := d.Get(name)
		if got.Type != want.Type || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: %v %x, want %v %x", name, got, got.Data, want, want.Data)
		}
		if f := NewFinder(name); f.Get(d).Type != want.Type || !bytes.Equal(f.Get(d).Data, want.Data) {
			t.Errorf("%s: finder %v, want %v", name, f.Get(d), want)
		}
	}
	if p, o := d.Get("regex").Regex(); p != "p" || o != "i" {
		t.Errorf("regex %q %q", p, o)
	}
	if ns, id := d.Get("ptr").DBPointer(); ns != "d.c" || id != oid {
		t.Errorf("pointer %q %x", ns, id)
	}
	if code, scope := d.Get("cws").CodeWithScope(); code != "g()" || !bytes.Equal(scope, inner(2)) {
		t.Errorf("code %q %v", code, scope)
	}
	if sub, b := d.Get("bin").Binary(); sub != 5 || string(b) != "b" {
		t.Errorf("binary %d %q", sub, b)
	}
	if id := d.Get("oid").ObjectID(); id != oid {
		t.Errorf("id %x", id)
	}
	const text = `{ double: 1.5, string: "s", doc: { a: 1 }, array: [ 1, "x" ], bin: BinData(5, 62), undefined: undefined, ` +
		`oid: ObjectId('0102030405060708090a0b0c'), bool: true, date: new Date(77), null: null, regex: /p/i, ` +
		`ptr: DBRef('d.c',0102030405060708090a0b0c), js: f(), symbol: "y", cws: CodeWScope( g(), { a: 2 }), int: -7, ` +
		`ts: Timestamp(3, 4), long: 1099511627776, dec: 12.50, min: MinKey, max: MaxKey }`
	if d.String() != text {
		t.Errorf("text\n%s, want\n%s", d, text)
	}
}

func TestFormatDouble(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 1e40: "1e+40", 1e-7: "1e-07", 123456789012: "123456789012.0", math.Inf(1): "inf", math.Inf(-1): "-inf",
		1e21: "1e+21", 1e15: "1000000000000000.0",
	} {
		if got := FormatDouble(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
	if got := FormatDouble(nan()); got != "NaN" {
		t.Errorf("NaN: %q", got)
	}
}

func TestTruthy(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want bool
	}{
		{Value{}, false},
		{Null(), false},
		{Undefined(), false},
		{Bool(false), false},
		{Bool(true), true},
		{Int32(0), false},
		{Int32(1), true},
		{Int64(0), false},
		{Int64(1 << 32), true},
		{Double(0), false},
		{Double(math.Copysign(0, -1)), false},
		{Double(nan()), true},
		{decimal{exp: 3}.value(), false},
		{decimal{kind: decNaN}.value(), true},
		{decimal{lo: 1, exp: -9}.value(), true},
		{String(""), true},
		{Array(), true},
		{DocValue(Empty), true},
		{Date(0), true},
		{MinKey(), true},
	} {
		if c.v.Truthy() != c.want {
			t.Errorf("%v: %v", c.v, !c.want)
		}
	}
}

func TestNumbersConvert(t *testing.T) {
	dec := func(s string) Value {
		v, err := ParseDecimal(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		v     Value
		f     float64
		n     int64
		whole bool
		trunc int64
	}{
		{Int32(-5), -5, -5, true, -5},
		{Int64(math.MaxInt64), 1 << 63, math.MaxInt64, true, math.MaxInt64},
		{Double(2.9), 2.9, 0, false, 2},
		{Double(-2.9), -2.9, 0, false, -2},
		{Double(1 << 63), 1 << 63, 0, false, math.MaxInt64},
		{Double(-1 << 63), -1 << 63, math.MinInt64, true, math.MinInt64},
		{Double(math.Inf(-1)), math.Inf(-1), 0, false, math.MinInt64},
		{dec("0.1"), 0.1, 0, false, 0},
		{dec("1.00"), 1, 1, true, 1},
		{dec("-12.5"), -12.5, 0, false, -12},
		{dec("1E+3"), 1000, 1000, true, 1000},
		{dec("1E+40"), 1e40, 0, false, math.MaxInt64},
		{dec("-1E+40"), -1e40, 0, false, math.MinInt64},
		{dec("9223372036854775807"), 1 << 63, math.MaxInt64, true, math.MaxInt64},
		{dec("9223372036854775808"), 1 << 63, 0, false, math.MaxInt64},
		{dec("-9223372036854775808"), -1 << 63, math.MinInt64, true, math.MinInt64},
		{dec("1E-400"), 0, 0, false, 0},
		{dec("1E+400"), math.Inf(1), 0, false, math.MaxInt64},
		{dec("-Infinity"), math.Inf(-1), 0, false, math.MinInt64},
		{dec("1.797693134862315807E+308"), math.MaxFloat64, 0, false, math.MaxInt64},
		{dec("4.9E-324"), math.SmallestNonzeroFloat64, 0, false, 0},
	} {
		if f, ok := c.v.AsFloat(); f != c.f || !ok {
			t.Errorf("%v as a double: %v", c.v, f)
		}
		if n, ok := c.v.AsInt64(); n != c.n || ok != c.whole {
			t.Errorf("%v as an int64: %d %v", c.v, n, ok)
		}
		if n, ok := c.v.TruncInt64(); n != c.trunc || !ok {
			t.Errorf("%v truncated: %d", c.v, n)
		}
	}
	for _, v := range []Value{String("1"), Null(), {}, Double(nan()), dec("NaN")} {
		if _, ok := v.TruncInt64(); ok {
			t.Errorf("%v truncates", v)
		}
		if _, ok := v.AsInt64(); ok {
			t.Errorf("%v is an int64", v)
		}
	}
}

func TestTypeNames(t *testing.T) {
	known := 0
	for i := range 256 {
		typ := Type(i)
		if !KnownType(typ) {
			continue
		}
		known++
		if got, ok := TypeByName(TypeName(typ)); !ok || got != typ {
			t.Errorf("type %d is %q, which is %d", typ, TypeName(typ), got)
		}
	}
	if known != 21 {
		t.Errorf("%d types", known)
	}
	for _, name := range []string{"number", "unknown", "", "Double"} {
		if _, ok := TypeByName(name); ok {
			t.Errorf("%q is a type", name)
		}
	}
}

func TestFinderIsGet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := NewFinder("a")
		for range rapid.IntRange(1, 6).Draw(t, "docs") {
			d := genDoc(1).Draw(t, "d")
			got, want := f.Get(d), d.Get("a")
			if got.Type != want.Type || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("finder %v, Get %v of %v", got, want, d)
			}
		}
	})
}

// A text that looks like the field must not be taken for it.
func TestFinderIsNotFooled(t *testing.T) {
	one := EndDoc(AppendElem(AppendElem(BeginDoc(nil), "s", String("12345678")), "dim0", Int32(1)), 0)
	fake := EndDoc(AppendElem(BeginDoc(nil), "s", String("12345678\x10dim0\x00\x07\x00\x00\x00")), 0)
	f := NewFinder("dim0")
	if v := f.Get(one); v.Int32() != 1 {
		t.Fatal(v)
	}
	if v := f.Get(fake); !v.IsMissing() {
		t.Errorf("found %v inside of a text", v)
	}
}

func TestReadsDoNotAllocate(t *testing.T) {
	d, f := benchDoc(), NewFinder("dim0")
	key := AppendKey(nil, Int32(7), false)
	buf := make([]byte, 0, 256)
	dec, dbl := decimal{lo: 1999, exp: -2}.value(), Double(19.99)
	f.Get(d)
	for name, fn := range map[string]func(){
		"get":             func() { d.Get("dim0") },
		"finder":          func() { f.Get(d) },
		"walk":            func() { walk(d) },
		"validate":        func() { _ = Validate(d, 200) },
		"key":             func() { AppendKey(buf, DocValue(d), true) },
		"decode":          func() { _, _, _, _ = AppendDecodedElem(buf, "dim0", key, nil, false) },
		"compare":         func() { CompareDocs(d, d) },
		"compare decimal": func() { Compare(dec, dbl) },
	} {
		if n := testing.AllocsPerRun(10, fn); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestGeneratedValuesAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDoc(3).Draw(t, "d")
		if err := Validate(d, 10); err != nil {
			t.Fatalf("%x: %v", d, err)
		}
		if err := bson.Raw(d).Validate(); err != nil {
			t.Fatalf("the driver refuses %x: %v", d, err)
		}
	})
}

func TestValidateRefuses(t *testing.T) {
	whole := EndDoc(AppendElem(BeginDoc(nil), "v", Array(samples()...)), 0)
	if err := Validate(whole, 4); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if Validate(whole[:n], 10) == nil {
			t.Errorf("accepts the first %d of %d bytes", n, len(whole))
		}
	}
	if err := Validate(append(bytes.Clone(whole), 0), 10); mongoerr.CodeOf(err) != mongoerr.InvalidBSON {
		t.Errorf("a byte behind the document: %v", err)
	}
	elem := func(typ byte, data string) []byte {
		return EndDoc(append(append(BeginDoc(nil), typ, 'x', 0), data...), 0)
	}
	for name, b := range map[string][]byte{
		"unknown type":             elem(0x20, "\x00\x00\x00\x00"),
		"boolean 2":                elem(8, "\x02"),
		"short int":                elem(16, "\x02\x00"),
		"string of length 0":       elem(2, "\x00\x00\x00\x00"),
		"negative string length":   elem(2, "\xff\xff\xff\xffa\x00"),
		"string not ended":         elem(2, "\x02\x00\x00\x00ab"),
		"string longer than all":   elem(2, "\xff\x00\x00\x00a\x00"),
		"negative binary":          elem(5, "\xff\xff\xff\xff\x00"),
		"regex without options":    elem(11, "abc\x00"),
		"document too short":       elem(3, "\x04\x00\x00\x00\x00"),
		"document without its end": elem(3, "\x05\x00\x00\x00\x01"),
		"document longer":          elem(3, "\x09\x00\x00\x00\x00"),
		"scope missing":            elem(15, "\x0e\x00\x00\x00\x06\x00\x00\x00abcde\x00"),
		"scope length off":         elem(15, "\x0f\x00\x00\x00\x02\x00\x00\x00a\x00\x06\x00\x00\x00\x00"),
		"pointer not ended":        elem(12, "\x02\x00\x00\x00abcccccccccccc"),
		"name not ended":           {8, 0, 0, 0, 10, 'a', 'b', 0},
		"empty":                    {},
		"length 0":                 {0, 0, 0, 0, 0},
		"negative length":          {0xff, 0xff, 0xff, 0xff, 0},
	} {
		if err := Validate(b, 10); mongoerr.CodeOf(err) != mongoerr.InvalidBSON {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateDepth(t *testing.T) {
	d := Empty
	for depth := 1; depth <= 20; depth++ {
		if err := Validate(d, depth); err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
		if err := Validate(d, depth-1); mongoerr.CodeOf(err) != mongoerr.Overflow {
			t.Errorf("depth %d with a limit of one less: %v", depth, err)
		}
		wrap := []func(Doc) Value{DocValue, ArrayValue, func(d Doc) Value { return CodeWithScope("f", d) }}[depth%3]
		d = EndDoc(AppendElem(BeginDoc(nil), "d", wrap(d)), 0)
	}
}

func FuzzIter(f *testing.F) {
	f.Add(EndDoc(AppendElem(BeginDoc(nil), "v", Array(samples()...)), 0))
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := Doc(b)
		NewFinder("v").Get(d)
		d.Get("v")
		n := 0
		it := d.Iter()
		for it.Next() {
			n += len(it.Elem())
			it.Name()
			it.Value()
		}
		if err := Validate(b, 100); err != nil {
			return
		}
		if n != len(b)-5 {
			t.Fatalf("walked %d of %d bytes", n, len(b)-5)
		}
		if err := bson.Raw(b).Validate(); err != nil {
			t.Fatalf("the driver refuses it: %v", err)
		}
		_ = d.String()
		if CompareDocs(d, d) != 0 {
			t.Fatal("not equal to itself")
		}
	})
}
