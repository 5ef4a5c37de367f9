package query

import (
	"regexp"
	"slices"
	"strings"
	"time"

	regexp2 "github.com/dlclark/regexp2/v2"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

const codeBadRegex mongoerr.Code = 51091

// How long one match of a pattern that needs backtracking may take.
const backtrackTimeout = 2 * time.Second

// regexLeaf matches strings by a pattern, and regular expressions that are the same as it.
type regexLeaf struct {
	pattern, options string
	fast             *regexp.Regexp  // when Go's linear engine can run the pattern
	slow             *regexp2.Regexp // lookaround, back references, extended syntax
}

func (l *regexLeaf) clone() leaf { return l }

func (l *regexLeaf) test(v bsonx.Value, m *matcher) bool {
	switch v.Type {
	case typeString, typeSymbol:
		if l.fast != nil {
			return l.fast.Match(v.StrBytes())
		}
		ok, err := l.slow.MatchString(v.Str())
		if err != nil && m.err == nil {
			m.err = mongoerr.New(codeBadRegex, "regular expression /%s/ gave up: %v", l.pattern, err)
		}
		return ok
	case typeRegex:
		p, o := v.Regex()
		return p == l.pattern && o == l.options
	}
	return false
}

func newRegex(pattern, options string) (*regexLeaf, error) {
	if strings.IndexByte(pattern, 0) >= 0 {
		return nil, mongoerr.New(mongoerr.BadValue, "regular expression cannot contain an embedded null byte")
	}
	flags := ""
	var opt2 []regexp2.CompileOption
	ro := regexp2.None
	for _, o := range []byte(options) {
		switch o {
		case 'i':
			flags, ro = flags+"i", ro|regexp2.IgnoreCase
		case 'm':
			flags, ro = flags+"m", ro|regexp2.Multiline
		case 's':
			flags, ro = flags+"s", ro|regexp2.Singleline
		case 'x':
			ro |= regexp2.IgnorePatternWhitespace
		case 'u', 'l':
			// strings are UTF-8 anyway
		default:
			return nil, mongoerr.New(51108, "invalid flag in regex options: %c", o)
		}
	}
	l := &regexLeaf{pattern: pattern, options: sortedOptions(options)}
	if !strings.ContainsRune(options, 'x') {
		if translated, ok := goPattern(pattern, strings.ContainsRune(options, 'm')); ok {
			if flags != "" {
				translated = "(?" + flags + ")" + translated
			}
			if re, err := regexp.Compile(translated); err == nil {
				l.fast = re
				return l, nil
			}
		}
	}
	opt2 = append(opt2, ro)
	re, err := regexp2.Compile(pattern, opt2...)
	if err != nil {
		return nil, mongoerr.New(codeBadRegex, "Regular expression is invalid: %v", err)
	}
	re.MatchTimeout = backtrackTimeout
	l.slow = re
	return l, nil
}

func sortedOptions(o string) string {
	b := []byte(o)
	slices.Sort(b)
	return string(b)
}

// goPattern rewrites what Go's engine reads differently: "$" also matches before
// a final newline. ok is false for patterns whose meaning can't be kept that way.
func goPattern(p string, multiline bool) (string, bool) {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c == '\\' && i+1 < len(p):
			if strings.IndexByte("ZGRXKkghHvVNQE", p[i+1]) >= 0 {
				return "", false
			}
			b.WriteByte(c)
			i++
			b.WriteByte(p[i])
			continue
		case inClass:
			inClass = c != ']'
			if c == '[' && i+1 < len(p) && p[i+1] == ':' {
				return "", false // a POSIX class: leave it to the other engine
			}
		case c == '[':
			inClass = true
			b.WriteByte(c)
			// a bracket right after the opening one, or after ^, stands for itself
			if i+1 < len(p) && p[i+1] == '^' {
				i++
				b.WriteByte('^')
			}
			if i+1 < len(p) && p[i+1] == ']' {
				i++
				b.WriteString(`\]`)
			}
			continue
		case c == '(' && i+2 < len(p) && p[i+1] == '?' && p[i+2] != ':':
			return "", false // inline flags, names, lookaround
		case c == '$' && !multiline:
			b.WriteString(`(?:\n?\z)`)
			continue
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// literalPrefix is the text that every match of the pattern begins with, and
// whether the pattern says nothing more than that.
func (l *regexLeaf) literalPrefix() (prefix string, exact bool) {
	if l.options != "" || !strings.HasPrefix(l.pattern, "^") || strings.ContainsRune(l.pattern, '|') {
		return "", false
	}
	var b strings.Builder
	p := l.pattern[1:]
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c == '\\' && i+1 < len(p) && !isAlnum(p[i+1]) {
			i++
			c = p[i]
		} else if strings.IndexByte(`\^$.[(?*+{`, c) >= 0 {
			if rest := p[i:]; rest == ".*" {
				// ".*" stops at a newline but need not go further
				return b.String(), b.Len() > 0
			}
			s := b.String()
			if strings.IndexByte("?*{", c) >= 0 && s != "" {
				s = trimLastRune(s) // the last character may be absent
			}
			return s, false
		}
		b.WriteByte(c)
	}
	return b.String(), b.Len() > 0
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func trimLastRune(s string) string {
	r := []rune(s)
	return string(r[:len(r)-1])
}
