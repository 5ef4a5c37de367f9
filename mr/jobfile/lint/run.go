package lint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/mr/jobfile"
)

const (
	maxEmits  = 50_000
	maxKeys   = 20 // whose values are permuted
	maxValues = 40 // of a key
	timeLimit = 5 * time.Second
)

// prelude has what map and reduce find on a server, as far as it matters here.
const prelude = `
Array.sum = function (a) { if (a.length === 0) return null; var s = a[0]; for (var i = 1; i < a.length; i++) s += a[i]; return s; };
Array.avg = function (a) { return a.length === 0 ? null : Array.sum(a) / a.length; };
Array.contains = function (a, v) { return a.some(function (x) { return x == v; }); };
Array.unique = function (a) { return a.filter(function (x, i) { return a.indexOf(x) === i; }); };
var NumberLong = Number, NumberInt = Number, NumberDecimal = Number;
var ISODate = function (s) { return s === undefined ? new Date() : new Date(s); };
var ObjectId = function (s) { this.str = s; };
ObjectId.prototype.toString = function () { return 'ObjectId("' + this.str + '")'; };
var print = function () {}, printjson = print, tojson = JSON.stringify;
`

// shown is a value as text that is equal for equal values: numbers to twelve digits.
const shown = `(function (v) {
  return JSON.stringify(v === undefined ? null : v, function (k, x) {
    if (typeof x === "number") return isFinite(x) ? Number(x.toPrecision(12)) : String(x);
    return x === undefined ? null : x;
  });
})`

// shapeOf is the names and types in a value.
const shapeOf = `(function shape(v) {
  if (v === null || typeof v !== "object") return v === undefined || v === null ? "nothing" : typeof v;
  if (Array.isArray(v)) return "array";
  if (v instanceof Date) return "date";
  return "{" + Object.keys(v).sort().map(function (k) { return k; }).join(", ") + "}";
})`

type runner struct {
	*checker
	vm          *goja.Runtime
	job         *jobfile.Job
	reduce      goja.Callable
	text, shape goja.Callable
	emits       map[string][]goja.Value
	keys        map[string]goja.Value
	order       []string
	n           int
}

func (c *checker) run(ctx context.Context, j *jobfile.Job, docs []bson.Raw) error {
	if j.Reduce.Text == "" {
		return nil
	}
	r := &runner{checker: c, vm: goja.New(), job: j, emits: map[string][]goja.Value{}, keys: map[string]goja.Value{}}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.vm.Interrupt("the time for trying the job is over") })
	defer stop()
	if err := r.prepare(); err != nil {
		return err
	}
	if len(docs) > 0 {
		if err := r.mapAll(docs); err != nil {
			return r.only(err)
		}
	}
	if r.n == 0 {
		if err := r.makeUp(); err != nil {
			return r.only(err)
		}
	}
	return r.only(r.tryAll())
}

// only passes on what ends the program; a function that takes too long has been tried long enough.
func (r *runner) only(err error) error {
	if _, ok := errors.AsType[*goja.InterruptedError](err); ok {
		return nil
	}
	return err
}

func (r *runner) prepare() error {
	run := func(text string) (goja.Callable, error) {
		v, err := r.vm.RunString(text)
		if err != nil {
			return nil, err
		}
		f, _ := goja.AssertFunction(v)
		return f, nil
	}
	if _, err := run(prelude); err != nil {
		return fmt.Errorf("lint: %w", err)
	}
	for _, e := range r.job.Scope {
		if code, ok := e.Value.(primitive.JavaScript); ok {
			v, err := r.vm.RunString("(" + string(code) + "\n)")
			if err != nil {
				return fmt.Errorf("lint: scope %s: %w", e.Key, err)
			}
			if err := r.vm.Set(e.Key, v); err != nil {
				return err
			}
			continue
		}
		if err := r.vm.Set(e.Key, r.value(e.Value)); err != nil {
			return err
		}
	}
	var err error
	if r.text, err = run(shown); err != nil {
		return err
	}
	if r.shape, err = run(shapeOf); err != nil {
		return err
	}
	if r.reduce, err = run("(" + r.job.Reduce.Text + "\n)"); err != nil {
		return err
	}
	return nil
}

