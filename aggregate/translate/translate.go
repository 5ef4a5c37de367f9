package translate

import (
	"errors"
	"fmt"
	"runtime"
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
		case runtime.Error: // a fault of ours must not end the caller's program
			res, err = nil, &Refusal{ID: RefuseSyntax, Position: j.Map.Position(1, 1), Message: "the translator failed on this job: " + p.Error()}
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
