package translate

import (
	"regexp"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// stringMethod is s.name(…) for a string.
func (x *exec) stringMethod(n *ast.CallExpression, s *val, name string) *val {
	args := n.ArgumentList
	var in []*val
	for _, a := range args {
		in = append(in, x.settle(x.eval(a)))
	}
	whole := func(i int) (int, bool) {
		if i >= len(in) {
			return 0, false
		}
		f, ok := in[i].c.(float64)
		return int(f), ok && in[i].isConst && f == float64(int(f))
	}
	text := func(i int) (string, bool) {
		if i >= len(in) {
			return "", false
		}
		t, ok := in[i].c.(string)
		return t, ok && in[i].isConst
	}
	re := func() (primitive.Regex, bool) {
		if len(in) == 0 {
			return primitive.Regex{}, false
		}
		r, ok := in[0].c.(primitive.Regex)
		return r, ok
	}
	at, hasAt := whole(0)
	switch name {
	case "toLowerCase", "toUpperCase":
		op := map[string]string{"toLowerCase": "$toLower", "toUpperCase": "$toUpper"}[name]
		if x.plain {
			x.caveat(x.pos(n), CaveatSpaces, "%s changes the letters A to Z only", op)
			return operation(name, doc(op, x.ex(s)), kStr, s)
		}
		e := x.bind(s, func(s *val) any {
			e := x.ex(s)
			ascii := call("$eq", doc("$strLenBytes", e), doc("$strLenCP", e))
			return cond(ascii, doc(op, e), x.fail(n, e, "%s has to have ASCII letters only", x.text(n)))
		})
		return operation(name, e, kStr, s)
	case "trim":
		x.needs(v40)
		return operation(name, doc("$trim", doc("input", x.ex(s))), kStr, s)
	case "charAt":
		if hasAt && at >= 0 {
			return x.substring(s, at, at+1, true, n)
		}
	case "substr":
		count, hasCount := whole(1)
		if hasAt && at >= 0 && (hasCount && count >= 0 || len(in) == 1) {
			return x.substring(s, at, at+count, hasCount, n)
		}
		if hasAt && at < 0 && len(in) == 1 {
			return x.tail(s, -at, n)
		}
	case "substring", "slice":
		to, hasTo := whole(1)
		if hasAt && at >= 0 && (hasTo && to >= at || len(in) == 1) {
			return x.substring(s, at, to, hasTo, n)
		}
		if name == "slice" && hasAt && at < 0 && len(in) == 1 {
			return x.tail(s, -at, n)
		}
		if name == "substring" && hasAt && at == 0 && len(in) == 2 && x.kindsOf(in[1]).only(kNum) { // up to a position that is computed
			x.needs(v40)
			x.caveatChars(n)
			e := doc("$substrCP", bson.A{x.ex(s), int32(0), doc("$toInt", doc("$max", bson.A{int32(0), x.ex(in[1])}))})
			return operation(name, e, kStr, s)
		}
	case "split":
		if t, ok := text(0); ok && len(in) == 1 {
			if t != "" {
				return operation("split", call("$split", x.ex(s), literal(t)), kArr, s)
			}
			x.caveatChars(n)
			e := x.bind(s, func(s *val) any {
				return doc("$map", bson.D{{Key: "input", Value: call("$range", int32(0), doc("$strLenCP", x.ex(s)))}, {Key: "as", Value: "i"}, {Key: "in", Value: doc("$substrCP", bson.A{x.ex(s), "$$i", int32(1)})}})
			})
			return operation("split", e, kArr, s)
		}
		if r, ok := re(); ok && len(in) == 1 {
			return operation("split", x.regexSplit(s, r, n), kArr, s)
		}
	case "match":
		if r, ok := re(); ok {
			if !strings.Contains(r.Options, "g") {
				return x.regexTest(in[0], s, n)
			}
			pattern, opts := x.regex(r, n)
			x.needs(v42)
			found := doc("$regexFindAll", regexArgs(x.ex(s), pattern, opts))
			m := x.fresh("m")
			list := doc("$map", bson.D{{Key: "input", Value: "$$" + m}, {Key: "as", Value: "f"}, {Key: "in", Value: "$$f.match"}})
			e := doc("$let", bson.D{{Key: "vars", Value: doc(m, found)}, {Key: "in", Value: cond(call("$eq", "$$"+m, bson.A{}), nil, list)}})
			return operation("match", e, kArr|kNull, s)
		}
	case "search":
		if r, ok := re(); ok {
			pattern, opts := x.regex(r, n)
			x.needs(v42)
			x.caveatChars(n)
			m := x.fresh("m")
			e := doc("$let", bson.D{{Key: "vars", Value: doc(m, doc("$regexFind", regexArgs(x.ex(s), pattern, opts)))}, {Key: "in", Value: call("$ifNull", "$$"+m+".idx", int32(-1))}})
			return operation("search", e, kNum, s)
		}
	case "replace":
		to, okTo := text(1)
		if okTo && strings.Contains(to, "$") {
			break
		}
		if from, ok := text(0); ok && okTo && from != "" {
			x.needs(v44)
			e := doc("$replaceOne", bson.D{{Key: "input", Value: x.ex(s)}, {Key: "find", Value: literal(from)}, {Key: "replacement", Value: literal(to)}})
			return operation("replace", e, kStr, s)
		}
		if r, ok := re(); ok && okTo && strings.Contains(r.Options, "g") {
			parts := x.regexSplit(s, r, n)
			return operation("replace", joined(parts, literal(to)), kStr, s)
		}
	case "indexOf", "includes", "startsWith":
		if len(in) == 1 && x.kindsOf(in[0]).only(kStr) {
			x.caveatChars(n)
			found := call("$indexOfCP", x.ex(s), x.ex(in[0]))
			switch name {
			case "indexOf":
				return operation("indexOf", found, kNum, s, in[0])
			case "includes":
				return boolean(call("$gte", found, int32(0)), nil, nil).made("includes", s, in[0])
			}
			return boolean(call("$eq", found, int32(0)), nil, nil)
		}
	case "concat":
		out := s
		for i, a := range in {
			out = x.add(out, x.toStr(a, args[i], false), n, args[i])
		}
		return out
	case "toString", "valueOf":
		return s
	}
	x.refuse(n, RefuseCall, "%s has no exact equivalent", x.text(n))
	return nil
}

func (x *exec) caveatChars(n ast.Node) {
	x.caveat(x.pos(n), CaveatCharacters, "%s counts characters; JavaScript counts those above U+FFFF twice", x.text(n))
}

func (x *exec) substring(s *val, from, to int, hasTo bool, n ast.Node) *val {
	if s.isConst {
		r := []rune(s.c.(string))
		if !hasTo || to > len(r) {
			to = len(r)
		}
		return constant(string(r[min(from, len(r)):max(to, min(from, len(r)))]))
	}
	if s.op != "ascii" {
		x.caveatChars(n)
	}
	if hasTo {
		return operation("substring", call("$substrCP", x.ex(s), int32(from), int32(to-from)), kStr, s)
	}
	return operation("substring", x.bind(s, func(s *val) any {
		return call("$substrCP", x.ex(s), int32(from), doc("$strLenCP", x.ex(s)))
	}), kStr, s)
}

// tail is the last n characters.
func (x *exec) tail(s *val, n int, at ast.Node) *val {
	x.caveatChars(at)
	return operation("substring", x.bind(s, func(s *val) any {
		size := doc("$strLenCP", x.ex(s))
		return call("$substrCP", x.ex(s), doc("$max", bson.A{int32(0), call("$subtract", size, int32(n))}), int32(n))
	}), kStr, s)
}

func regexArgs(input any, pattern, opts string) bson.D {
	d := bson.D{{Key: "input", Value: input}, {Key: "regex", Value: pattern}}
	if opts != "" {
		d = append(d, bson.E{Key: "options", Value: opts})
	}
	return d
}

func (x *exec) regexTest(re, s *val, n ast.Node) *val {
	r, _ := re.c.(primitive.Regex)
	if strings.Contains(r.Options, "g") {
		x.refuse(n, RefuseRegex, "a global regular expression remembers where its last test ended: take the g out")
	}
	pattern, opts := x.regex(r, n)
	x.needs(v42)
	return boolean(doc("$regexMatch", regexArgs(x.ex(s), pattern, opts)), nil, nil)
}

var (
	strangeRegex = regexp.MustCompile(`\\[uxcpPkKGAZzQERhHvVBN]|\(\?[^:=!]|\[\^?\]|\\0|\[\[|\\[1-9]`)
	asciiRegex   = regexp.MustCompile(`\\[wWsSbB]`)
)

// regex writes a JavaScript regular expression for the server. $ must not match before a last line end, and . none of JavaScript's line ends.
func (x *exec) regex(r primitive.Regex, n ast.Node) (pattern, opts string) {
	if strings.Trim(r.Options, "gi") != "" {
		x.refuse(n, RefuseRegex, "flags %s of a regular expression are read differently by the server", r.Options)
	}
	if m := strangeRegex.FindString(r.Pattern); m != "" {
		x.refuse(n, RefuseRegex, "%s in a regular expression is read differently by the server", m)
	}
	if asciiRegex.MatchString(r.Pattern) || strings.Contains(r.Options, "i") {
		x.caveat(x.pos(n), CaveatSpaces, "\\s, \\w, \\b and the flag i know ASCII only in the server")
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(r.Pattern); i++ {
		c := r.Pattern[i]
		switch {
		case c == '\\' && i+1 < len(r.Pattern):
			i++
			if r.Pattern[i] != '/' {
				b.WriteByte(c)
			}
			b.WriteByte(r.Pattern[i])
		case c == '[':
			class = true
			b.WriteByte(c)
		case c == ']':
			class = false
			b.WriteByte(c)
		case c == '$' && !class:
			b.WriteString(`(?!\n)$`)
		case c == '.' && !class:
			b.WriteString("[^\\n\\r\u2028\u2029]")
		default:
			b.WriteByte(c)
		}
	}
	if strings.Contains(r.Options, "i") {
		opts = "i"
	}
	return b.String(), opts
}

// regexSplit is s.split(/re/): what lies between the matches.
func (x *exec) regexSplit(s *val, r primitive.Regex, n ast.Node) any {
	if strings.Contains(strings.ReplaceAll(r.Pattern, `(?:`, ""), "(") {
		x.refuse(n, RefuseRegex, "groups of a regular expression become parts of the result: write (?:…)")
	}
	if re, err := regexp.Compile(r.Pattern); err != nil || re.MatchString("") {
		x.refuse(n, RefuseRegex, "a regular expression that matches nothing at all splits differently in the server")
	}
	pattern, opts := x.regex(primitive.Regex{Pattern: r.Pattern, Options: strings.ReplaceAll(r.Options, "g", "")}, n)
	x.needs(v42)
	return x.bind(s, func(s *val) any {
		e := x.ex(s)
		m, p := x.fresh("m"), x.fresh("p")
		end := func(of string) any { return call("$add", of+".idx", doc("$strLenCP", of+".match")) }
		prev := "$$" + p
		start := cond(call("$eq", "$$i", int32(0)), int32(0), doc("$let", bson.D{
			{Key: "vars", Value: doc(p, call("$arrayElemAt", "$$"+m, call("$subtract", "$$i", int32(1))))}, {Key: "in", Value: end(prev)},
		}))
		stop := call("$ifNull", doc("$let", bson.D{{Key: "vars", Value: doc(p, call("$arrayElemAt", "$$"+m, "$$i"))}, {Key: "in", Value: prev + ".idx"}}), doc("$strLenCP", e))
		piece := doc("$let", bson.D{
			{Key: "vars", Value: bson.D{{Key: "from", Value: start}, {Key: "to", Value: stop}}},
			{Key: "in", Value: call("$substrCP", e, "$$from", call("$subtract", "$$to", "$$from"))},
		})
		return doc("$let", bson.D{
			{Key: "vars", Value: doc(m, doc("$regexFindAll", regexArgs(e, pattern, opts)))},
			{Key: "in", Value: doc("$map", bson.D{
				{Key: "input", Value: call("$range", int32(0), call("$add", doc("$size", "$$"+m), int32(1)))}, {Key: "as", Value: "i"}, {Key: "in", Value: piece},
			})},
		})
	})
}

// joined puts strings together with something between them.
func joined(list, between any) any {
	return doc("$reduce", bson.D{
		{Key: "input", Value: list},
		{Key: "initialValue", Value: nil},
		{Key: "in", Value: cond(call("$eq", "$$value", nil), "$$this", call("$concat", "$$value", between, "$$this"))},
	})
}
