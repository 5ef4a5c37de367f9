package expr

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	regexp2 "github.com/dlclark/regexp2/v2"

	"mrbench/internal/embedded/bsonx"
)

// backtrackTimeout bounds one match of a pattern that needs backtracking.
const backtrackTimeout = 2 * time.Second

// matcher finds the first match at or after a byte offset: pairs of byte
// offsets, -1 for a group that took no part.
type matcher interface {
	find(s string, from int) ([]int, error)
}

type linear struct{ re *regexp.Regexp }

func (m linear) find(s string, from int) ([]int, error) {
	if from == 0 {
		return m.re.FindStringSubmatchIndex(s), nil
	}
	// All matches are asked for so that ^ and \b see what stands before from.
	for _, loc := range m.re.FindAllStringSubmatchIndex(s, -1) {
		if loc[0] >= from {
			return loc, nil
		}
	}
	return nil, nil
}

type backtracking struct{ re *regexp2.Regexp }

func (m backtracking) find(s string, from int) ([]int, error) {
	r := []rune(s)
	start := utf8.RuneCountInString(s[:from])
	got, err := m.re.FindRunesMatchStartingAt(r, start)
	if err != nil || got == nil {
		return nil, err
	}
	var loc []int
	for _, g := range got.Groups() {
		if len(g.Captures) == 0 {
			loc = append(loc, -1, -1)
			continue
		}
		lo := len(string(r[:g.RuneIndex]))
		loc = append(loc, lo, lo+len(string(r[g.RuneIndex:g.RuneIndex+g.RuneLength])))
	}
	return loc, nil
}

func compileRegex(pattern, options string) (matcher, error) {
	ro := regexp2.None
	flags := ""
	extended := false
	for _, o := range options {
		switch o {
		case 'i':
			flags, ro = flags+"i", ro|regexp2.IgnoreCase
		case 'm':
			flags, ro = flags+"m", ro|regexp2.Multiline
		case 's':
			flags, ro = flags+"s", ro|regexp2.Singleline
		case 'x':
			extended, ro = true, ro|regexp2.IgnorePatternWhitespace
		case 'u':
		default:
			return nil, errf(51108, "invalid flag in regex options: %c", o)
		}
	}
	if !extended {
		p := pattern
		if flags != "" {
			p = "(?" + flags + ")" + p
		}
		if re, err := regexp.Compile(p); err == nil {
			return linear{re}, nil
		}
	}
	re, err := regexp2.Compile(pattern, ro)
	if err != nil {
		return nil, errf(51111, "Invalid Regex: %v", err)
	}
	re.MatchTimeout = backtrackTimeout
	return backtracking{re}, nil
}

// matcherOf reads the regex and options arguments; a null regex gives nil.
func (st *state) matcherOf(name string, re, opts bsonx.Value) (matcher, error) {
	var pattern, options string
	switch {
	case nullish(re):
		return nil, nil
	case re.Type == tRegex:
		pattern, options = re.Regex()
	case re.Type == tString:
		pattern = re.Str()
	default:
		return nil, errf(51105, "%s needs 'regex' to be of type string or regex", name)
	}
	if !nullish(opts) {
		if opts.Type != tString {
			return nil, errf(51106, "%s needs 'options' to be of type string", name)
		}
		if options != "" {
			return nil, errf(51107, "%s found regex option(s) specified in both 'regex' and 'option' fields", name)
		}
		options = opts.Str()
	}
	if strings.IndexByte(pattern, 0) >= 0 {
		return nil, errf(51109, "%s: regular expression cannot contain an embedded null byte", name)
	}
	key := options + "\x00" + pattern
	if m, ok := st.regexes[key]; ok {
		return m, nil
	}
	m, err := compileRegex(pattern, options)
	if err != nil {
		return nil, err
	}
	if st.regexes == nil || len(st.regexes) > 100 {
		st.regexes = map[string]matcher{}
	}
	st.regexes[key] = m
	return m, nil
}

type regexMode uint8

const (
	regexMatch regexMode = iota
	regexFind
	regexFindAll
)

func regexOp(mode regexMode) op {
	return named{
		notObject: 51103, unknown: 31024,
		params: []param{{"input", 31022}, {"regex", 31023}, {"options", 0}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			if !nullish(a[0]) && a[0].Type != tString && a[0].Type != tSymbol {
				return missing, errf(51104, "%s needs 'input' to be of type string", name)
			}
			m, err := st.matcherOf(name, a[1], a[2])
			if err != nil {
				return missing, err
			}
			if nullish(a[0]) || m == nil {
				switch mode {
				case regexMatch:
					return vFalse, nil
				case regexFind:
					return null, nil
				}
				return st.array(nil), nil
			}
			return runRegex(st, name, m, a[0].Str(), mode)
		},
	}.op()
}

func runRegex(st *state, name string, m matcher, s string, mode regexMode) (bsonx.Value, error) {
	find := func(from int) ([]int, error) {
		loc, err := m.find(s, from)
		if err != nil {
			return nil, errf(51156, "%s: error occurred while executing the regular expression: %v", name, err)
		}
		return loc, nil
	}
	if mode != regexFindAll {
		loc, err := find(0)
		switch {
		case err != nil:
			return missing, err
		case mode == regexMatch:
			return boolean(loc != nil), nil
		case loc == nil:
			return null, nil
		}
		return matchDoc(st, s, loc), nil
	}
	w := st.build(tArray)
	for from := 0; from <= len(s); {
		loc, err := find(from)
		if err != nil {
			w.drop()
			return missing, err
		}
		if loc == nil {
			break
		}
		w.push(matchDoc(st, s, loc))
		from = loc[1]
		if loc[1] == loc[0] { // an empty match: go on behind the next character
			if from == len(s) {
				break
			}
			_, n := utf8.DecodeRuneInString(s[from:])
			from += n
		}
	}
	return w.done(), nil
}

func matchDoc(st *state, s string, loc []int) bsonx.Value {
	caps := st.build(tArray)
	for i := 2; i+1 < len(loc); i += 2 {
		if loc[i] < 0 {
			caps.push(null)
		} else {
			caps.push(st.str(s[loc[i]:loc[i+1]]))
		}
	}
	c := caps.done()
	w := st.build(tDoc)
	w.elem("match", st.str(s[loc[0]:loc[1]]))
	w.elem("idx", st.i32(int32(utf8.RuneCountInString(s[:loc[0]]))))
	w.elem("captures", c)
	return w.done()
}
