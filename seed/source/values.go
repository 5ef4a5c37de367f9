package source

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// values splits JSON: documents one after another, arrays of documents, and
// with a path the array that it leads to in each document.
type values struct {
	path  []string
	state state
	list  bool // the top is an array
	level int  // how many objects are entered, of those that the path leads through
	found bool // the path's end was seen in this document
	skip  skipper
}

type state int

const (
	atTop     state = iota // a document, an array or the end
	atElement              // an element
	atFirst                // an element, or the array's end
	afterElement
	atKey // a key
	atFirstKey
	atValue  // the value of the path's field
	inSkip   // inside the value of another field
	afterKey // a comma or the object's end
	afterTop // with a path and a list: a comma or the list's end
)

func newValues(path string) *values {
	v := &values{}
	if path != "" {
		v.path = strings.Split(path, ".")
	}
	return v
}

func (v *values) split(c *Chunk, data []byte, final bool) (int, *RecordError) {
	i, done := 0, 0 // everything before done is dealt with
	wrong := func(at int, format string, args ...any) (int, *RecordError) {
		return done, &RecordError{Pos: Pos{Offset: int64(at)}, Start: int64(done), Err: fmt.Errorf(format, args...), Rest: true}
	}
	for {
		if v.state == inSkip {
			n, over := v.skip.run(data[i:])
			i += n
			done = i
			if !over {
				if final {
					return wrong(i, "the file ends inside a document")
				}
				return done, nil
			}
			v.state = afterKey
		}
		for i < len(data) && isSpace(data[i]) {
			i++
		}
		if len(c.spans) == 0 || v.path != nil || v.state == afterElement {
			done = i
		}
		if i == len(data) {
			if !final {
				return done, nil
			}
			if v.state == atTop && (!v.list || v.path == nil) {
				return len(data), nil
			}
			return wrong(i, "the file ends inside %s", map[bool]string{true: "an array", false: "a document"}[v.state < atKey])
		}
		b := data[i]
		switch v.state {
		case atTop:
			switch {
			case b == '[' && v.path == nil:
				v.state, v.list = atFirst, true
				i++
			case b == '[' && !v.list:
				v.list = true
				i++
			case b == ']' && v.path != nil && v.list:
				v.list = false
				i++
			case b == '{' && v.path != nil:
				v.state, v.level, v.found = atFirstKey, 0, false
				i++
			case b == '{':
				end, ok := skipValue(data, i, final)
				if !ok {
					if final {
						return wrong(len(data), "the file ends inside a document")
					}
					return done, nil
				}
				c.spans = append(c.spans, span{i, end})
				i = end
			default:
				return wrong(i, "%s where a document or an array should begin", strconv.QuoteRune(rune(b)))
			}
			done = i
		case atFirst, atElement:
			if b == ']' && v.state == atFirst {
				v.state = v.afterArray()
				i++
				done = i
				break
			}
			if b == ',' || b == ']' {
				return wrong(i, "%s where an element should be", strconv.QuoteRune(rune(b)))
			}
			end, ok := skipValue(data, i, final)
			if !ok {
				if final {
					return wrong(len(data), "the file ends inside a record")
				}
				return done, nil
			}
			if end == i {
				return wrong(i, "%s where an element should be", strconv.QuoteRune(rune(b)))
			}
			c.spans = append(c.spans, span{i, end})
			i = end
			done = i
			v.state = afterElement
		case afterElement:
			switch b {
			case ',':
				v.state = atElement
			case ']':
				v.state = v.afterArray()
			default:
				return wrong(i, "%s where , or ] should be", strconv.QuoteRune(rune(b)))
			}
			i++
			done = i
		case atKey, atFirstKey:
			if b == '}' && v.state == atFirstKey {
				v.state = afterKey
				break
			}
			if b != '"' {
				return wrong(i, "%s where a key should be", strconv.QuoteRune(rune(b)))
			}
			end, ok := skipString(data, i)
			colon := end
			for ok && colon < len(data) && isSpace(data[colon]) {
				colon++
			}
			if ok && (end-i < 2 || data[end-1] != '"') {
				return wrong(i, "a name without its closing quote")
			}
			if !ok || colon == len(data) {
				if final {
					return wrong(len(data), "the file ends inside a document")
				}
				return done, nil
			}
			if data[colon] != ':' {
				return wrong(colon, "%s where : should be", strconv.QuoteRune(rune(data[colon])))
			}
			if key := data[i:end]; sameKey(key, v.path[v.level]) {
				v.state = atValue
			} else {
				v.state = inSkip
				v.skip = skipper{}
			}
			i = colon + 1
			done = i
		case atValue:
			last := v.level == len(v.path)-1
			switch {
			case last && b == '[':
				v.found = true
				v.state = atFirst
				i++
			case !last && b == '{':
				v.level++
				v.state = atFirstKey
				i++
			default:
				what := "an array"
				if !last {
					what = "a document"
				}
				bad := &RecordError{
					Pos: Pos{Offset: int64(i)}, Start: int64(i), Record: keep(data[i:min(i+100, len(data))]),
					Err: fmt.Errorf("%s is not %s", strings.Join(v.path[:v.level+1], "."), what),
				}
				v.state, v.skip, v.found = inSkip, skipper{}, true
				return i, bad
			}
			done = i
		case afterKey:
			switch b {
			case ',':
				v.state = atKey
				i++
			case '}':
				i++
				if v.level > 0 {
					v.level--
					break
				}
				v.state = atTop
				if v.list {
					v.state = afterTop
				}
				if !v.found {
					return i, &RecordError{
						Pos: Pos{Offset: int64(i)}, Start: int64(i),
						Err: fmt.Errorf("the document that ends here has no array %s", strings.Join(v.path, ".")),
					}
				}
			default:
				return wrong(i, "%s where , or } should be", strconv.QuoteRune(rune(b)))
			}
			done = i
		case afterTop:
			switch b {
			case ',':
				i++
			case ']':
			default:
				return wrong(i, "%s where , or ] should be", strconv.QuoteRune(rune(b)))
			}
			v.state = atTop
			done = i
		}
	}
}

