package extjson

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/bson/primitive"
)

// wrapper reads an object whose first key begins with $, at that key's quote.
// done is false when it is an ordinary object: nothing was read then.
func (p *Parser) wrapper(at int) (done, ok bool) {
	start := p.pos
	if p.key, ok = p.chars(p.key[:0]); !ok {
		return true, false
	}
	ordinary := func() (bool, bool) { p.pos = start; return false, true }
	known := true
	switch string(p.key) {
	case "$oid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$date", "$binary", "$uuid", "$timestamp",
		"$regularExpression", "$minKey", "$maxKey", "$undefined", "$symbol", "$code", "$dbPointer":
	case "$scope":
		return true, p.fail("$scope must follow $code")
	case "$regex":
		known = false
	default:
		return ordinary()
	}
	if !p.expect(':') {
		return true, false
	}
	if !known { // {"$regex": …} is a regular expression only with "$options"; else a query, kept as it is
		if p.legacyRegex(at) {
			return true, true
		}
		p.err = nil
		return ordinary()
	}
	ok = true
	switch string(p.key) { // nothing before has overwritten it
	case "$oid":
		p.out[at] = typeObjectID
		ok = p.objectID()
	case "$numberInt":
		var v int64
		if v, ok = p.integer(32); ok {
			p.out[at] = typeInt32
			p.putInt32(int32(v))
		}
	case "$numberLong":
		var v int64
		if v, ok = p.integer(64); ok {
			p.out[at] = typeInt64
			p.putInt64(v)
		}
	case "$numberDouble":
		p.out[at] = typeDouble
		ok = p.double()
	case "$numberDecimal":
		p.out[at] = typeDecimal
		ok = p.decimal()
	case "$date":
		p.out[at] = typeDate
		ok = p.date()
	case "$binary":
		p.out[at] = typeBinary
		ok = p.binary()
	case "$uuid":
		p.out[at] = typeBinary
		ok = p.uuid()
	case "$timestamp":
		p.out[at] = typeStamp
		ok = p.timestamp()
	case "$regularExpression":
		p.out[at] = typeRegex
		ok = p.regex()
	case "$minKey":
		p.out[at] = typeMinKey
		ok = p.one("$minKey")
	case "$maxKey":
		p.out[at] = typeMaxKey
		ok = p.one("$maxKey")
	case "$undefined":
		p.out[at] = typeUndef
		p.next()
		ok = p.literal("true")
	case "$symbol":
		p.out[at] = typeSymbol
		ok = p.stringValue()
	case "$code":
		return true, p.code(at)
	case "$dbPointer":
		p.out[at] = typePointer
		ok = p.pointer()
	}
	return true, ok && p.expect('}')
}

// quoted reads a string into p.text, which stays valid until the next call.
func (p *Parser) quoted() ([]byte, bool) {
	if p.next() != '"' {
		return nil, p.unexpected("a string")
	}
	var ok bool
	p.text, ok = p.chars(p.text[:0])
	return p.text, ok
}

func (p *Parser) stringValue() bool {
	if p.next() != '"' {
		return p.unexpected("a string")
	}
	return p.string()
}

// named reads the next key, a colon behind it.
func (p *Parser) named(want string) bool {
	at := p.pos
	k, ok := p.quoted()
	if !ok {
		return false
	}
	if string(k) != want {
		p.pos = at
		return p.fail("%q where %q should be", k, want)
	}
	return p.expect(':')
}

func (p *Parser) objectID() bool {
	at := p.pos
	s, ok := p.quoted()
	if !ok {
		return false
	}
	if len(s) != 24 {
		p.pos = at
		return p.fail("$oid must be 24 hexadecimal digits")
	}
	for i := 0; i < 24; i += 2 {
		hi, lo := unhex(s[i]), unhex(s[i+1])
		if hi < 0 || lo < 0 {
			p.pos = at
			return p.fail("$oid must be 24 hexadecimal digits")
		}
		p.out = append(p.out, byte(hi<<4|lo))
	}
	return true
}

// integer reads an integer in a string, or bare.
func (p *Parser) integer(size int) (int64, bool) {
	c := p.next()
	at := p.pos
	var text []byte
	if c == '"' {
		var ok bool
		if text, ok = p.quoted(); !ok {
			return 0, false
		}
	} else {
		for p.pos < len(p.src) && (p.src[p.pos] == '-' || p.src[p.pos]-'0' <= 9) {
			p.pos++
		}
		text = p.src[at:p.pos]
	}
	v, err := strconv.ParseInt(str(text), 10, size)
	if err != nil {
		p.pos = at
		return 0, p.fail("%q is not an integer of %d bits", text, size)
	}
	return v, true
}

