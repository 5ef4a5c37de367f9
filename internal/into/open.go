package into

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

// Config of Open.
type Config struct {
	Client    *mongo.Client
	DB, Coll  string // of the result
	List      *splitter.List
	Predicate splitter.Predicate
	Threads   int
	Wire      int    // maxWireVersion
	Job, What string // digest of the job, and its words
	Disjoint  bool   // the ranges are of the key that the job emits
	Additive  bool   // values are counts: their sum is the same however the parts are cut
	Append    bool   // to a result that holds something
	Run, Host string
	Now       func() time.Time
	Patience  time.Duration // how long another machine may take to make the result's collection; 0: a minute
	// Refuse is asked before a list is begun in a mode, with base when what the result holds is reduced with the parts; its error ends it. May be nil.
	Refuse func(mode string, base bool) error
	// Prepare makes the result's collection, before anything is written to it; with held it is there and holds documents. It may be called again.
	Prepare func(ctx context.Context, held bool) error
	// Created notes a companion that is about to be made, Dropped that it is gone.
	Created, Dropped func(coll string) error
}

// Result is one that ranges are put into.
type Result struct {
	c      Config
	record *mongo.Collection
	plan   plan
}

func (r *Result) ns() string       { return r.c.DB + "." + r.c.Coll }
func (r *Result) recordNS() string { return r.c.DB + "." + RecordOf(r.c.Coll) }

// Mode is that of the list's ranges: Merge or Reduce.
func (r *Result) Mode() string { return r.plan.Mode }

// Open takes part in a result: it begins it, or goes on with it when it is of the same job and list. Errors: *ExistsError, *OtherJobError,
// *OtherListError, *ForeignError, Refuse's and Prepare's.
func Open(ctx context.Context, c Config) (*Result, error) {
	if c.Patience == 0 {
		c.Patience = time.Minute
	}
	r := &Result{c: c, record: open(c.Client, c.DB, RecordOf(c.Coll))}
	if err := c.Created(RecordOf(c.Coll)); err != nil {
		return nil, err
	}
	h, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	if h.Job != c.Job {
		return nil, &OtherJobError{NS: r.ns(), What: h.What}
	}
	return r, r.join(ctx, h)
}

// begin makes the record and the result, or finds what another machine made.
func (r *Result) begin(ctx context.Context) (*head, error) {
	for {
		h, err := r.head(ctx)
		switch {
		case err != nil:
			return nil, err
		case h == nil:
			h, err = r.claim(ctx)
		default:
			h, err = r.await(ctx, h)
		}
		if h != nil || err != nil {
			return h, err
		}
	}
}

// claim makes the record and the result; nil when another machine was quicker.
func (r *Result) claim(ctx context.Context) (*head, error) {
	held, err := r.holds(ctx)
	if err != nil {
		return nil, err
	}
	if held && !r.c.Append {
		if h, err := r.head(ctx); h != nil || err != nil { // it may just have been begun
			return nil, err
		}
		return nil, &ExistsError{NS: r.ns()}
	}
	h := &head{headID, program, format, r.c.Job, r.c.What, held, false, r.c.Host, r.c.Run, r.c.Now().UTC()}
	first, err := r.insert(ctx, h)
	if err != nil || !first {
		return nil, err
	}
	if err := r.prepare(ctx, h); err != nil {
		r.disclaim(ctx)
		return nil, err
	}
	return h, nil
}

// disclaim takes back what claim noted, so that nobody waits for a collection that could not be made. Where it fails they wait.
func (r *Result) disclaim(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropFor)
	defer cancel()
	_, _ = r.record.DeleteOne(ctx, bson.D{{Key: "_id", Value: headID}, {Key: "run", Value: r.c.Run}, {Key: "ready", Value: false}})
}

func (r *Result) prepare(ctx context.Context, h *head) error {
	if err := r.c.Prepare(ctx, h.Held); err != nil {
		return err
	}
	return r.set(ctx, headID, bson.D{{Key: "ready", Value: true}})
}

// await waits until the machine that began a result has made its collection; nil when it could not. One that died is stood in for.
func (r *Result) await(ctx context.Context, h *head) (*head, error) {
	for until := time.Now().Add(r.c.Patience); !h.Ready; {
		if time.Now().After(until) {
			return h, r.prepare(ctx, h)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		var err error
		if h, err = r.head(ctx); h == nil || err != nil {
			return nil, err
		}
	}
	return h, nil
}

// holds says whether the result's collection has documents.
func (r *Result) holds(ctx context.Context) (bool, error) {
	err := open(r.c.Client, r.c.DB, r.c.Coll).FindOne(ctx, bson.D{}).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find in %s: %w", r.ns(), err)
	}
	return true, nil
}

// join finds the list in the record, or notes it.
func (r *Result) join(ctx context.Context, h *head) error {
	for {
		plans, err := r.plans(ctx)
		if err != nil {
			return err
		}
		id := r.c.List.ID()
		if i := slices.IndexFunc(plans, func(p plan) bool { return p.List == id }); i >= 0 {
			r.plan = plans[i]
			if r.plan.Done || r.c.Refuse == nil {
				return nil
			}
			return r.c.Refuse(r.plan.Mode, r.plan.Base)
		}
		for _, p := range plans {
			if !r.c.Append || !p.Done {
				return r.other(ctx, p)
			}
		}
		p := plan{
			N: len(plans) + 1, List: id, NS: r.c.List.NS, Key: r.c.List.Key, Ranges: len(r.c.List.Pieces), Documents: r.c.List.Documents,
			Mode: Reduce, Base: h.Held || len(plans) > 0, Host: r.c.Host, Run: r.c.Run, Created: r.c.Now().UTC(),
		}
		p.ID = fmt.Sprintf("plan %d", p.N)
		if r.c.Disjoint && !p.Base {
			p.Mode = Merge
		}
		if r.c.Refuse != nil {
			if err := r.c.Refuse(p.Mode, p.Base); err != nil {
				return err
			}
		}
		first, err := r.insert(ctx, p)
		if err != nil || first {
			r.plan = p
			return err
		}
	}
}

func (r *Result) other(ctx context.Context, p plan) error {
	in, err := r.parts(ctx, bson.D{{Key: "plan", Value: p.N}, {Key: "range", Value: bson.D{{Key: "$gt", Value: 0}}}})
	if err != nil {
		return err
	}
	return &OtherListError{NS: r.ns(), List: p.List, Source: p.NS, Key: p.Key, Ranges: p.Ranges, In: len(in), Done: p.Done}
}
