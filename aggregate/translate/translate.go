package translate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/mr/jobfile"
)

// Options of Translate.
type Options struct {
	// Plain leaves out the guards that keep JavaScript's meaning for values of unusual types. What the pipeline
	// takes for granted then is said in caveats.
	Plain bool
	// AllowJS falls back to $function and $accumulator, which need a server of 4.4, where there is no equivalent.
	AllowJS bool
}

// Stage is one stage and the place of the job that it comes from.
type Stage struct {
	Stage bson.D
	// Lines are places of the job, in the order of the stage's parts.
	Lines []Line
}

// Line is a place of the job and its text.
type Line struct {
	jobfile.Position
	Function string // map, reduce, finalize, or the option's name
	Text     string
}

// Result is a translated job.
type Result struct {
	Stages []Stage // up to the documents {_id, value}
	Out    *Stage  // where the job says they go; nil: inline
	// Caveats are where the meaning may differ, by place.
	Caveats []Caveat
	// MinVersion is the oldest server that knows all of it, such as "4.2".
	MinVersion string
	// JavaScript is left in it: Refusal says why.
	JavaScript bool
	Refusal    *Refusal
	// Unordered are fields of the value whose elements, or fields, are in no defined order, in dot notation; "" is the value itself.
	Unordered []string
}

// Pipeline is the stages as MongoDB takes them, without what writes the result.
func (r *Result) Pipeline() []bson.D {
	out := make([]bson.D, len(r.Stages))
	for i, s := range r.Stages {
		out[i] = s.Stage
	}
	return out
}

// Translate makes a pipeline of a job. A job with no equivalent is a *Refusal; one that does not parse a *jobfile.Error.
func Translate(j *jobfile.Job, o Options) (*Result, error) {
	res, err := translate(j, o)
	refusal, refused := errors.AsType[*Refusal](err)
	if !refused || !o.AllowJS || refusal.ID == RefuseQuery || refusal.ID == RefuseOut {
		return res, err
	}
	return withScript(j, refusal)
}

func translate(j *jobfile.Job, o Options) (*Result, error) {
	var fns [3]source
	for i, f := range []jobfile.Function{j.Map, j.Reduce, j.Finalize} {
		if f.Text == "" {
			continue
		}
		p, err := f.Parse()
		if err != nil {
			return nil, err
		}
		fns[i] = p
	}
	if fns[1] == nil {
		return nil, &jobfile.Error{Position: jobfile.Position{File: j.File}, Message: "the job has no reduce function"}
	}
	var err error
	for _, mode := range []loopMode{modePath, modeTemp, modeGeneral} {
		var res *Result
		if res, err = attempt(j, fns, o, mode); !errors.Is(err, errConflict) {
			return res, err
		}
	}
	return nil, err
}

var errConflict = errors.New("translate: these loops can't be written so")

func attempt(j *jobfile.Job, fns [3]source, o Options, mode loopMode) (res *Result, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Refusal:
			res, err = nil, p
		case conflict:
			res, err = nil, errConflict
			if mode == modeGeneral {
				err = &Refusal{ID: RefuseLoop, Position: j.Map.Position(1, 1), Message: "the loops of this function can't be written as a pipeline"}
			}
		default:
			panic(p)
		}
	}()
	t := &tr{plain: o.Plain, scope: map[string]*val{}, version: v36, mode: mode}
	if err := t.readScope(j); err != nil {
		return nil, err
	}
	b := &builder{tr: t, job: j, res: &Result{}, fns: fns}
	b.build()
	b.res.Caveats = t.caveats
	slices.SortStableFunc(b.res.Caveats, func(a, c Caveat) int {
		if a.Line != c.Line {
			return a.Line - c.Line
		}
		return a.Column - c.Column
	})
	b.res.MinVersion = t.version.String()
	return b.res, nil
}

// readScope makes constants of the job's scope.
func (t *tr) readScope(j *jobfile.Job) error {
	for _, e := range j.Scope {
		switch v := e.Value.(type) {
		case primitive.JavaScript:
			f := jobfile.Function{Text: string(v), File: j.File + " (scope " + e.Key + ")", Line: 1, Column: 1}
			p, err := f.Parse()
			if err != nil {
				return fmt.Errorf("scope %s: %w", e.Key, err)
			}
			t.scope[e.Key] = &val{fn: &closure{params: p.Params, body: p.Body, result: p.Result, src: p}, k: kOther}
		default:
			t.scope[e.Key] = bsonVal(v)
		}
	}
	return nil
}

// bsonVal is a BSON value as a script sees it.
func bsonVal(v any) *val {
	switch v := v.(type) {
	case int32:
		return number(float64(v))
	case bson.D:
		o := newObject()
		for _, e := range v {
			if e.Key == "" || strings.ContainsAny(e.Key, ".\x00") || e.Key[0] == '$' {
				return constant(v)
			}
			o.set(e.Key, bsonVal(e.Value))
		}
		return objectVal(o)
	case bson.A:
		a := arrayVal()
		for _, e := range v {
			a.arr = append(a.arr, bsonVal(e))
		}
		return a
	case primitive.Undefined:
		return undef()
	}
	return constant(v)
}

