package translate

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/mr/jobfile"
)

// withScript leaves the job's functions as they are, within $function and $accumulator. why is what stopped the translation.
func withScript(j *jobfile.Job, why *Refusal) (*Result, error) {
	scope, err := scopeText(j.Scope)
	if err != nil {
		return nil, fmt.Errorf("%w; and with JavaScript: %w", why, err)
	}
	t := &tr{scope: map[string]*val{}}
	b := &builder{tr: t, job: j, res: &Result{JavaScript: true, Refusal: why}}
	if err := refusedIn(b.input); err != nil {
		return nil, err
	}
	t.needs(v44)
	line := func(name string, f jobfile.Function) Line {
		return Line{Position: f.Position(1, 1), Function: name}
	}
	function := func(body string, args ...any) bson.D {
		return doc("$function", bson.D{{Key: "body", Value: body}, {Key: "args", Value: bson.A(args)}, {Key: "lang", Value: "js"}})
	}
	mapBody := "function (doc) {\n" + scope + "var emits = [];\nvar emit = function (k, v) { emits.push({ k: k === undefined ? null : k, v: v }); };\n(" +
		j.Map.Text + "\n).call(doc);\nreturn emits;\n}"
	b.add(doc("$project", bson.D{{Key: "_id", Value: int32(0)}, {Key: "emits", Value: function(mapBody, "$$ROOT")}}), line("map", j.Map))
	b.add(doc("$unwind", "$emits"), line("map", j.Map))
	// reduce is not called for a single value, as in a mapReduce up to 4.2.
	step := func(params, body string) string {
		return "function (" + params + ") {\n" + scope + "var reduce = (" + j.Reduce.Text + "\n);\n" + body + "\n}"
	}
	b.add(doc("$group", bson.D{{Key: "_id", Value: "$emits.k"}, {Key: "reduced", Value: doc("$accumulator", bson.D{
		{Key: "init", Value: "function () { return { n: 0 }; }"},
		{Key: "accumulate", Value: step("state, key, value", "return { n: state.n + 1, k: key, v: state.n === 0 ? value : reduce(key, [state.v, value]) };")},
		{Key: "accumulateArgs", Value: bson.A{"$emits.k", "$emits.v"}},
		{Key: "merge", Value: step("a, b", "if (a.n === 0) return b;\nif (b.n === 0) return a;\nreturn { n: a.n + b.n, k: a.k, v: reduce(a.k, [a.v, b.v]) };")},
		{Key: "lang", Value: "js"},
	})}}), line("reduce", j.Reduce))
	value := any("$reduced.v")
	last := line("reduce", j.Reduce)
	if j.Finalize.Text != "" {
		value = function("function (key, value) {\n"+scope+"return ("+j.Finalize.Text+"\n)(key, value);\n}", "$_id", "$reduced.v")
		last = line("finalize", j.Finalize)
	}
	b.add(doc("$project", doc("value", value)), last)
	t.caveat(why.Position, CaveatScript, "JavaScript stays in the pipeline, with its cost: %s", why.Message)
	if j.Out.Mode == jobfile.Reduce {
		return nil, &Refusal{ID: RefuseOut, Position: jobfile.Position{File: j.File}, Message: "out reduce has no equivalent where JavaScript reduces"}
	}
	b.output(nil)
	b.res.Caveats, b.res.MinVersion = t.caveats, t.version.String()
	return b.res, nil
}

// refusedIn runs what may refuse.
func refusedIn(fn func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r, ok := p.(*Refusal)
			if !ok {
				panic(p)
			}
			err = r
		}
	}()
	fn()
	return nil
}

// scopeText declares the scope's variables.
func scopeText(scope bson.D) (string, error) {
	var b strings.Builder
	for _, e := range scope {
		if !identifier.MatchString(e.Key) {
			return "", fmt.Errorf("scope variable %q is no name", e.Key)
		}
		text := ""
		switch v := e.Value.(type) {
		case primitive.JavaScript:
			text = "(" + string(v) + "\n)"
		case primitive.Undefined:
			text = "undefined"
		default:
			text = mongosh.line(v)
		}
		fmt.Fprintf(&b, "var %s = %s;\n", e.Key, text)
	}
	return b.String(), nil
}
