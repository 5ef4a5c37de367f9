package bsonx

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestKeyOrderIsCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genValue(2).Draw(t, "a"), genValue(2).Draw(t, "b")
		checkPair(t, a, b)
	})
}

func TestKeyOrderOfNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genNumber().Draw(t, "a"), genNumber().Draw(t, "b")
		checkPair(t, a, b)
		if got, want := sign(Compare(a, b)), ratCompare(a, b); got != want {
			t.Fatalf("Compare(%v, %v) = %d, exact values say %d", a, b, got, want)
		}
	})
}

func checkPair(t *rapid.T, a, b Value) {
	ka, kb := AppendKey(nil, a, false), AppendKey(nil, b, false)
	if got, want := bytes.Compare(ka, kb), sign(Compare(a, b)); got != want {
		t.Fatalf("keys of %v and %v order %d, values %d\n%x\n%x", a, b, got, want, ka, kb)
	}
	if len(ka) != len(kb) && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
		t.Fatalf("a key is a prefix of the other: %v %x, %v %x", a, ka, b, kb)
	}
	da, db := AppendKey(nil, a, true), AppendKey(nil, b, true)
	if got, want := bytes.Compare(da, db), -sign(Compare(a, b)); got != want {
		t.Fatalf("descending keys of %v and %v order %d, values %d", a, b, got, want)
	}
	if Compare(b, a) != -Compare(a, b) {
		t.Fatalf("Compare(%v, %v) is not antisymmetric", a, b)
	}
}

// ratCompare orders numbers by arithmetic that shares nothing with the keys.
func ratCompare(a, b Value) int {
	rank := func(v Value) (int, *big.Rat) {
		switch v.Type {
		case TypeDouble:
			f := v.Double()
			switch {
			case f != f:
				return -2, nil
			case math.IsInf(f, 0):
				return sign(int(math.Copysign(1, f))), nil
			}
			return 0, new(big.Rat).SetFloat64(f)
		case TypeDecimal128:
			d := decimalOf(v)
			switch {
			case d.kind == decNaN:
				return -2, nil
			case d.kind == decInf && d.neg:
				return -1, nil
			case d.kind == decInf:
				return 1, nil
			}
			r := d.rat()
			if d.neg {
				r.Neg(r)
			}
			return 0, r
		}
		n, _ := v.AsInt64()
		return 0, new(big.Rat).SetInt64(n)
	}
	ra, va := rank(a)
	rb, vb := rank(b)
	if ra != 0 || rb != 0 {
		return sign(ra - rb)
	}
	return va.Cmp(vb)
}

func TestDecodeKeyIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.SliceOfN(genValue(2), 1, 4).Draw(t, "fields")
		desc := rapid.SliceOfN(rapid.Bool(), len(fields), len(fields)).Draw(t, "desc")
		if rapid.Bool().Draw(t, "missing") {
			fields[0] = Value{}
		}
		var key, tb []byte
		doc := BeginDoc(nil)
		for i, v := range fields {
			start := len(key)
			key = AppendKey(key, v, desc[i])
			tb = AppendTypeBits(tb, v)
			if n, err := SkipKey(key[start:], desc[i]); err != nil || n != len(key)-start {
				t.Fatalf("SkipKey of %v: %d, %v, want %d", v, n, err, len(key)-start)
			}
			doc = AppendElem(doc, "f", v)
		}
		doc = EndDoc(doc, 0)
		tb = bytes.Clone(TrimTypeBits(tb))
		k, b := key, tb
		again := BeginDoc(nil)
		for i, want := range fields {
			got, restKey, restTB, err := DecodeKey(k, b, desc[i])
			if err != nil || got.Type != want.Type || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("field %d: %v %x, %v; want %v %x", i, got, got.Data, err, want, want.Data)
			}
			if again, _, _, err = AppendDecodedElem(again, "f", k, b, desc[i]); err != nil {
				t.Fatal(err)
			}
			k, b = restKey, restTB
		}
		if len(k) != 0 || len(b) != 0 {
			t.Fatalf("left over: key %x, type bits %x", k, b)
		}
		if again = EndDoc(again, 0); !bytes.Equal(again, doc) {
			t.Fatalf("document from keys %x, want %x", again, doc)
		}
	})
}

func TestCommonTypesHaveNoTypeBits(t *testing.T) {
	var tb []byte
	for _, v := range []Value{
		Int32(5), String("x"), ObjectID([12]byte{1}), Null(), Bool(true), Date(7), Array(Int32(1), String("a")),
		MinKey(), MaxKey(), Undefined(), Regex("a", "i"), Binary(0, []byte("b")), Timestamp(1, 2),
	} {
		tb = AppendTypeBits(tb, v)
	}
	if tb = TrimTypeBits(tb); len(tb) != 0 {
		t.Errorf("type bits %x, want none", tb)
	}
}

func TestKeyIsShort(t *testing.T) {
	for _, c := range []struct {
		v   Value
		max int
	}{
		{Int32(0), 1},
		{Int32(127), 2},
		{Int32(-127), 2},
		{Double(127), 2},
		{Int64(32767), 3},
		{Int32(1_000_000), 4},
		{Int32(math.MinInt32), 6},
		{Double(0.1), 9},
		{Double(1234.5678), 9},
		{Int64(math.MaxInt64), 9},
		{String("abc"), 5},
		{ObjectID([12]byte{}), 13},
		{Null(), 1},
		{Bool(true), 1},
		{Date(0), 9},
	} {
		if k := AppendKey(nil, c.v, false); len(k) > c.max {
			t.Errorf("key of %v has %d bytes, want at most %d", c.v, len(k), c.max)
		}
	}
}

func TestKeyBracketsHoldTheirTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(1).Draw(t, "v")
		k := AppendKey(nil, v, false)
		c := Canon(v.Type)
		if bytes.Compare(KeyMin(c), k) > 0 || bytes.Compare(k, KeyMax(c)) >= 0 {
			t.Fatalf("%x of %v is outside [%x, %x)", k, v, KeyMin(c), KeyMax(c))
		}
		w := genValue(1).Draw(t, "w")
		if kw := AppendKey(nil, w, false); Canon(w.Type) != c && bytes.Compare(KeyMin(c), kw) <= 0 && bytes.Compare(kw, KeyMax(c)) < 0 {
			t.Fatalf("%x of %v is inside the bracket of %v", kw, w, v)
		}
	})
}

func TestKeySuccessorBoundsTheEqualKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := genValue(1).Draw(t, "a"), genValue(1).Draw(t, "b"), genValue(1).Draw(t, "c")
		desc := rapid.Bool().Draw(t, "desc")
		lo := AppendKey(nil, a, desc)
		hi := KeySuccessor(lo)
		k := AppendKey(AppendKey(nil, b, desc), c, false)
		in := bytes.Compare(lo, k) <= 0 && bytes.Compare(k, hi) < 0
		if in != Equal(a, b) {
			t.Fatalf("%x in [%x, %x) is %v; %v and %v", k, lo, hi, in, a, b)
		}
	})
	if got := KeySuccessor([]byte{0xff, 0xff}); got != nil {
		t.Errorf("successor of FF FF is %x, want none", got)
	}
	if got := KeySuccessor([]byte{1, 0xff}); !bytes.Equal(got, []byte{2}) {
		t.Errorf("successor of 01 FF is %x, want 02", got)
	}
}

func TestHotKeysMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, s := rapid.Int64().Draw(t, "n"), genText().Draw(t, "s")
		f, desc := rapid.Float64().Draw(t, "f"), rapid.Bool().Draw(t, "desc")
		for _, c := range []struct{ got, want []byte }{
			{AppendKeyInt64(nil, n, desc), AppendKey(nil, Int64(n), desc)},
			{AppendKeyInt64(nil, int64(int32(n)), desc), AppendKey(nil, Int32(int32(n)), desc)},
			{AppendKeyDouble(nil, f, desc), AppendKey(nil, Double(f), desc)},
			{AppendKeyString(nil, s, desc), AppendKey(nil, String(s), desc)},
		} {
			if !bytes.Equal(c.got, c.want) {
				t.Fatalf("%x, want %x", c.got, c.want)
			}
		}
	})
}

func FuzzDecodeKey(f *testing.F) {
	for _, v := range samples() {
		f.Add(AppendKey(nil, v, false), AppendTypeBits(nil, v), false)
		f.Add(AppendKey(nil, v, true), AppendTypeBits(nil, v), true)
	}
	f.Fuzz(func(t *testing.T, key, tb []byte, desc bool) {
		n, skipErr := SkipKey(key, desc)
		v, restKey, _, err := DecodeKey(key, tb, desc)
		if err != nil {
			return
		}
		if skipErr != nil || n != len(key)-len(restKey) {
			t.Fatalf("decoded %d bytes, skipped %d, %v", len(key)-len(restKey), n, skipErr)
		}
		if v.Type == Missing {
			return
		}
		d := EndDoc(AppendElem(BeginDoc(nil), "v", v), 0)
		if err := Validate(d, maxKeyDepth+2); err != nil {
			t.Fatalf("decoded to an invalid value: %v", err)
		}
	})
}

func FuzzKeyRoundTrip(f *testing.F) {
	for _, v := range samples() {
		f.Add(EndDoc(AppendElem(BeginDoc(nil), "v", v), 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if Validate(b, 200) != nil {
			return
		}
		v := DocValue(b)
		got, rest, _, err := DecodeKey(AppendKey(nil, v, false), TrimTypeBits(AppendTypeBits(nil, v)), false)
		if err != nil || len(rest) != 0 || !bytes.Equal(got.Data, b) {
			t.Fatalf("%x came back as %x, %v", b, got.Data, err)
		}
	})
}

// samples has one or more values of every type.
func samples() []Value {
	oid := [12]byte{1, 2, 3}
	doc := Doc(EndDoc(AppendElem(AppendElem(BeginDoc(nil), "a", Int32(1)), "b", String("x")), 0))
	return []Value{
		MinKey(), Undefined(), Null(), Int32(0), Int32(-5), Int64(1 << 40), Double(1.5), Double(-0.1), Double(1e300),
		Double(math.NaN()), Double(math.Inf(-1)), Double(math.Copysign(0, -1)),
		decimal{lo: 100, exp: -2}.value(), decimal{lo: 1, exp: 40}.value(), decimal{lo: 1, exp: -1, neg: true}.value(),
		String(""), String("a\x00b\x01"), Symbol("s"), DocValue(doc), DocValue(Empty), Array(Int32(1), Null(), DocValue(doc)),
		ArrayValue(doc), Binary(0, []byte("bin")), Binary(5, make([]byte, 300)), ObjectID(oid), Bool(false), Bool(true),
		Date(-5), Timestamp(1, 2), Regex("a", "i"), DBPointer("db.c", oid), JavaScript("f()"), CodeWithScope("f()", doc), MaxKey(),
	}
}