// builder puts the stages together.
type builder struct {
	*tr
	job *jobfile.Job
	res *Result
	fns [3]source // map, reduce, finalize
}

func (b *builder) add(stage bson.D, lines ...Line) {
	b.res.Stages = append(b.res.Stages, Stage{stage, lines})
}

func (b *builder) option(name string) Line {
	return Line{Position: jobfile.Position{File: b.job.File}, Function: name}
}

// exec makes an interpreter for one of the functions.
func (b *builder) exec(fn source) *exec {
	return &exec{tr: b.tr, src: fn, st: &state{store: map[int]*val{}, known: facts{}}, env: &env{cells: map[string]int{}}}
}

func (x *exec) line(function string, n ast.Node) Line {
	l := Line{Position: x.pos(n), Function: function}
	if n != nil {
		l.Text = x.text(n)
	}
	return l
}

func (b *builder) build() {
	b.input()
	x := b.exec(b.fns[0])
	x.this = &val{sp: spThis, k: kObj}
	x.sc, x.mapping = &scope{}, true
	if b.fns[0].Arrow {
		x.this = nil
	}
	fn := b.fns[0]
	rets := []returned{}
	x.st.rets = &rets
	if fn.Result != nil {
		x.eval(fn.Result)
	} else {
		x.hoist(fn.Body)
		x.block(fn.Body)
	}
	var emits []*emitted
	collect(x.sc, &emits)
	if len(emits) == 0 {
		x.refuse(nil, RefuseNoEmit, "map never emits")
	}
	if len(emits) > 1 && b.mode != modeGeneral {
		panic(conflict{})
	}
	s := b.shape(x, emits)
	var key *val
	var leaves []*val
	if b.mode == modeGeneral && (len(emits) > 1 || hasLoop(x.sc)) {
		key, leaves = b.general(x, s, emits)
	} else {
		key, leaves = b.chain(x, s, emits[0])
	}
	rx := b.exec(b.fns[1])
	alg := rx.analyze(b.fns[1], s, len(b.job.Sort) > 0)
	b.group(x, rx, s, alg, key, leaves, emits)
	b.output(alg)
}

func collect(sc *scope, out *[]*emitted) {
	for _, n := range sc.nodes {
		if n.emit != nil {
			*out = append(*out, n.emit)
		} else {
			collect(n.loop.body, out)
		}
	}
}

func hasLoop(sc *scope) bool {
	return slices.ContainsFunc(sc.nodes, func(n node) bool { return n.loop != nil })
}

// shape is the common shape of what map emits.
func (b *builder) shape(x *exec, emits []*emitted) shape {
	s := shapeOf(emits[0].value)
	for _, e := range emits[1:] {
		o := shapeOf(e.value)
		if !s.same(o) {
			x.refuse(e.at, RefuseShape, "this emit has other fields in its value than the one at %s", x.pos(emits[0].at))
		}
		for i := range s.kinds {
			s.kinds[i] |= o.kinds[i]
		}
		s.bag = s.bag || o.bag
	}
	for i, p := range s.paths {
		if i > 0 && len(p) > 0 && p[0] == "_id" {
			x.refuse(emits[0].at, RefuseShape, "a server moves the field _id of a value to the front: put it first")
		}
	}
	return s
}

// input is query, sort and limit.
func (b *builder) input() {
	j := b.job
	if len(j.Query) > 0 {
		b.checkQuery(j.Query)
		b.add(doc("$match", j.Query), b.option("query"))
	}
	if len(j.Sort) > 0 {
		b.add(doc("$sort", j.Sort), b.option("sort"))
	}
	if j.Limit > 0 {
		b.add(doc("$limit", j.Limit), b.option("limit"))
	}
}

// checkQuery refuses operators that find takes and $match does not.
func (b *builder) checkQuery(v any) {
	switch v := v.(type) {
	case bson.D:
		for _, e := range v {
			if slices.Contains([]string{"$where", "$near", "$nearSphere"}, e.Key) {
				panic(&Refusal{ID: RefuseQuery, Position: jobfile.Position{File: b.job.File}, Message: "$match does not take " + e.Key + ": write it as " +
					map[string]string{"$where": "$expr", "$near": "$geoWithin", "$nearSphere": "$geoWithin"}[e.Key]})
			}
			b.checkQuery(e.Value)
		}
	case bson.A:
		for _, e := range v {
			b.checkQuery(e)
		}
	}
}

// checks adds a stage that ends the pipeline where the function would throw.
func (b *builder) checks(x *exec, function string, sc *scope) {
	var all []any
	for _, c := range sc.checks {
		all = append(all, cond(c.bad, c.fail, true))
	}
	if len(all) > 0 {
		b.add(doc("$match", doc("$expr", all2(all...))), x.line(function, nil))
	}
}

func (b *builder) match(live []any, l Line) {
	if e := all2(live...); e != true {
		b.add(doc("$match", doc("$expr", e)), l)
	}
}