func (p *Parser) double() bool {
	if c := p.next(); c == '-' || c-'0' <= 9 {
		at := len(p.out) // number wants a place for a type
		p.out = append(p.out, 0)
		if !p.number(at) {
			return false
		}
		var v float64
		switch raw := p.out[at+1:]; p.out[at] {
		case typeInt32:
			v = float64(int32(binary.LittleEndian.Uint32(raw)))
		case typeInt64:
			v = float64(int64(binary.LittleEndian.Uint64(raw)))
		default:
			v = math.Float64frombits(binary.LittleEndian.Uint64(raw))
		}
		p.out = p.out[:at]
		p.putDouble(v)
		return true
	}
	at := p.pos
	s, ok := p.quoted()
	if !ok {
		return false
	}
	switch string(s) {
	case "Infinity":
		p.putDouble(math.Inf(1))
	case "-Infinity":
		p.putDouble(math.Inf(-1))
	case "NaN":
		p.putDouble(math.NaN())
	default:
		v, err := strconv.ParseFloat(str(s), 64)
		if err != nil {
			p.pos = at
			return p.fail("%q is not a double", s)
		}
		p.putDouble(v)
	}
	return true
}

func (p *Parser) decimal() bool {
	at := p.pos
	s, ok := p.quoted()
	if !ok {
		return false
	}
	d, err := primitive.ParseDecimal128(str(s))
	if err != nil {
		p.pos = at
		return p.fail("%q is not a decimal of 34 digits", s)
	}
	high, low := d.GetBytes()
	p.putInt64(int64(low))
	p.putInt64(int64(high))
	return true
}

// date reads milliseconds since 1970 as $numberLong or bare, or an ISO 8601 string.
func (p *Parser) date() bool {
	switch c := p.next(); {
	case c == '{':
		p.pos++
		if !p.named("$numberLong") {
			return false
		}
		v, ok := p.integer(64)
		if !ok {
			return false
		}
		p.putInt64(v)
		return p.expect('}')
	case c == '-' || c-'0' <= 9:
		v, ok := p.integer(64)
		p.putInt64(v)
		return ok
	}
	at := p.pos
	s, ok := p.quoted()
	if !ok {
		return false
	}
	ms, ok := Date(s)
	if !ok {
		p.pos = at
		return p.fail("%q is not a date like 2024-01-31T10:20:30.123Z", s)
	}
	p.putInt64(ms)
	return true
}

// binary reads {"base64": …, "subType": …} in either order, or the older "…", "$type": ….
func (p *Parser) binary() bool {
	if p.next() == '"' {
		mark, ok := p.base64()
		if !ok || !p.expect(',') || !p.named("$type") {
			return false
		}
		kind, ok := p.subtype()
		p.finishBinary(mark, kind)
		return ok
	}
	if !p.expect('{') {
		return false
	}
	var kind byte
	mark, seen := 0, 0
	for seen != 3 {
		if seen > 0 && !p.expect(',') {
			return false
		}
		at := p.pos
		k, ok := p.quoted()
		if !ok {
			return false
		}
		switch {
		case string(k) == "base64" && seen&1 == 0:
			seen |= 1
			if !p.expect(':') {
				return false
			}
			mark, ok = p.base64()
		case string(k) == "subType" && seen&2 == 0:
			seen |= 2
			if !p.expect(':') {
				return false
			}
			kind, ok = p.subtype()
		default:
			p.pos = at
			ok = p.fail("$binary must have base64 and subType, not %q", k)
		}
		if !ok {
			return false
		}
	}
	p.finishBinary(mark, kind)
	return p.expect('}')
}

// base64 appends a length, a place for the subtype, and the bytes.
func (p *Parser) base64() (mark int, ok bool) {
	at := p.pos
	s, ok := p.quoted()
	if !ok {
		return 0, false
	}
	mark = len(p.out)
	p.out = append(p.out, 0, 0, 0, 0, 0)
	p.out, ok = appendBase64(p.out, s)
	if !ok {
		p.pos = at
		return 0, p.fail("invalid base64")
	}
	return mark, true
}

func appendBase64(dst, s []byte) ([]byte, bool) {
	out, err := base64.StdEncoding.AppendDecode(dst, s)
	return out, err == nil
}

func (p *Parser) subtype() (byte, bool) {
	at := p.pos
	s, ok := p.quoted()
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseUint(str(s), 16, 8)
	if err != nil {
		p.pos = at
		return 0, p.fail("subtype %q is not a byte in hexadecimal", s)
	}
	return byte(v), true
}

// finishBinary fills in length and subtype. The oldest subtype carries its length twice.
func (p *Parser) finishBinary(mark int, kind byte) {
	p.out[mark+4] = kind
	n := len(p.out) - mark - 5
	if kind == 2 {
		p.out = append(p.out, 0, 0, 0, 0)
		copy(p.out[mark+9:], p.out[mark+5:])
		binary.LittleEndian.PutUint32(p.out[mark+5:], uint32(n))
		n += 4
	}
	binary.LittleEndian.PutUint32(p.out[mark:], uint32(n))
}

func (p *Parser) uuid() bool {
	at := p.pos
	s, ok := p.quoted()
	if !ok {
		return false
	}
	p.out = append(p.out, 16, 0, 0, 0, 4)
	if p.out, ok = AppendUUID(p.out, s); !ok {
		p.pos = at
		return p.fail("%q is not a uuid of 32 hexadecimal digits and 4 hyphens", s)
	}
	return true
}

