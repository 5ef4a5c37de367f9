package mr

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
)

// keyRule says how jsMode's string keys are read. In jsMode emits are
// properties of a JavaScript object, so numbers, booleans and undefined become
// their text; keys that are objects in JavaScript (dates, ObjectIds, NumberLong, null, …) end
// the mode and keep their type, beside the strings that were emitted before.
type keyRule struct {
	numbers, booleans, missing bool
	ambiguous                  bool
}

func newKeyRule(types []string) keyRule {
	var k keyRule
	text := false
	for _, t := range types {
		switch t {
		case "int", "double":
			k.numbers = true
		case "bool":
			k.booleans = true
		case "missing", "undefined":
			k.missing = true
		case "string", "symbol":
			text = true
		}
	}
	// Sampled types may miss an int among longs.
	if slices.Contains(types, "long") || slices.Contains(types, "decimal") {
		k.numbers = true
	}
	k.ambiguous = text && (k.numbers || k.booleans || k.missing)
	return k
}

// restores says that there is something to turn back.
func (k keyRule) restores() bool { return !k.ambiguous && (k.numbers || k.booleans || k.missing) }

// appendResult appends a result {_id, value} with its key turned back under the
// given name. Results that need nothing are copied as they are, but for the name.
func (k keyRule) appendResult(dst []byte, doc bson.Raw, name string) []byte {
	// int32 length, type byte, "_id\0", the key, the rest
	const keyAt = 4 + 1 + 4
	if len(doc) <= keyAt || string(doc[5:9]) != "_id\x00" {
		return append(dst, doc...)
	}
	kind := doc.Index(0).Value()
	rest := doc[keyAt+len(kind.Value):]
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(kind.Type))
	dst = append(dst, name...)
	dst = append(dst, 0)
	restored := false
	if kind.Type == bson.TypeString {
		if s := kind.Value; len(s) >= 5 {
			dst, restored = k.appendKey(dst, string(s[4:len(s)-1]), start+4)
		}
	}
	if !restored {
		dst = append(dst, kind.Value...)
	}
	dst = append(dst, rest...)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// appendKey appends the value whose text is s and sets the type byte at kindAt; false when s stays a string.
func (k keyRule) appendKey(dst []byte, s string, kindAt int) ([]byte, bool) {
	switch {
	case k.booleans && (s == "true" || s == "false"):
		dst[kindAt] = byte(bson.TypeBoolean)
		if s == "true" {
			return append(dst, 1), true
		}
		return append(dst, 0), true
	case k.missing && s == "undefined":
		dst[kindAt] = byte(bson.TypeNull)
		return dst, true
	case k.numbers:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return dst, false
		}
		dst[kindAt] = byte(bson.TypeDouble)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f)), true
	}
	return dst, false
}