// afterArray is the state behind an array of records.
func (v *values) afterArray() state {
	if v.path != nil {
		return afterKey
	}
	v.list = false
	return atTop
}

// sameKey compares a quoted key with a name.
func sameKey(quoted []byte, name string) bool {
	raw := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw) == name
	}
	s, err := strconv.Unquote(string(quoted)) // JSON's escapes in keys, \/ apart, are Go's too
	return err == nil && s == name
}

// skipString returns where the string at i ends, behind its quote. A line's end
// ends it too: it must be escaped in a string, so a quote is missing.
func skipString(data []byte, i int) (int, bool) {
	for i++; ; {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			if n = bytes.IndexByte(data[i:], '\n'); n >= 0 {
				return i + n, true
			}
			return i, false
		}
		if m := bytes.IndexByte(data[i:i+n], '\n'); m >= 0 {
			return i + m, true
		}
		end := i + n
		back := end
		for back > i && data[back-1] == '\\' {
			back--
		}
		i = end + 1
		if (end-back)%2 == 0 {
			return i, true
		}
	}
}

// structural marks the bytes that matter outside of strings.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// skipValue returns where the value at i ends. It looks at brackets and strings
// only: whether the value is right is the decoder's matter. Without final, a number
// at the end of data may go on.
func skipValue(data []byte, i int, final bool) (int, bool) {
	switch data[i] {
	case '{', '[':
	case '"':
		return skipString(data, i)
	default:
		for ; i < len(data); i++ {
			switch data[i] {
			case ',', ']', '}', ' ', '\n', '\r', '\t':
				return i, true
			}
		}
		return i, final
	}
	depth := 0
	for i < len(data) {
		c := data[i]
		if !structural[c] {
			i++
			continue
		}
		switch c {
		case '"':
			end, ok := skipString(data, i)
			if !ok {
				return i, false
			}
			i = end
		case '{', '[':
			depth++
			i++
		default:
			i++
			if depth--; depth == 0 {
				return i, true
			}
		}
	}
	return i, false
}

// skipper passes over a value of any size, in pieces.
type skipper struct {
	begun, inString, escaped bool
	depth                    int
}

// run returns how far the value goes, and whether it ended there.
func (s *skipper) run(data []byte) (int, bool) {
	for i, c := range data {
		switch {
		case s.inString:
			switch {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '"':
				if s.inString = false; s.depth == 0 {
					return i + 1, true
				}
			}
			continue
		case isSpace(c):
			if s.begun && s.depth == 0 {
				return i, true
			}
			continue
		}
		switch c {
		case '"':
			s.inString = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth == 0 { // the end of what the value is in
				return i, true
			}
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		case ',':
			if s.depth == 0 {
				return i, true
			}
		}
		s.begun = true
	}
	return len(data), false
}