// value makes a JavaScript value of a BSON one. What has no like of its own becomes an object.
func (r *runner) value(v any) goja.Value {
	switch v := v.(type) {
	case bson.D:
		o := r.vm.NewObject()
		for _, e := range v {
			_ = o.Set(e.Key, r.value(e.Value)) // a plain object takes any name
		}
		return o
	case bson.A:
		items := make([]any, len(v))
		for i, e := range v {
			items[i] = r.value(e)
		}
		return r.vm.NewArray(items...)
	case primitive.DateTime:
		d, err := r.vm.New(r.vm.Get("Date"), r.vm.ToValue(int64(v)))
		if err != nil {
			return goja.Null()
		}
		return d
	case primitive.ObjectID:
		d, err := r.vm.New(r.vm.Get("ObjectId"), r.vm.ToValue(v.Hex()))
		if err != nil {
			return goja.Null()
		}
		return d
	case nil:
		return goja.Null()
	case primitive.Undefined:
		return goja.Undefined()
	case int32, int64, float64, string, bool:
		return r.vm.ToValue(v)
	}
	return r.vm.ToValue(fmt.Sprint(v))
}

// mapAll collects what map emits.
func (r *runner) mapAll(docs []bson.Raw) error {
	err := r.vm.Set("emit", func(call goja.FunctionCall) goja.Value {
		if r.n++; r.n > maxEmits {
			return goja.Undefined()
		}
		r.emit(call.Argument(0), call.Argument(1))
		return goja.Undefined()
	})
	if err != nil {
		return err
	}
	v, err := r.vm.RunString("(" + r.job.Map.Text + "\n)")
	if err != nil {
		return fmt.Errorf("lint: map: %w", err)
	}
	mapFn, ok := goja.AssertFunction(v)
	if !ok {
		return nil
	}
	for _, raw := range docs {
		var d bson.D
		if err := bson.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("lint: %w", err)
		}
		if _, err := mapFn(r.value(d)); err != nil {
			if _, stopped := errors.AsType[*goja.InterruptedError](err); stopped {
				return err
			}
			id, _ := bson.MarshalExtJSON(bson.D{{Key: "_id", Value: raw.Lookup("_id")}}, false, false)
			r.add(r.thrownAt(r.job.Map, err), Throws, "map throws on the document %s: %s", id, message(err))
		}
	}
	return nil
}

func (r *runner) emit(key, value goja.Value) {
	k := r.show(key)
	if _, ok := r.emits[k]; !ok {
		r.keys[k] = key
		r.order = append(r.order, k)
	}
	if len(r.emits[k]) < maxValues {
		r.emits[k] = append(r.emits[k], value)
	}
}

func (r *runner) show(v goja.Value) string {
	s, err := r.text(goja.Undefined(), v)
	if err != nil {
		return "?"
	}
	return s.String()
}

var place = regexp.MustCompile(`:(\d+):(\d+)`)

// thrownAt is where in the job's file a function threw.
func (r *runner) thrownAt(f jobfile.Function, err error) jobfile.Position {
	if e, ok := errors.AsType[*goja.Exception](err); ok {
		if m := place.FindStringSubmatch(e.String()); m != nil {
			line, _ := strconv.Atoi(m[1])
			column, _ := strconv.Atoi(m[2])
			if line == 1 {
				column--
			}
			if line <= strings.Count(f.Text, "\n")+1 {
				return f.Position(line, max(column, 1))
			}
		}
	}
	return f.Position(1, 1)
}

func message(err error) string {
	if e, ok := errors.AsType[*goja.Exception](err); ok {
		return e.Value().String()
	}
	return err.Error()
}

// makeUp makes values of the shape that map's emits are written in.
func (r *runner) makeUp() error {
	p, err := r.job.Map.Parse()
	if err != nil {
		return err
	}
	var literal ast.Expression
	look := func(n any) {
		if c, ok := n.(*ast.CallExpression); ok && len(c.ArgumentList) == 2 {
			if id, ok := c.Callee.(*ast.Identifier); ok && id.Name.String() == "emit" && literal == nil {
				literal = c.ArgumentList[1]
			}
		}
	}
	for _, s := range p.Body {
		walk(s, look)
	}
	if p.Result != nil {
		walk(p.Result, look)
	}
	if literal == nil {
		return nil
	}
	rng := rand.New(rand.NewPCG(1, 2)) // the same findings every time
	for range 12 {
		r.emit(r.vm.ToValue("key"), r.value(madeUp(literal, rng)))
	}
	return nil
}

