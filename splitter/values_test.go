package splitter

import (
	"math"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"
)

// raw makes a value; nil is null.
func raw(v any) bson.RawValue {
	if v == nil {
		return bson.RawValue{Type: bson.TypeNull}
	}
	t, b, err := bson.MarshalValue(v)
	if err != nil {
		panic(err)
	}
	return bson.RawValue{Type: t, Value: b}
}

func decimal(s string) primitive.Decimal128 {
	d, err := primitive.ParseDecimal128(s)
	if err != nil {
		panic(err)
	}
	return d
}

func oid(n byte) primitive.ObjectID { return primitive.ObjectID{11: n} }

// ascending is values of all types in MongoDB's order; those of one line are
// equal as range bounds. A zero value is a missing field.
var ascending = [][]bson.RawValue{
	{raw(primitive.MinKey{})},
	{raw(nil), raw(primitive.Undefined{}), {}},
	{raw(math.NaN()), raw(decimal("NaN"))},
	{raw(math.Inf(-1)), raw(decimal("-Infinity"))},
	{raw(decimal("-1E+40"))},
	{raw(int64(math.MinInt64)), raw(float64(math.MinInt64))},
	{raw(int32(-5)), raw(decimal("-5.0"))},
	{raw(int32(0)), raw(int64(0)), raw(0.0), raw(math.Copysign(0, -1)), raw(decimal("-0")), raw(decimal("0E+3")), raw(primitive.NewDecimal128(0x3041ffffffffffff, math.MaxUint64))},
	{raw(decimal("1E-300"))},
	{raw(int32(1)), raw(int64(1)), raw(1.0), raw(decimal("1"))},
	{raw(1.5), raw(decimal("1.50"))},
	{raw(float64(1 << 53))},
	{raw(int64(1<<53 + 1)), raw(decimal("9007199254740993"))},
	{raw(decimal("1E+40"))},
	{raw(math.MaxFloat64)},
	{raw(decimal("1E+6000"))},
	{raw(math.Inf(1))},
	{raw(""), raw(primitive.Symbol(""))},
	{raw("A")},
	{raw("a"), raw(primitive.Symbol("a"))},
	{raw("a\x00b")},
	{raw("aa")},
	{raw("é")},
	{raw(bson.D{})},
	{raw(bson.D{{Key: "a", Value: primitive.Undefined{}}})},
	{raw(bson.D{{Key: "b", Value: nil}})},
	{raw(bson.D{{Key: "a", Value: math.NaN()}})},
	{raw(bson.D{{Key: "a", Value: 1}}), raw(bson.D{{Key: "a", Value: 1.0}})},
	{raw(bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}})},
	{raw(bson.D{{Key: "a", Value: 2}})},
	{raw(bson.D{{Key: "b", Value: 1}})},
	{raw(bson.D{{Key: "a", Value: "x"}})},
	{raw(primitive.Binary{})},
	{raw(primitive.Binary{Data: []byte{0}})},
	{raw(primitive.Binary{Subtype: 5, Data: []byte{0}})},
	{raw(primitive.Binary{Data: []byte{0, 1}})},
	{raw(oid(0))},
	{raw(oid(1))},
	{raw(false)},
	{raw(true)},
	{raw(primitive.DateTime(math.MinInt64))},
	{raw(primitive.DateTime(-5))},
	{raw(primitive.DateTime(5))},
	{raw(primitive.Timestamp{I: 1})},
	{raw(primitive.Timestamp{T: 1})},
	{raw(primitive.Timestamp{T: 1 << 31})},
	{raw(primitive.Regex{})},
	{raw(primitive.Regex{Pattern: "a"})},
	{raw(primitive.Regex{Pattern: "a", Options: "i"})},
	{raw(primitive.Regex{Pattern: "b"})},
	{raw(primitive.DBPointer{DB: "a", Pointer: oid(1)})},
	{raw(primitive.DBPointer{DB: "b", Pointer: oid(1)})},
	{raw(primitive.DBPointer{DB: "aa", Pointer: oid(1)})},
	{raw(primitive.JavaScript(""))},
	{raw(primitive.JavaScript("f()"))},
	{raw(primitive.CodeWithScope{Scope: bson.D{}})},
	{raw(primitive.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "x", Value: 1}}})},
	{raw(primitive.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "x", Value: 2}}})},
	{raw(primitive.MaxKey{})},
}

// anyValue draws a value of any BSON type but array; a zero value is a missing field.
func anyValue() *rapid.Generator[bson.RawValue] {
	fixed := rapid.Custom(func(t *rapid.T) bson.RawValue {
		return rapid.SampledFrom(rapid.SampledFrom(ascending).Draw(t, "line")).Draw(t, "value")
	})
	random := rapid.Custom(func(t *rapid.T) bson.RawValue {
		switch rapid.IntRange(0, 9).Draw(t, "type") {
		case 0:
			return raw(rapid.Int32().Draw(t, "int"))
		case 1:
			return raw(rapid.Int64().Draw(t, "long"))
		case 2:
			return raw(rapid.Float64().Draw(t, "double"))
		case 3:
			return raw(primitive.NewDecimal128(rapid.Uint64().Draw(t, "high"), rapid.Uint64().Draw(t, "low")))
		case 4:
			return raw(rapid.String().Draw(t, "string"))
		case 5:
			return raw(primitive.Binary{Subtype: rapid.SampledFrom([]byte{0, 4, 5, 128}).Draw(t, "subtype"), Data: rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "data")})
		case 6:
			return raw(primitive.DateTime(rapid.Int64().Draw(t, "date")))
		case 7:
			return raw(primitive.Timestamp{T: rapid.Uint32().Draw(t, "t"), I: rapid.Uint32Min(1).Draw(t, "i")})
		case 8:
			return raw(bson.D{{Key: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), Value: rapid.Int32Range(-2, 2).Draw(t, "v")}})
		default:
			return raw(int32(rapid.IntRange(-3, 3).Draw(t, "small")))
		}
	})
	return rapid.OneOf(fixed, fixed, random)
}
