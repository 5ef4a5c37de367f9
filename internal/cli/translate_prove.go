package cli

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/aggregate"
	"mrbench/aggregate/translate"
	"mrbench/internal/parity"
	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/mr"
	"mrbench/mr/jobfile"
)

// lastDigits is how far sums of fractions may be apart that were added in another order.
const lastDigits = 1e-9

// prover runs a job both ways.
type prover struct {
	*app
	t    *target.Target
	coll *mongo.Collection
	out  *outputs
	job  *jobfile.Job
	res  *translate.Result
	runs int
}

func (a *app) proveJob(ctx context.Context, o translateOptions, j *jobfile.Job, r *translate.Result, ns target.Namespace) (err error) {
	if err := checkOutDB(o.outDB); err != nil {
		return err
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	t, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer finish(&err, t)
	facts, err := t.Ask(ctx, ns)
	if err != nil {
		return a.explain(err, t)
	}
	if err := allowed(facts, toRead(ns)); err != nil {
		return err
	}
	if why := lacksOutput(facts, o.outDB); why != "" {
		return withCode(exitFailed, "the proof runs the job: %s", why)
	}
	settled, err := concernsOf(facts, t.Wishes, concernOptions{})
	if err != nil {
		return err
	}
	coll := t.Client.Database(ns.DB).Collection(ns.Coll)
	n, err := coll.CountDocuments(ctx, bson.D{}, options.Count().SetLimit(o.limit+1))
	if err != nil {
		return fmt.Errorf("count %s: %w", ns, err)
	}
	if n == 0 {
		return withCode(exitFailed, "%s does not exist on %s, or is empty: name the job's collection with --ns", ns, where(t))
	}
	if docs, err := sampleOf(ctx, coll, j); err == nil { // the lint is worth less than the proof
		a.lint(ctx, j, docs)
	}
	p := &prover{app: a, t: t, coll: coll, job: j, res: r, out: newOutputs(newRunID(a.env.Now()), t, createdIn(dir), a.env.Now)}
	p.out.db, p.out.write = o.outDB, settled.write
	defer func() { err = firstError(err, a.dropOutputs(ctx, p.out)) }()
	if o.prove == proveSample || n > o.limit {
		if err := p.prove(ctx, o.limit); err != nil {
			return err
		}
		if n <= o.limit {
			return nil
		}
	}
	if o.prove == proveAll {
		return p.prove(ctx, 0)
	}
	a.tell("proved on a sample only: --prove all goes on with the whole collection")
	return nil
}

// sampled is the job and the pipeline for the first documents by the job's sort, or by _id.
func (p *prover) sampled(limit int64) (mr.Job, []bson.D) {
	job, pipeline := p.job.MR(), p.res.Pipeline()
	if limit == 0 || job.Limit > 0 && job.Limit <= limit {
		return job, pipeline
	}
	at := 0
	if len(job.Query) > 0 {
		at++
	}
	head := append([]bson.D{}, pipeline[:at]...)
	if len(job.Sort) == 0 {
		job.Sort = bson.D{{Key: "_id", Value: 1}}
	} else {
		at++
	}
	if job.Limit > 0 {
		at++
	}
	job.Limit = limit
	head = append(head, bson.D{{Key: "$sort", Value: job.Sort}}, bson.D{{Key: "$limit", Value: limit}})
	return job, append(head, pipeline[at:]...)
}

// prove runs both and prints what came of it; limit 0 is all documents.
func (p *prover) prove(ctx context.Context, limit int64) error {
	job, pipeline := p.sampled(limit)
	what := "all documents"
	if limit > 0 {
		what = fmt.Sprintf("the first %s documents", report.Thousands(limit))
	}
	p.runs++
	rep, err := mr.Run(ctx, mr.Config{
		Client: p.t.Client, DB: p.coll.Database().Name(), Coll: p.coll.Name(), Job: job, Predicate: p.t.Predicate,
		Prefix: p.out.prefix(p.runs - 1), OutDB: p.out.db, WriteConcern: p.out.write, Created: func(db string) error { return p.out.create(ctx, db) },
	})
	agg := aggregate.Config{Collection: p.coll, Pipeline: pipeline}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		if failed := p.pipelineError(ctx, agg); failed != nil {
			p.tell("%s: the job fails, and so does the pipeline:", what)
			p.tell("  job       %v", oneLineError(err))
			p.tell("  pipeline  %v", oneLineError(failed))
			return withCode(exitFailed, "nothing is proved: the job fails on this data")
		}
		return withCode(exitDiffer, "on %s the job fails and the pipeline does not: %w", what, err)
	}
	near := parity.Near{Unordered: p.res.Unordered, Relative: lastDigits}
	g, err := near.Compare(rep.Answer.Results(ctx, true), aggregate.Results(ctx, agg), differingKeys)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return withCode(exitDiffer, "on %s the job gives an answer and the pipeline ends with: %w", what, err)
	}
	if g.Different > 0 {
		p.tell("%s: %s of %s keys differ; the first of them:", what, report.Thousands(g.Different), report.Thousands(g.Keys))
		for _, d := range g.First {
			p.tell("  %s", d.Key)
			p.tell("    job       %s", orNothing(d.A))
			p.tell("    pipeline  %s", orNothing(d.B))
		}
		return withCode(exitDiffer, "the pipeline gives another answer than the job on %s", what)
	}
	text := fmt.Sprintf("proved on %s: %s, all equal", what, some(g.Keys, "key"))
	if rep.Counts.Known {
		text = fmt.Sprintf("proved on %s: %s documents, %s emits, %s, all equal", what, report.Thousands(rep.Counts.Input),
			report.Thousands(rep.Counts.Emit), some(g.Keys, "key"))
	}
	if g.Rounded > 0 {
		text += fmt.Sprintf("; %s of them but for the last digits of fractions (at most %.1g of the value)", report.Thousands(g.Rounded), g.Largest)
	}
	if g.Reordered > 0 {
		text += fmt.Sprintf("; %s of them but for the order of elements", report.Thousands(g.Reordered))
	}
	p.tell("%s", text)
	return nil
}

func (p *prover) pipelineError(ctx context.Context, c aggregate.Config) error {
	for _, err := range aggregate.Results(ctx, c) {
		if err != nil {
			return err
		}
	}
	return nil
}

func oneLineError(err error) error {
	if s, ok := errors.AsType[*mr.ScriptError](err); ok {
		return s
	}
	return err
}

func orNothing(s string) string {
	if s == "" {
		return "(does not have this key)"
	}
	return s
}

// lintDocuments is how many documents a job is tried on.
const lintDocuments = 1000

// sampleOf are the first documents that the job's map would see.
func sampleOf(ctx context.Context, coll *mongo.Collection, j *jobfile.Job) ([]bson.Raw, error) {
	filter := j.Query
	if filter == nil {
		filter = bson.D{}
	}
	cur, err := coll.Find(ctx, filter, options.Find().SetLimit(lintDocuments))
	if err != nil {
		return nil, err
	}
	var docs []bson.Raw
	return docs, cur.All(ctx, &docs)
}
