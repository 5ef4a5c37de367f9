package splitter

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// Range is [Lo, Hi) of the field Key in MongoDB's sort order. A zero Lo (no
// type) is from the very beginning, a zero Hi to the very end; both zero: everything.
type Range struct {
	Key    string
	Lo, Hi bson.RawValue

	// Then continues a compound key: the bounds are (Lo, Then[0].Lo, …) and
	// (Hi, Then[0].Hi, …), compared field by field. nil: ranges of Key alone, which keep all documents of a key together.
	Then []Field

	// present has a bit for each bracket that the collection was seen to hold,
	// set by Split: its proof counts with the same filters. 0: nothing is known.
	present uint32
}

// Field is a further field of a compound key with its part of the bounds; a zero
// value stands before all values of the field.
type Field struct {
	Key        string
	Descending bool // sorted against the first field
	Lo, Hi     bson.RawValue

	present uint32
}

func zero(v bson.RawValue) bool { return v.Type == 0 && v.Value == nil }

// Everything says that the range has no bounds.
func (r Range) Everything() bool { return zero(r.Lo) && zero(r.Hi) }

// Contains says whether a document with these values, one for each field of the
// key, is in the range; a zero value is a missing field. It is what Filter asks the server.
func (r Range) Contains(values ...bson.RawValue) bool {
	l, lo, hi := r.parts()
	v := make(point, len(l))
	copy(v, values)
	for i := range v {
		if zero(v[i]) {
			v[i] = bson.RawValue{Type: bson.TypeNull}
		}
	}
	return !l.below(v, lo) && (zero(r.Hi) || l.below(v, hi))
}

// join makes one range of two neighbours.
func join(a, b Range) Range {
	b.Lo = a.Lo
	b.Then = slices.Clone(b.Then)
	for i := range b.Then {
		b.Then[i].Lo = a.Then[i].Lo
	}
	return b
}

// parts is the range as its fields and its two bounds.
func (r Range) parts() (l layout, lo, hi point) {
	l, lo, hi = layout{{key: r.Key, present: r.present}}, point{r.Lo}, point{r.Hi}
	for _, f := range r.Then {
		l = append(l, field{key: f.Key, descending: f.Descending, present: f.present})
		lo, hi = append(lo, f.Lo), append(hi, f.Hi)
	}
	return l, lo, hi
}

// below says that values lie below a bound, of which zero values lie before everything.
func (l layout) below(v, bound point) bool {
	for i, f := range l {
		if zero(bound[i]) {
			return false
		}
		c := Compare(v[i], bound[i])
		if f.descending {
			c = -c
		}
		if c != 0 {
			return c < 0
		}
	}
	return false
}

// From is the lower end for people; an open one is MinKey. The values of a compound key are in parentheses.
func (r Range) From() string {
	_, lo, _ := r.parts()
	return lo.text("MinKey")
}

// To is the upper end for people; an open one is MaxKey.
func (r Range) To() string {
	_, _, hi := r.parts()
	return hi.text("MaxKey")
}

func (p point) text(open string) string {
	var parts []string
	for _, v := range p {
		if zero(v) {
			break
		}
		parts = append(parts, Text(v))
	}
	switch {
	case len(parts) == 0:
		return open
	case len(p) == 1:
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// String is "[lo, hi)" for people, and the
// last range "[lo, MaxKey]", for it has the documents of MaxKey too.
func (r Range) String() string {
	if zero(r.Hi) {
		return "[" + r.From() + ", MaxKey]"
	}
	return "[" + r.From() + ", " + r.To() + ")"
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