// AppendUUID appends the 16 bytes of a uuid's text.
func AppendUUID(dst, s []byte) ([]byte, bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return dst, false
	}
	for i := 0; i < 36; i += 2 {
		if s[i] == '-' {
			i++
		}
		hi, lo := unhex(s[i]), unhex(s[i+1])
		if hi < 0 || lo < 0 {
			return dst, false
		}
		dst = append(dst, byte(hi<<4|lo))
	}
	return dst, true
}

func (p *Parser) timestamp() bool {
	if !p.expect('{') {
		return false
	}
	var v [2]uint32
	seen := [2]bool{}
	for n := range 2 {
		if n > 0 && !p.expect(',') {
			return false
		}
		at := p.pos
		k, ok := p.quoted()
		if !ok {
			return false
		}
		which := 0
		if string(k) == "t" {
			which = 1
		}
		if (string(k) != "t" && string(k) != "i") || seen[which] {
			p.pos = at
			return p.fail("$timestamp must have t and i, not %q", k)
		}
		seen[which] = true
		if !p.expect(':') {
			return false
		}
		p.next()
		at = p.pos
		i, ok := p.integer(64)
		if !ok {
			return false
		}
		if i < 0 || i > math.MaxUint32 {
			p.pos = at
			return p.fail("$timestamp holds unsigned numbers of 32 bits, not %d", i)
		}
		v[which] = uint32(i)
	}
	p.out = binary.LittleEndian.AppendUint32(p.out, v[0])
	p.out = binary.LittleEndian.AppendUint32(p.out, v[1])
	return p.expect('}')
}

func (p *Parser) one(key string) bool {
	p.next()
	at := p.pos
	if v, ok := p.integer(32); !ok || v != 1 {
		p.pos = at
		p.err = nil
		return p.fail("%s must be 1", key)
	}
	return true
}

// regex reads {"pattern": …, "options": …} in either order.
func (p *Parser) regex() bool {
	if !p.expect('{') {
		return false
	}
	var pattern, options []byte
	seen := 0
	for seen != 3 {
		if seen > 0 && !p.expect(',') {
			return false
		}
		at := p.pos
		k, ok := p.quoted()
		if !ok {
			return false
		}
		bit := 0
		switch string(k) {
		case "pattern":
			bit = 1
		case "options":
			bit = 2
		}
		if bit == 0 || seen&bit != 0 {
			p.pos = at
			return p.fail("$regularExpression must have pattern and options, not %q", k)
		}
		seen |= bit
		if !p.expect(':') {
			return false
		}
		s, ok := p.quoted()
		if !ok {
			return false
		}
		if bit == 1 {
			pattern = append([]byte(nil), s...)
		} else {
			options = append([]byte(nil), s...)
		}
	}
	return p.putRegex(pattern, options) && p.expect('}')
}

func (p *Parser) putRegex(pattern, options []byte) bool {
	for _, s := range [2][]byte{pattern, options} {
		for _, c := range s {
			if c == 0 {
				return p.fail("a NUL in a regular expression")
			}
		}
	}
	sortBytes(options) // as BSON wants them
	p.out = append(append(p.out, pattern...), 0)
	p.out = append(append(p.out, options...), 0)
	return true
}

func sortBytes(b []byte) {
	for i := 1; i < len(b); i++ {
		for j := i; j > 0 && b[j] < b[j-1]; j-- {
			b[j], b[j-1] = b[j-1], b[j]
		}
	}
}

// legacyRegex reads what follows "$regex": in the older form.
func (p *Parser) legacyRegex(at int) bool {
	mark := len(p.out)
	s, ok := p.quoted()
	if !ok {
		return false
	}
	pattern := append([]byte(nil), s...)
	if !p.expect(',') || !p.named("$options") {
		return false
	}
	if s, ok = p.quoted(); !ok || !p.expect('}') {
		return false
	}
	if !p.putRegex(pattern, append([]byte(nil), s...)) {
		p.out = p.out[:mark]
		return false
	}
	p.out[at] = typeRegex
	return true
}

// code reads what follows "$code":, its brace included.
func (p *Parser) code(at int) bool {
	mark := len(p.out)
	if !p.stringValue() {
		return false
	}
	if p.next() == '}' {
		p.pos++
		p.out[at] = typeCode
		return true
	}
	if !p.expect(',') || !p.named("$scope") || !p.expect('{') {
		return false
	}
	p.out = append(p.out, 0, 0, 0, 0) // room for the length before the code
	copy(p.out[mark+4:], p.out[mark:])
	if !p.document() {
		return false
	}
	p.out[at] = typeScope
	binary.LittleEndian.PutUint32(p.out[mark:], uint32(len(p.out)-mark))
	return p.expect('}')
}

func (p *Parser) pointer() bool {
	if !p.expect('{') || !p.named("$ref") || !p.stringValue() || !p.expect(',') || !p.named("$id") {
		return false
	}
	if p.next() == '{' {
		p.pos++
		return p.named("$oid") && p.objectID() && p.expect('}') && p.expect('}')
	}
	return p.objectID() && p.expect('}')
}
