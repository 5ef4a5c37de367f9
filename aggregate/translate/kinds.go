package translate

// kinds is the set of types that a JavaScript value may have at a place.
type kinds uint16

const (
	kUndef kinds = 1 << iota // undefined, and a field that is missing
	kNull
	kBool
	kNum // int32 and double: JavaScript numbers
	kLong
	kDec
	kStr
	kDate
	kOID
	kArr
	kObj
	kRegex
	kOther // binary data, timestamps, code, MinKey, MaxKey

	kAny     = kOther<<1 - 1
	kNullish = kUndef | kNull
)

// only says that no other kind is possible.
func (k kinds) only(of kinds) bool { return k&^of == 0 }
func (k kinds) has(of kinds) bool  { return k&of != 0 }

// names are what $type calls the kinds.
var kindNames = []struct {
	k     kinds
	names []string
}{
	{kUndef, []string{"missing", "undefined"}},
	{kNull, []string{"null"}},
	{kBool, []string{"bool"}},
	{kNum, []string{"double", "int"}},
	{kLong, []string{"long"}},
	{kDec, []string{"decimal"}},
	{kStr, []string{"string"}},
	{kDate, []string{"date"}},
	{kOID, []string{"objectId"}},
	{kArr, []string{"array"}},
	{kObj, []string{"object"}},
	{kRegex, []string{"regex"}},
	{kOther, []string{"binData", "timestamp", "javascript", "javascriptWithScope", "minKey", "maxKey", "dbPointer", "symbol"}},
}

func typeNames(k kinds) []string {
	var out []string
	for _, n := range kindNames {
		if k.has(n.k) {
			out = append(out, n.names...)
		}
	}
	return out
}
