package into_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/into"
	"mrbench/internal/mimic"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"r.mrbench_parts": "r", "a.b.mrbench_20261201_part_3": "a.b", "r": "", "mrbench_parts": "", ".mrbench_parts": "", "r.mrbench_x.mrbench_parts": "r.mrbench_x",
	} {
		if got, ok := into.ResultOf(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	if got := into.RecordOf("r"); got != "r.mrbench_parts" {
		t.Error(got)
	}
}

// What is no record of this program, or none of this job and list, is left alone, and the error says what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	head := func(more ...bson.E) bson.D {
		d := bson.D{{Key: "_id", Value: "result"}, {Key: "program", Value: "mrbench"}, {Key: "format", Value: 1}, {Key: "job", Value: "j1"}, {Key: "what", Value: "sum by x"}, {Key: "ready", Value: true}}
		for _, e := range more {
			for i := range d {
				if d[i].Key == e.Key {
					d[i] = e
				}
			}
		}
		return d
	}
	plan := bson.D{{Key: "_id", Value: "plan 1"}, {Key: "n", Value: 1}, {Key: "list", Value: "x"}, {Key: "ns", Value: "shop.orders"}, {Key: "key", Value: "k"}, {Key: "ranges", Value: 3}}
	part := bson.D{{Key: "_id", Value: "part 1 2"}, {Key: "plan", Value: 1}, {Key: "range", Value: 2}}
	for _, c := range []struct {
		name   string
		record []any
		is     func(error) bool
		text   string
	}{
		{"another program", []any{head(bson.E{Key: "program", Value: "other"})}, is[*into.ForeignError], `kept.r.mrbench_parts is no record of this mrbench: it says program "other", format 1, not "mrbench", 1: use another name for kept.r`},
		{"a later format", []any{head(bson.E{Key: "format", Value: 2})}, is[*into.ForeignError], `format 2, not "mrbench", 1`},
		{"not a record", []any{bson.D{{Key: "_id", Value: "result"}}}, is[*into.ForeignError], `program "", format 0`},
		{"another shape", []any{head(bson.E{Key: "format", Value: "one"})}, nil, "find in kept.r.mrbench_parts: "},
		{"another job", []any{head(bson.E{Key: "job", Value: "j2"})}, is[*into.OtherJobError], "kept.r is the result of another job, sum by x: use another name"},
		{"another list", []any{head(), plan, part}, is[*into.OtherListError], "kept.r has 1 of the 3 ranges of another list, x of shop.orders by k: finish it with that list (run --plan), or use another name"},
		{"a list of another shape", []any{head(), bson.D{{Key: "_id", Value: "plan 1"}, {Key: "n", Value: "one"}, {Key: "list", Value: 5}}}, nil, "find in kept.r.mrbench_parts: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := mimic.Start(t, mimic.Config{})
			record := s.Inside().Database("kept").Collection("r.mrbench_parts")
			if _, err := record.InsertMany(t.Context(), c.record); err != nil {
				t.Fatal(err)
			}
			m := newMachine(s.Client(t), "a", nil)
			_, err := into.Open(t.Context(), m.Config)
			if err == nil || !strings.Contains(err.Error(), c.text) || c.is != nil && !c.is(err) {
				t.Errorf("%v", err)
			}
			if n, err := record.CountDocuments(t.Context(), bson.D{}); err != nil || n != int64(len(c.record)) || m.prepared != 0 {
				t.Errorf("%d documents, %v; made %d times", n, err, m.prepared)
			}
		})
	}
}

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }

// A list's mode may be refused, before it is noted.
func TestRefuse(t *testing.T) {
	t.Parallel()
	s := mimic.Start(t, mimic.Config{})
	for _, c := range []struct {
		change func(*into.Config)
		mode   string
		base   bool
	}{{nil, into.Merge, false}, {reducing, into.Reduce, false}, {appending, into.Reduce, true}} {
		if c.base {
			if _, err := s.Inside().Database("kept").Collection("r").InsertOne(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
		}
		m := newMachine(s.Client(t), "a", c.change)
		m.Refuse = func(mode string, base bool) error {
			if mode != c.mode || base != c.base {
				t.Errorf("%s, %v; not %s, %v", mode, base, c.mode, c.base)
			}
			return errors.New("no")
		}
		if _, err := into.Open(t.Context(), m.Config); err == nil || err.Error() != "no" {
			t.Errorf("%v", err)
		}
		if open, err := into.Unfinished(t.Context(), m.Client, "kept", "r"); open || err != nil {
			t.Errorf("a refused list was noted: %v", err)
		}
		if err := s.Inside().Database("kept").Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Parts that someone dropped are computed again; a record that someone dropped is not continued; the copy of what was there before can't be replaced.
func TestLost(t *testing.T) {
	t.Parallel()
	s := mimic.Start(t, mimic.Config{})
	kept := s.Inside().Database("kept")
	m := newMachine(s.Client(t), "a", reducing)
	r := m.open(t)
	for i := range 4 {
		put(t, m, r, i)
	}
	if open, err := into.Unfinished(t.Context(), m.Client, "kept", "r"); !open || err != nil {
		t.Errorf("%v, %v", open, err)
	}
	coll, err := r.Where(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Collection(coll).Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = r.Finish(t.Context(), addUp(m))
	if e, ok := errors.AsType[*into.LostPartsError](err); !ok || len(e.Ranges) != 1 || e.Ranges[0] != 3 || !strings.Contains(err.Error(), "run these ranges again") {
		t.Fatalf("%v", err)
	}
	if missing, err := r.Missing(t.Context(), 0, 4); err != nil || len(missing) != 1 || missing[0] != 2 {
		t.Errorf("missing %v, %v", missing, err)
	}
	put(t, m, r, 2)
	// A part that someone took from, too.
	if _, err := kept.Collection(coll).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: 0}}); err != nil {
		t.Fatal(err)
	}
	if done, err := r.Finish(t.Context(), addUp(m)); done || err == nil || !strings.Contains(err.Error(), "gathered 7 results of the 8 in the parts of kept.r") {
		t.Errorf("%v, %v", done, err)
	}
	if _, err := kept.Collection(coll).InsertOne(t.Context(), bson.D{{Key: "_id", Value: 0}, {Key: "value", Value: 1.0}}); err != nil {
		t.Fatal(err)
	}
	finish(t, m, r)
	holds(t, s.Inside(), reduced)
	if open, err := into.Unfinished(t.Context(), m.Client, "kept", "r"); open || err != nil {
		t.Errorf("%v, %v", open, err)
	}

	more := newMachine(s.Client(t), "b", func(c *into.Config) { reducing(c); appending(c); c.List = cut(20) })
	r = more.open(t)
	put(t, more, r, 0)
	put(t, more, r, 1)
	if done, err := r.Finish(t.Context(), func(context.Context, string) error { return errors.New("cut off") }); done || err == nil {
		t.Fatalf("%v, %v", done, err)
	}
	if err := kept.Collection("r.mrbench_b_base").Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done, err := r.Finish(t.Context(), addUp(more)); done || !is[*into.LostBaseError](err) || !strings.Contains(err.Error(), "kept.r.mrbench_b_base, was dropped") {
		t.Errorf("%v, %v", done, err)
	}
	if err := kept.Collection("r.mrbench_parts").Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = r.Done(t.Context(), 1, 10)
	if !is[*into.GoneError](err) || !strings.Contains(err.Error(), "kept.r.mrbench_parts, the record of what is in kept.r, was dropped") {
		t.Errorf("%v", err)
	}
	if _, err := r.Check(t.Context()); !is[*into.GoneError](err) {
		t.Errorf("%v", err)
	}
	if n, err := kept.Collection("r.mrbench_parts").CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
		t.Errorf("a record without a head was begun: %d, %v", n, err)
	}
}

// A server that refuses is named with the collection and what was done there.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault mimic.Fault
		text  string
	}{
		{mimic.Fault{Command: "find", Code: 13}, "find in kept.r.mrbench_parts: "},
		{mimic.Fault{Command: "find", Nth: 2, Code: 13}, "find in kept.r: "},
		{mimic.Fault{Command: "insert", Code: 13}, "insert into kept.r.mrbench_parts: "},
		{mimic.Fault{Command: "update", Nth: 1, Code: 13}, "update kept.r.mrbench_parts: "},
		{mimic.Fault{Command: "insert", Nth: 2, Code: 13}, "insert into kept.r.mrbench_parts: "},
	} {
		s := mimic.Start(t, mimic.Config{})
		s.Inject(c.fault)
		m := newMachine(s.Client(t), "a", nil)
		if _, err := into.Open(t.Context(), m.Config); err == nil || !strings.HasPrefix(err.Error(), c.text) {
			t.Errorf("%s %d: %v", c.fault.Command, c.fault.Nth, err)
		}
		if n, err := s.Inside().Database("kept").Collection("r.mrbench_parts").CountDocuments(t.Context(), bson.D{{Key: "ready", Value: false}}); n != 0 || err != nil {
			t.Fatalf("the next one waits: %d, %v", n, err)
		}
		m.open(t)
	}
}

// A result that others wrote to is not what its parts are.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := mimic.Start(t, mimic.Config{})
	m := newMachine(s.Client(t), "a", nil)
	r := m.open(t)
	for i := range 4 {
		put(t, m, r, i)
	}
	finish(t, m, r)
	coll := s.Inside().Database("kept").Collection("r")
	for _, d := range []bson.D{{{Key: "_id", Value: 5}}, {{Key: "_id", Value: "strange"}}} {
		if _, err := coll.UpdateOne(t.Context(), d, bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: 11}}}}, options.Update().SetUpsert(true)); err != nil {
			t.Fatal(err)
		}
		if c, err := r.Check(t.Context()); c.Agrees() || err != nil || c.PartKeys != 4 || c.PartSum != 40 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}