func madeUp(e ast.Expression, rng *rand.Rand) any {
	switch e := e.(type) {
	case *ast.ObjectLiteral:
		d := bson.D{}
		for _, p := range e.Value {
			k, ok := p.(*ast.PropertyKeyed)
			if !ok {
				continue
			}
			switch name := k.Key.(type) {
			case *ast.StringLiteral:
				d = append(d, bson.E{Key: name.Value.String(), Value: madeUp(k.Value, rng)})
			case *ast.Identifier:
				d = append(d, bson.E{Key: name.Name.String(), Value: madeUp(k.Value, rng)})
			}
		}
		return d
	case *ast.ArrayLiteral:
		a := bson.A{}
		for _, item := range e.Value {
			a = append(a, madeUp(item, rng))
		}
		return a
	case *ast.StringLiteral:
		return e.Value.String()
	case *ast.NumberLiteral:
		if n, ok := e.Value.(int64); ok {
			return float64(n)
		}
	}
	return float64(rng.IntN(100))
}

// tryAll reduces the values of some keys in other orders and groups.
func (r *runner) tryAll() error {
	keys := slices.Clone(r.order)
	slices.SortStableFunc(keys, func(a, b string) int { return len(r.emits[b]) - len(r.emits[a]) })
	for _, k := range keys[:min(len(keys), maxKeys)] {
		vs := r.emits[k]
		if len(vs) < 2 {
			break
		}
		if err := r.try(r.keys[k], vs); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) call(key goja.Value, vs []goja.Value) (goja.Value, error) {
	items := make([]any, len(vs))
	for i, v := range vs {
		items[i] = r.clone(v)
	}
	return r.reduce(goja.Undefined(), key, r.vm.NewArray(items...))
}

// clone keeps a reduce that changes its values from changing those of the next try.
func (r *runner) clone(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	switch o.ClassName() {
	case "Array":
		n := int(o.Get("length").ToInteger())
		items := make([]any, n)
		for i := range n {
			items[i] = r.clone(o.Get(strconv.Itoa(i)))
		}
		return r.vm.NewArray(items...)
	case "Object":
		if o.Get("str") != nil {
			return v // an ObjectId
		}
		c := r.vm.NewObject()
		for _, k := range o.Keys() {
			_ = c.Set(k, r.clone(o.Get(k)))
		}
		return c
	}
	return v
}

func (r *runner) try(key goja.Value, vs []goja.Value) error {
	here := r.job.Reduce.Position(1, 1)
	throws := func(err error) error {
		if _, stopped := errors.AsType[*goja.InterruptedError](err); stopped {
			return err
		}
		r.add(r.thrownAt(r.job.Reduce, err), Throws, "reduce throws for key %s: %s", r.show(key), message(err))
		return nil
	}
	whole, err := r.call(key, vs)
	if err != nil {
		return throws(err)
	}
	want := r.show(whole)
	if a, b := r.shapeText(vs[0]), r.shapeText(whole); a != b && a != "nothing" {
		r.add(here, Shape, "map emits %s and reduce returns %s: a key with one value keeps what map emits", a, b)
	}
	rng := rand.New(rand.NewPCG(3, uint64(len(vs))))
	for range 4 {
		mixed := slices.Clone(vs)
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		v, err := r.call(key, mixed)
		if err != nil {
			return throws(err)
		}
		if got := r.show(v); got != want {
			r.add(here, Order, "for key %s reduce gives %s, and %s when the values come in another order", r.show(key), short(want), short(got))
			break
		}
	}
	if len(vs) < 3 {
		return nil
	}
	for _, cut := range []int{2, len(vs) / 2, len(vs) - 1} {
		if cut < 1 || cut >= len(vs) {
			continue
		}
		part, err := r.call(key, vs[:cut])
		if err != nil {
			return throws(err)
		}
		v, err := r.call(key, append([]goja.Value{part}, vs[cut:]...))
		if err != nil {
			return throws(err)
		}
		if got := r.show(v); got != want {
			r.add(here, Number, "for key %s reduce gives %s, and %s when the first %d values are reduced before the others", r.show(key), short(want), short(got), cut)
			break
		}
	}
	return nil
}

func (r *runner) shapeText(v goja.Value) string {
	s, err := r.shape(goja.Undefined(), v)
	if err != nil {
		return "?"
	}
	return s.String()
}

func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}
