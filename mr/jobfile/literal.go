package jobfile

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// timeForms are what ISODate, new Date and YAML take.
var timeForms = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02", "2006-01", "2006",
}

func parseTime(s string) (time.Time, error) {
	for _, form := range timeForms {
		if t, err := time.Parse(form, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date: write it as 2024-01-31T12:00:00Z", s)
}

// value turns a literal of shell text into BSON. Nothing is computed: what is not written out is an error.
func (s *shell) value(e ast.Expression) (any, error) {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return e.Value.String(), nil
	case *ast.TemplateLiteral:
		if len(e.Expressions) == 0 && e.Tag == nil && len(e.Elements) == 1 {
			return e.Elements[0].Parsed.String(), nil
		}
	case *ast.NumberLiteral:
		return number(e.Value), nil
	case *ast.BooleanLiteral:
		return e.Value, nil
	case *ast.NullLiteral:
		return nil, nil
	case *ast.RegExpLiteral:
		return regex(e.Pattern, e.Flags), nil
	case *ast.UnaryExpression:
		if n, ok := e.Operand.(*ast.NumberLiteral); ok && e.Operator == token.MINUS {
			return negated(number(n.Value)), nil
		}
		if n, ok := e.Operand.(*ast.NumberLiteral); ok && e.Operator == token.PLUS {
			return number(n.Value), nil
		}
	case *ast.ArrayLiteral:
		out := bson.A{}
		for _, x := range e.Value {
			if x == nil { // a hole
				return nil, s.computed(e)
			}
			v, err := s.value(x)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case *ast.ObjectLiteral:
		return s.document(e)
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return primitive.JavaScript(s.text(e)), nil
	case *ast.Identifier:
		return s.named(e)
	case *ast.NewExpression:
		if id, ok := e.Callee.(*ast.Identifier); ok {
			return s.construct(e, id.Name.String(), e.ArgumentList)
		}
	case *ast.CallExpression:
		if id, ok := e.Callee.(*ast.Identifier); ok {
			return s.construct(e, id.Name.String(), e.ArgumentList)
		}
	}
	return nil, s.computed(e)
}

func (s *shell) computed(e ast.Node) error {
	return errorAt(s.at(e), "this value would have to be computed, and job files are not run: write out what it comes to")
}

func number(v any) any {
	switch n := v.(type) {
	case int64:
		if n == int64(int32(n)) {
			return int32(n)
		}
		return float64(n) // the shell has doubles
	case float64:
		return n
	}
	return math.NaN()
}

func negated(v any) any {
	switch n := v.(type) {
	case int32:
		if n == 0 {
			return math.Copysign(0, -1)
		}
		return -n
	case float64:
		return -n
	}
	return v
}

func regex(pattern, flags string) primitive.Regex {
	b := []byte(strings.Map(func(r rune) rune {
		if strings.ContainsRune("imsux", r) {
			return r
		}
		return -1
	}, flags))
	slices.Sort(b)
	return primitive.Regex{Pattern: pattern, Options: string(b)}
}

func (s *shell) document(e *ast.ObjectLiteral) (any, error) {
	out := bson.D{}
	for _, p := range e.Value {
		name, expr, err := s.property(p)
		if err != nil {
			return nil, err
		}
		v, err := s.value(expr)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(out, func(x bson.E) bool { return x.Key == name }); i >= 0 {
			out[i].Value = v // the last one counts
			continue
		}
		out = append(out, bson.E{Key: name, Value: v})
	}
	return out, nil
}

// property is the name and value of one entry of an object literal.
func (s *shell) property(p ast.Property) (string, ast.Expression, error) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		if p.Initializer == nil {
			return p.Name.Name.String(), &p.Name, nil
		}
	case *ast.PropertyKeyed:
		if p.Computed || (p.Kind != ast.PropertyKindValue && p.Kind != ast.PropertyKindMethod) {
			break
		}
		switch k := p.Key.(type) {
		case *ast.StringLiteral:
			return k.Value.String(), p.Value, nil
		case *ast.NumberLiteral:
			return k.Literal, p.Value, nil
		case *ast.Identifier:
			return k.Name.String(), p.Value, nil
		}
	}
	return "", nil, s.computed(p)
}

