package translate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/aggregate"
	"mrbench/aggregate/translate"
	"mrbench/internal/parity"
	"mrbench/internal/target"
	"mrbench/mr"
	"mrbench/mr/jobfile"
)

// engine is one embedded engine for a test.
type engine struct {
	t      testing.TB
	target *target.Target
	runs   int
}

func newEngine(t testing.TB) *engine {
	t.Helper()
	tg, err := target.Open(context.Background(), target.Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	return &engine{t: t, target: tg}
}

func (e *engine) fill(name string, docs []bson.D) *mongo.Collection {
	e.t.Helper()
	c := e.target.Client.Database("data").Collection(name)
	if err := c.Drop(context.Background()); err != nil {
		e.t.Fatal(err)
	}
	list := make([]any, len(docs))
	for i, d := range docs {
		list[i] = d
	}
	for i := 0; i < len(list); i += 1000 {
		if _, err := c.InsertMany(context.Background(), list[i:min(i+1000, len(list))]); err != nil {
			e.t.Fatal(err)
		}
	}
	return c
}

// mapReduce runs the job and gives its answer.
func (e *engine) mapReduce(c *mongo.Collection, j *jobfile.Job) (mr.Answer, error) {
	e.runs++
	rep, err := mr.Run(context.Background(), mr.Config{
		Client: e.target.Client, DB: c.Database().Name(), Coll: c.Name(), Job: j.MR(), Prefix: fmt.Sprintf("out_%d", e.runs),
	})
	if err != nil {
		return mr.Answer{}, err
	}
	return rep.Answer, nil
}

// outcome of running a job both ways.
type outcome struct {
	mapReduce, pipeline error
	parity.Agreement
}

func (e *engine) both(c *mongo.Collection, j *jobfile.Job, r *translate.Result) outcome {
	e.t.Helper()
	var o outcome
	var answer mr.Answer
	answer, o.mapReduce = e.mapReduce(c, j)
	results := aggregate.Results(context.Background(), aggregate.Config{Collection: c, Pipeline: r.Pipeline()})
	if o.mapReduce != nil {
		for _, err := range results {
			if err != nil {
				o.pipeline = err
				break
			}
		}
		return o
	}
	var err error
	o.Agreement, err = parity.Near{Unordered: r.Unordered, Relative: 1e-12}.Compare(answer.Results(context.Background(), true), results, 5)
	if err != nil {
		o.pipeline = err
	}
	_ = answer.Collection.Database().Drop(context.Background())
	return o
}

func (o outcome) same() error {
	switch {
	case o.mapReduce != nil && o.pipeline != nil:
		return nil
	case o.mapReduce != nil:
		return fmt.Errorf("mapReduce failed and the pipeline did not: %w", o.mapReduce)
	case o.pipeline != nil:
		return fmt.Errorf("the pipeline failed and mapReduce did not: %w", o.pipeline)
	case o.Different > 0:
		var b strings.Builder
		for _, d := range o.First {
			fmt.Fprintf(&b, "\n%s: mapReduce %s, pipeline %s", d.Key, d.A, d.B)
		}
		return fmt.Errorf("%d of %d keys differ:%s", o.Different, o.Keys+o.Different, b.String())
	}
	return nil
}

// arrayKey says that mapReduce failed because of a key that can't be an _id.
func (o outcome) arrayKey() bool {
	return o.mapReduce != nil && o.pipeline == nil && (strings.Contains(o.mapReduce.Error(), "array for _id") || strings.Contains(o.mapReduce.Error(), "regex for _id"))
}

// guarded says that the pipeline ended with a message of its own.
func (o outcome) guarded() bool {
	return o.pipeline != nil && strings.Contains(o.pipeline.Error(), "mrbench: ")
}

func refusal(err error) string {
	if r, ok := errors.AsType[*translate.Refusal](err); ok {
		return r.ID
	}
	return ""
}

func pretty(p []bson.D) string {
	var b strings.Builder
	for _, s := range p {
		x, err := bson.MarshalExtJSON(s, false, false)
		if err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "  %s\n", x)
	}
	return b.String()
}
