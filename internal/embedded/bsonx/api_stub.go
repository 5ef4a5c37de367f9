package bsonx

// This file is the agreed interface; it is replaced by the real files.

// IsMissing reports whether v is a missing field.
func (v Value) IsMissing() bool { return v.Type == Missing }

// IsNumber: double, int32, int64, decimal128.
func (v Value) IsNumber() bool { panic("todo") }

// IsNullish: null, undefined or missing.
func (v Value) IsNullish() bool { panic("todo") }

// Typed readers. They panic on a wrong type, as v.Type is known to the caller.
func (v Value) Int32() int32       { panic("todo") }
func (v Value) Int64() int64       { panic("todo") } // of an int64, date (ms) or timestamp
func (v Value) Double() float64    { panic("todo") }
func (v Value) Bool() bool         { panic("todo") }
func (v Value) Str() string        { panic("todo") } // string, symbol, JavaScript code; copies
func (v Value) StrBytes() []byte   { panic("todo") } // the same without copying
func (v Value) Doc() Doc           { panic("todo") } // document or array
func (v Value) Elems() Iter        { panic("todo") } // iterate a document or array
func (v Value) Binary() (subtype byte, data []byte)          { panic("todo") }
func (v Value) Regex() (pattern, options string)             { panic("todo") }
func (v Value) ObjectID() (oid [12]byte)                     { panic("todo") }
func (v Value) CodeWithScope() (code string, scope Doc)      { panic("todo") }
func (v Value) DBPointer() (ns string, oid [12]byte)         { panic("todo") }

// AsFloat converts any number (decimal rounded) to float64; ok is false for other types.
func (v Value) AsFloat() (f float64, ok bool) { panic("todo") }

// AsInt64 converts a number whose value is a whole number in int64 range; ok otherwise false.
func (v Value) AsInt64() (n int64, ok bool) { panic("todo") }

// TruncInt64 truncates any number toward zero, saturating; ok is false for other types and NaN.
func (v Value) TruncInt64() (n int64, ok bool) { panic("todo") }

// Truthy is MongoDB's boolean of a value: false, 0 of any type, null, undefined and missing are false.
func (v Value) Truthy() bool { panic("todo") }

// Clone copies Data.
func (v Value) Clone() Value { panic("todo") }

// String gives canonical-ish text of a value for messages, as the mongo shell prints it.
func (v Value) String() string { panic("todo") }

// Constructors.
func Int32(n int32) Value         { panic("todo") }
func Int64(n int64) Value         { panic("todo") }
func Double(f float64) Value      { panic("todo") }
func Bool(b bool) Value           { panic("todo") }
func String(s string) Value       { panic("todo") }
func Null() Value                 { panic("todo") }
func Date(ms int64) Value         { panic("todo") }
func DocValue(d Doc) Value        { panic("todo") }
func ArrayValue(d Doc) Value      { panic("todo") }
func MinKey() Value               { panic("todo") }
func MaxKey() Value               { panic("todo") }
func ObjectID(oid [12]byte) Value { panic("todo") }

// TypeName is MongoDB's alias: "int", "long", "double", "string", "object", "missing", ….
func TypeName(t Type) string { panic("todo") }

// TypeByName is the inverse; also "number" is not here (it is several types).
func TypeByName(name string) (Type, bool) { panic("todo") }

// Iter walks the elements of a document or array that is known to be valid.
//
//	for it := d.Iter(); it.Next(); { it.Name(); it.Value() }
type Iter struct{ rest, name []byte; val Value }

func (d Doc) Iter() Iter           { panic("todo") }
func (it *Iter) Next() bool        { panic("todo") }
func (it *Iter) Name() []byte      { panic("todo") } // aliases the document
func (it *Iter) Value() Value      { panic("todo") } // aliases the document

// Get returns the first field of that name, or a missing Value.
func (d Doc) Get(name string) Value { panic("todo") }

// Len counts the elements.
func (d Doc) Len() int { panic("todo") }

// Finder reads one field of many documents of like shape: it remembers where
// the field stood last time and looks there first.
type Finder struct{ name string; hint int }

func NewFinder(name string) *Finder          { panic("todo") }
func (f *Finder) Get(d Doc) Value            { panic("todo") }

// Validate checks that b is one well-formed document (lengths, terminators, UTF-8 of names
// and strings not required), nested at most maxDepth levels; it must never panic on any input.
func Validate(b []byte, maxDepth int) error { panic("todo") }

// Empty is the empty document.
var Empty = Doc{5, 0, 0, 0, 0}

// AppendElem appends an element to a document under construction: type, name, NUL, data.
// Use with bsoncore.AppendDocumentStart / AppendDocumentEnd (bsoncore has typed appenders too).
func AppendElem(dst []byte, name string, v Value) []byte { panic("todo") }

// Compare orders two values as MongoDB sorts: MinKey, undefined/null/missing, numbers (NaN first), strings/symbols,
// documents, arrays, binary (length, subtype, bytes), ObjectId, booleans, dates, timestamps, regex, DBPointer,
// code, code with scope, MaxKey. (In MongoDB missing sorts together with null here; use CompareAgg for
// aggregation expressions, where missing < null and undefined is its own.)
func Compare(a, b Value) int    { panic("todo") }
func CompareAgg(a, b Value) int { panic("todo") }

// CompareDocs compares element by element: canonical type, then name, then value.
func CompareDocs(a, b Doc) int { panic("todo") }

// Equal is Compare(a,b)==0 for values where null, undefined and missing are told apart from each other only by Compare's rules.
func Equal(a, b Value) bool { panic("todo") }

// Canon is the rank of a type's bracket in the sort order; types of one bracket compare with each other
// in filters ($lt and friends never cross brackets).
func Canon(t Type) int { panic("todo") }

// ---- order-preserving keys ----

// AppendKey appends v's encoding: bytes.Compare of two encodings is Compare of the values
// (and 0 exactly when Compare is 0). No encoding is a prefix of another, so
// encodings may be concatenated. desc inverts every byte.
func AppendKey(dst []byte, v Value, desc bool) []byte { panic("todo") }

// AppendTypeBits appends what AppendKey loses of v (int32/int64/double/decimal, -0, trailing zeros,
// string/symbol, null/undefined/missing, also inside documents and arrays); for the common case (int32, string, ObjectId,
// null, bool, date, …) it appends nothing when tb is still empty and may be elided: the bits of a
// key of several fields are appended in order, then finished by TrimTypeBits.
func AppendTypeBits(tb []byte, v Value) []byte { panic("todo") }

// DecodeKey reads one value from key (inverted if desc) and its type bits, giving back the original byte for byte.
// It returns the rest of both. A nil/exhausted tb means all common types.
func DecodeKey(key, tb []byte, desc bool) (v Value, restKey, restTB []byte, err error) { panic("todo") }

// SkipKey returns the length of the first encoding in key.
func SkipKey(key []byte, desc bool) (int, error) { panic("todo") }

// KeyMin and KeyMax bracket a canonical type in key space: every encoding of a value of v's bracket k has
// KeyMin(canon) <= k < KeyMax(canon).
func KeyMin(canon int) []byte { panic("todo") }
func KeyMax(canon int) []byte { panic("todo") }

// ---- arithmetic with MongoDB's type promotion: int32 → int64 on overflow → double; decimal wins ----

// Add, Sub, Mul of two numbers (callers check IsNumber).
func Add(a, b Value) Value { panic("todo") }
func Sub(a, b Value) Value { panic("todo") }
func Mul(a, b Value) Value { panic("todo") }
