package translate

import (
	"strings"
	"time"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// dateParts are the methods of Date and the operators that give the same, or one more.
var dateParts = map[string]struct {
	op   string
	less int32
}{
	"FullYear": {"$year", 0}, "Month": {"$month", 1}, "Date": {"$dayOfMonth", 0}, "Day": {"$dayOfWeek", 1},
	"Hours": {"$hour", 0}, "Minutes": {"$minute", 0}, "Seconds": {"$second", 0}, "Milliseconds": {"$millisecond", 0},
}

// dateMethod is d.name() of a date.
func (x *exec) dateMethod(n *ast.CallExpression, d *val, name string) *val {
	if len(n.ArgumentList) > 0 {
		x.refuse(n, RefuseDate, "%s takes no arguments with an equivalent", name)
	}
	switch name {
	case "getTime":
		x.needs(v40)
		return operation("getTime", doc("$toDouble", x.ex(d)), kNum, d)
	case "toISOString", "toJSON":
		v := operation("ascii", doc("$dateToString", bson.D{{Key: "format", Value: "%Y-%m-%dT%H:%M:%S.%LZ"}, {Key: "date", Value: x.ex(d)}}), kStr, d)
		return v
	}
	part := strings.TrimPrefix(name, "get")
	utc := strings.HasPrefix(part, "UTC")
	part = strings.TrimPrefix(part, "UTC")
	p, ok := dateParts[part]
	if !ok {
		x.refuse(n, RefuseDate, "%s has no exact equivalent", x.text(n))
	}
	if !utc {
		x.localTime(n)
	}
	var e any = doc(p.op, x.ex(d))
	if p.less > 0 {
		e = call("$subtract", e, p.less)
	}
	v := operation(name, e, kNum, d)
	v.small = true
	return v
}

func (x *exec) localTime(n ast.Node) {
	x.caveat(x.pos(n), CaveatTimeZone, "%s is in the time zone of the server that runs the mapReduce, which is taken to be UTC", x.text(n))
}

// construct is new X(…).
func (x *exec) construct(n *ast.NewExpression) *val {
	id, ok := n.Callee.(*ast.Identifier)
	if !ok {
		x.refuse(n, RefuseSyntax, "%s has no equivalent", x.text(n))
	}
	var args []*val
	for _, a := range n.ArgumentList {
		args = append(args, x.settle(x.eval(a)))
	}
	switch id.Name.String() {
	case "Date", "ISODate":
		return x.date(args, n)
	case "Array":
		if len(args) == 0 {
			return arrayVal()
		}
	case "Object":
		if len(args) == 0 {
			return objectVal(newObject())
		}
	case "NumberLong", "ObjectId", "NumberInt", "NumberDecimal":
		return x.global(&ast.CallExpression{Callee: n.Callee, ArgumentList: n.ArgumentList, LeftParenthesis: n.LeftParenthesis, RightParenthesis: n.RightParenthesis}, id.Name.String())
	}
	x.refuse(n, RefuseSyntax, "%s has no equivalent", x.text(n))
	return nil
}

// date is new Date(…).
func (x *exec) date(args []*val, n ast.Node) *val {
	switch {
	case len(args) == 0:
		x.refuse(n, RefuseNow, "%s depends on the time of the run: put the time into the job's scope", x.text(n))
	case len(args) > 1:
		x.localTime(n)
		return x.dateFromParts(args, n)
	}
	v := args[0]
	if v.isConst {
		switch c := v.c.(type) {
		case float64:
			return constant(primitive.DateTime(int64(c)))
		case string:
			for _, form := range []string{time.RFC3339Nano, "2006-01-02"} {
				if t, err := time.Parse(form, c); err == nil {
					return constant(primitive.NewDateTimeFromTime(t))
				}
			}
			x.refuse(n, RefuseDate, "%s: write the date as 2024-01-31T12:00:00Z", x.text(n))
		case primitive.DateTime:
			return v
		}
	}
	k := x.kindsOf(v)
	if k.only(kDate) {
		return v
	}
	x.needs(v40)
	if x.plain && k.has(kDate) {
		x.caveat(x.pos(n), CaveatType, "%s is taken to be a date or a number of milliseconds", shown(v))
		return expr(doc("$toDate", x.ex(v)), kDate)
	}
	e := x.bind(v, func(v *val) any {
		e := x.ex(v)
		var b bson.A
		if k.has(kDate) {
			b = append(b, bson.D{{Key: "case", Value: x.isKind(v, kDate)}, {Key: "then", Value: e}})
		}
		if k.has(kNum | kLong) {
			ms := doc("$toDate", doc("$toLong", e)) // NaN and what is too large end the pipeline
			if k.only(kNum | kLong) {
				return ms
			}
			b = append(b, bson.D{{Key: "case", Value: x.isKind(v, k&(kNum|kLong))}, {Key: "then", Value: ms}})
		}
		return switchOf(b, x.fail(n, e, "%s has to be a date or a number of milliseconds", x.text(n)))
	})
	return expr(e, kDate)
}

// dateFromParts is new Date(year, month, …) and Date.UTC(…), in UTC.
func (x *exec) dateFromParts(args []*val, n ast.Node) *val {
	names := []string{"year", "month", "day", "hour", "minute", "second", "millisecond"}
	if len(args) < 2 || len(args) > len(names) {
		x.refuse(n, RefuseDate, "%s has no exact equivalent", x.text(n))
	}
	d := bson.D{}
	for i, a := range args {
		v := x.toNum(a, n)
		e := x.ex(v)
		if c, ok := v.c.(float64); ok && v.isConst {
			if c != float64(int32(c)) {
				x.refuse(n, RefuseDate, "%s: parts of a date have to be whole numbers", x.text(n))
			}
			if i == 0 && c >= 0 && c < 100 {
				x.refuse(n, RefuseDate, "%s: years below 100 are years of the 20th century", x.text(n))
			}
			if i == 1 {
				c++
			}
			d = append(d, bson.E{Key: names[i], Value: int32(c)})
			continue
		}
		if i == 1 {
			if inner, ok := e.(bson.D); ok && inner[0].Key == "$subtract" {
				if a := inner[0].Value.(bson.A); a[1] == int32(1) { // getMonth() and back
					d = append(d, bson.E{Key: names[i], Value: a[0]})
					continue
				}
			}
			e = call("$add", e, int32(1))
			x.needs(v44) // months beyond 12 carry over
		}
		d = append(d, bson.E{Key: names[i], Value: e})
	}
	return expr(doc("$dateFromParts", d), kDate)
}