// chain writes a map with one emit: $match and $unwind one after the other.
func (b *builder) chain(x *exec, s shape, e *emitted) (key *val, leaves []*val) {
	sc := x.sc
	for {
		b.checks(x, "map", sc)
		n := sc.nodes[slices.IndexFunc(sc.nodes, func(n node) bool { return n.emit != nil || contains(n.loop.body) })]
		if n.emit != nil {
			b.match(n.live, x.line("map", n.emit.at))
			break
		}
		l := n.loop
		b.match(append(slices.Clone(n.live), l.guardOf()), x.line("map", l.at))
		if l.path != "" {
			b.add(doc("$unwind", l.path), x.line("map", l.at))
		} else {
			b.add(doc("$addFields", doc(l.name, l.source)), x.line("map", l.at))
			b.add(doc("$unwind", "$"+l.name), x.line("map", l.at))
		}
		sc = l.body
	}
	for _, p := range s.paths {
		leaves = append(leaves, leafOf(e.value, p))
	}
	return e.key, leaves
}

func (l *loop) guardOf() any {
	if l.path == "" {
		return true
	}
	return l.guard
}

func contains(sc *scope) bool {
	var e []*emitted
	collect(sc, &e)
	return len(e) > 0
}

// general writes all emits of a document as an array, then unwinds it.
func (b *builder) general(x *exec, s shape, emits []*emitted) (key *val, leaves []*val) {
	single := make([]bool, len(s.paths)) // arrays of one element travel as the element
	for i, p := range s.paths {
		single[i] = true
		for _, e := range emits {
			v := leafOf(e.value, p)
			single[i] = single[i] && v.isArr && len(v.arr) == 1
		}
	}
	name := func(i int) string { return fieldOf(s.paths[i]) }
	one := func(e *emitted) any {
		d := bson.D{{Key: "_id", Value: x.ex(e.key)}}
		for i, p := range s.paths {
			v := leafOf(e.value, p)
			if single[i] {
				v = v.arr[0]
			}
			d = append(d, bson.E{Key: name(i), Value: x.ex(v)})
		}
		return d
	}
	var list func(sc *scope) any
	list = func(sc *scope) any {
		var parts bson.A
		for _, n := range sc.nodes {
			live := all2(n.live...)
			if n.emit != nil {
				parts = append(parts, cond(live, bson.A{one(n.emit)}, bson.A{}))
				continue
			}
			l := n.loop
			if !contains(l.body) {
				continue
			}
			var e any
			in := l.body
			if len(in.nodes) == 1 && in.nodes[0].emit != nil && len(in.checks) == 0 {
				input := l.source
				if test := all2(in.nodes[0].live...); test != true {
					input = doc("$filter", bson.D{{Key: "input", Value: input}, {Key: "as", Value: l.name}, {Key: "cond", Value: test}})
				}
				e = doc("$map", bson.D{{Key: "input", Value: input}, {Key: "as", Value: l.name}, {Key: "in", Value: one(in.nodes[0].emit)}})
			} else {
				body := list(in)
				for _, c := range slices.Backward(in.checks) {
					body = cond(c.bad, c.fail, body)
				}
				e = doc("$reduce", bson.D{
					{Key: "input", Value: doc("$map", bson.D{{Key: "input", Value: l.source}, {Key: "as", Value: l.name}, {Key: "in", Value: body}})},
					{Key: "initialValue", Value: bson.A{}}, {Key: "in", Value: call("$concatArrays", "$$value", "$$this")},
				})
			}
			parts = append(parts, cond(live, e, bson.A{}))
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return doc("$concatArrays", parts)
	}
	b.checks(x, "map", x.sc)
	var lines []Line
	for _, e := range emits {
		lines = append(lines, x.line("map", e.at))
	}
	all := list(x.sc)
	if d, ok := all.(bson.D); ok && d[0].Key == "$concatArrays" && allSingles(d[0].Value.(bson.A)) {
		flat := bson.A{}
		for _, p := range d[0].Value.(bson.A) {
			flat = append(flat, p.(bson.A)...)
		}
		all = flat
	}
	b.add(doc("$project", bson.D{{Key: "_id", Value: int32(0)}, {Key: "emits", Value: all}}), lines...)
	b.add(doc("$unwind", "$emits"), lines...)
	kk := kinds(0)
	for _, e := range emits {
		kk |= e.key.k
	}
	key = &val{path: "$emits._id", k: kk, elem: true, depth: 99}
	for i := range s.paths {
		v := &val{path: "$emits." + name(i), k: s.kinds[i], elem: true, depth: 99}
		if single[i] {
			v.k = 0
			for _, e := range emits {
				v.k |= leafOf(e.value, s.paths[i]).arr[0].k
			}
			v = arrayVal(v)
		}
		leaves = append(leaves, v)
	}
	return key, leaves
}

func allSingles(parts bson.A) bool {
	for _, p := range parts {
		if a, ok := p.(bson.A); !ok || len(a) != 1 {
			return false
		}
	}
	return true
}

// fieldOf names a leaf of the value.
func fieldOf(path []string) string {
	if len(path) == 0 {
		return "value"
	}
	name := strings.Join(path, "_")
	if name == "_id" {
		return "_id_"
	}
	return name
}