// named is a variable that was set to a literal earlier, or a name that the shell knows.
func (s *shell) named(id *ast.Identifier) (any, error) {
	name := id.Name.String()
	if e, ok := s.vars[name]; ok {
		if s.depth > maxDepth {
			return nil, errorAt(s.at(id), "%s is defined by itself", name)
		}
		s.depth++
		defer func() { s.depth-- }()
		return s.value(e)
	}
	switch name {
	case "MinKey":
		return primitive.MinKey{}, nil
	case "MaxKey":
		return primitive.MaxKey{}, nil
	case "undefined":
		return primitive.Undefined{}, nil
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	}
	return nil, errorAt(s.at(id), "%s is not defined in this file: write its value here", name)
}

// construct is a value made by one of the shell's constructors.
func (s *shell) construct(at ast.Node, name string, args []ast.Expression) (any, error) {
	var in []any
	for _, a := range args {
		v, err := s.value(a)
		if err != nil {
			return nil, err
		}
		in = append(in, v)
	}
	bad := func(how string) error { return errorAt(s.at(at), "%s: write it as %s", name, how) }
	text := ""
	if len(in) == 1 {
		switch v := in[0].(type) {
		case string:
			text = v
		case int32:
			text = strconv.Itoa(int(v))
		case float64:
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	switch name {
	case "ObjectId", "ObjectID":
		id, err := primitive.ObjectIDFromHex(text)
		if err != nil {
			return nil, bad(`ObjectId("24 hexadecimal digits")`)
		}
		return id, nil
	case "ISODate", "Date":
		if len(in) == 1 {
			if ms, ok := wholeNumber(in[0]); ok {
				return primitive.DateTime(ms), nil
			}
		}
		t, err := parseTime(text)
		if err != nil {
			return nil, bad(name + `("2024-01-31T12:00:00Z"); a job that depends on the time of its run gives another answer each time`)
		}
		return primitive.NewDateTimeFromTime(t), nil
	case "NumberLong", "NumberInt":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, bad(name + `("123")`)
		}
		if name == "NumberInt" {
			return int32(n), nil
		}
		return n, nil
	case "NumberDecimal":
		d, err := primitive.ParseDecimal128(text)
		if err != nil {
			return nil, bad(`NumberDecimal("1.5")`)
		}
		return d, nil
	case "UUID":
		b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		if err != nil || len(b) != 16 {
			return nil, bad(`UUID("00112233-4455-6677-8899-aabbccddeeff")`)
		}
		return primitive.Binary{Subtype: 4, Data: b}, nil
	case "BinData":
		if len(in) == 2 {
			sub, ok := wholeNumber(in[0])
			b64, isText := in[1].(string)
			b, err := base64.StdEncoding.DecodeString(b64)
			if ok && isText && err == nil && sub >= 0 && sub < 256 {
				return primitive.Binary{Subtype: byte(sub), Data: b}, nil
			}
		}
		return nil, bad(`BinData(0, "base64")`)
	case "Timestamp":
		if len(in) == 2 {
			t, ok := wholeNumber(in[0])
			i, ok2 := wholeNumber(in[1])
			if ok && ok2 && t >= 0 && t <= math.MaxUint32 && i >= 0 && i <= math.MaxUint32 {
				return primitive.Timestamp{T: uint32(t), I: uint32(i)}, nil
			}
		}
		return nil, bad("Timestamp(seconds, number)")
	case "MinKey":
		return primitive.MinKey{}, nil
	case "MaxKey":
		return primitive.MaxKey{}, nil
	case "RegExp":
		if len(in) > 0 {
			pattern, ok := in[0].(string)
			flags := ""
			if len(in) > 1 {
				flags, _ = in[1].(string)
			}
			if ok {
				return regex(pattern, flags), nil
			}
		}
		return nil, bad(`/pattern/flags`)
	}
	return nil, s.computed(at)
}
