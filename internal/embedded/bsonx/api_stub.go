package bsonx

// This file is the agreed interface; it is replaced by the real files.

// AppendTypeBits appends what AppendKey loses of v (int32/int64/double/decimal, -0, trailing zeros,
// string/symbol, null/missing, also inside documents and arrays); the bits of a
// key of several fields are appended in order, then finished by TrimTypeBits.
func AppendTypeBits(tb []byte, v Value) []byte { panic("todo") }

// TrimTypeBits takes off what need not be stored; for int32, string, ObjectId, null, bool, date, … nothing is left.
func TrimTypeBits(tb []byte) []byte { panic("todo") }

// DecodeKey reads one value from key (inverted if desc) and its type bits, giving back the original byte for byte.
// It returns the rest of both. A nil/exhausted tb means all common types.
func DecodeKey(key, tb []byte, desc bool) (v Value, restKey, restTB []byte, err error) { panic("todo") }

// AppendDecodedElem decodes one value of a key straight into a document under construction: type, name, NUL, data.
// A missing value appends nothing.
func AppendDecodedElem(dst []byte, name string, key, tb []byte, desc bool) (_, restKey, restTB []byte, err error) {
	panic("todo")
}

// SkipKey returns the length of the first encoding in key.
func SkipKey(key []byte, desc bool) (int, error) { panic("todo") }

// ---- arithmetic with MongoDB's type promotion: int32 → int64 on overflow → double; decimal wins ----

// Add, Sub, Mul of two numbers (callers check IsNumber).
func Add(a, b Value) Value { panic("todo") }
func Sub(a, b Value) Value { panic("todo") }
func Mul(a, b Value) Value { panic("todo") }
