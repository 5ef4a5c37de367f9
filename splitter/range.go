package splitter

import (
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// Range is [Lo, Hi) of the field Key in MongoDB's sort order. A zero Lo (no
// type) is from the very beginning, a zero Hi to the very end; both zero: everything.
type Range struct {
	Key    string
	Lo, Hi bson.RawValue

	// present has a bit for each bracket that the collection was seen to hold,
	// set by Split: its proof counts with the same filters. 0: nothing is known.
	present uint32
}

func zero(v bson.RawValue) bool { return v.Type == 0 && v.Value == nil }

// Everything says that the range has no bounds.
func (r Range) Everything() bool { return zero(r.Lo) && zero(r.Hi) }

// Contains says whether a value is in the range; a zero value is a missing field.
// It is what Filter asks the server.
func (r Range) Contains(v bson.RawValue) bool {
	if zero(v) {
		v = bson.RawValue{Type: bson.TypeNull}
	}
	return (zero(r.Lo) || Compare(v, r.Lo) >= 0) && (zero(r.Hi) || Compare(v, r.Hi) < 0)
}

// String is "[lo, hi)" for people; an open end is shown as MinKey or MaxKey, and
// the last range as "[lo, MaxKey]", for it has the documents of MaxKey too.
func (r Range) String() string {
	lo, hi := "MinKey", "MaxKey]"
	if !zero(r.Lo) {
		lo = Text(r.Lo)
	}
	if !zero(r.Hi) {
		hi = Text(r.Hi) + ")"
	}
	return "[" + lo + ", " + hi
}

// Text is a BSON value for people: numbers bare, strings in quotes, the rest as
// the shell writes it where that is short, else as Extended JSON.
func Text(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeMinKey:
		return "MinKey"
	case bson.TypeMaxKey:
		return "MaxKey"
	case bson.TypeNull:
		return "null"
	case bson.TypeUndefined:
		return "undefined"
	case bson.TypeInt32:
		return strconv.Itoa(int(v.Int32()))
	case bson.TypeInt64:
		return strconv.FormatInt(v.Int64(), 10)
	case bson.TypeDouble:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case bson.TypeDecimal128:
		return v.Decimal128().String()
	case bson.TypeString:
		return strconv.Quote(v.StringValue())
	case bson.TypeSymbol:
		return "Symbol(" + strconv.Quote(v.Symbol()) + ")"
	case bson.TypeBoolean:
		return strconv.FormatBool(v.Boolean())
	case bson.TypeObjectID:
		return `ObjectId("` + v.ObjectID().Hex() + `")`
	case bson.TypeDateTime:
		return `ISODate("` + time.UnixMilli(v.DateTime()).UTC().Format("2006-01-02T15:04:05.999Z07:00") + `")`
	case 0:
		return "missing"
	default:
		return v.String()
	}
}
