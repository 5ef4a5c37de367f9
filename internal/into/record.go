package into

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readpref"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"
)

// Modes of a list of ranges.
const (
	Merge  = "merge"  // results go straight into the result
	Reduce = "reduce" // parts wait until all are there
)

const (
	program = "mrbench"
	format  = 1 // of the record; it grows when the meaning of a field changes
	headID  = "result"

	companion    = ".mrbench_" // what names of companions have behind the result's
	recordSuffix = companion + "parts"
)

// RecordOf is the name of a result's record.
func RecordOf(coll string) string { return coll + recordSuffix }

// ResultOf is the name of the result that a companion belongs to; false when the name is none of a companion.
func ResultOf(coll string) (string, bool) {
	i := strings.LastIndex(coll, companion)
	if i <= 0 {
		return "", false
	}
	return coll[:i], true
}

// head is the record's document about the result.
type head struct {
	ID      string    `bson:"_id"`
	Program string    `bson:"program"`
	Format  int       `bson:"format"`
	Job     string    `bson:"job"`  // digest
	What    string    `bson:"what"` // the job in words
	Held    bool      `bson:"held"` // the result held documents before
	Ready   bool      `bson:"ready"`
	Host    string    `bson:"host"`
	Run     string    `bson:"run"`
	Created time.Time `bson:"created"`
}

// plan is the record's document about a list of ranges.
type plan struct {
	ID        string    `bson:"_id"`
	N         int       `bson:"n"` // counted from 1
	List      string    `bson:"list"`
	NS        string    `bson:"ns"`
	Key       string    `bson:"key"`
	Ranges    int       `bson:"ranges"`
	Documents int64     `bson:"documents"`
	Mode      string    `bson:"mode"`
	Base      bool      `bson:"base"` // what the result held before is one of the parts, the range 0
	Done      bool      `bson:"done"`
	Keys      int64     `bson:"keys"` // of mode reduce when done: different keys in all parts
	Host      string    `bson:"host"`
	Run       string    `bson:"run"`
	Created   time.Time `bson:"created"`
}

// part is the record's document about a range that is in.
type part struct {
	ID        string    `bson:"_id"`
	Plan      int       `bson:"plan"`
	Range     int       `bson:"range"` // counted from 1
	Keys      int64     `bson:"keys"`
	Sum       float64   `bson:"sum"`
	Documents int64     `bson:"documents"` // counted in the range before it was computed
	Coll      string    `bson:"coll"`      // of mode reduce: where it waits
	Host      string    `bson:"host"`
	Run       string    `bson:"run"`
	Ended     time.Time `bson:"ended"`
}

// open is the collection behind a name, read and written so that what one machine has noted all others see.
func open(client *mongo.Client, db, coll string) *mongo.Collection {
	return client.Database(db, options.Database().SetReadPreference(readpref.Primary())).Collection(coll, options.Collection().SetWriteConcern(writeconcern.Majority()))
}

func (r *Result) head(ctx context.Context) (*head, error) {
	var h head
	err := r.record.FindOne(ctx, bson.D{{Key: "_id", Value: headID}}).Decode(&h)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("find in %s: %w", r.recordNS(), err)
	case h.Program != program || h.Format != format:
		return nil, &ForeignError{NS: r.ns(), Record: r.recordNS(), Program: h.Program, Format: h.Format}
	}
	return &h, nil
}

func (r *Result) plans(ctx context.Context) ([]plan, error) {
	return list[plan](ctx, r, bson.D{{Key: "list", Value: bson.D{{Key: "$exists", Value: true}}}}, "n")
}

func (r *Result) parts(ctx context.Context, filter bson.D) ([]part, error) {
	return list[part](ctx, r, append(bson.D{{Key: "range", Value: bson.D{{Key: "$exists", Value: true}}}}, filter...), "range")
}

func list[T any](ctx context.Context, r *Result, filter bson.D, sort string) ([]T, error) {
	var all []T
	cur, err := r.record.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: sort, Value: 1}}))
	if err == nil {
		err = cur.All(ctx, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("find in %s: %w", r.recordNS(), err)
	}
	return all, nil
}

// insert notes something once: false when it is there already.
func (r *Result) insert(ctx context.Context, doc any) (first bool, err error) {
	_, err = r.record.InsertOne(ctx, doc)
	if mongo.IsDuplicateKeyError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("insert into %s: %w", r.recordNS(), err)
	}
	return true, nil
}

func (r *Result) set(ctx context.Context, id string, fields bson.D) error {
	u, err := r.record.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, bson.D{{Key: "$set", Value: fields}})
	if err != nil {
		return fmt.Errorf("update %s: %w", r.recordNS(), err)
	}
	if u.MatchedCount == 0 {
		return r.gone()
	}
	return nil
}

func (r *Result) gone() error { return &GoneError{NS: r.ns(), Record: r.recordNS()} }

// current is the record's document about the list as it is now. Error: *GoneError when it is not the one that this machine took part in.
func (r *Result) current(ctx context.Context) (p plan, err error) {
	err = r.record.FindOne(ctx, bson.D{{Key: "_id", Value: r.plan.ID}, {Key: "list", Value: r.plan.List}, {Key: "run", Value: r.plan.Run}}).Decode(&p)
	switch {
	case errors.Is(err, mongo.ErrNoDocuments):
		return p, r.gone()
	case err != nil:
		return p, fmt.Errorf("find in %s: %w", r.recordNS(), err)
	}
	return p, nil
}

// Unfinished says whether ranges of a list are still to come into the result, by its record; false when there is none.
func Unfinished(ctx context.Context, client *mongo.Client, db, result string) (bool, error) {
	r := &Result{c: Config{Client: client, DB: db, Coll: result}, record: open(client, db, RecordOf(result))}
	plans, err := r.plans(ctx)
	for _, p := range plans {
		if !p.Done {
			return true, nil
		}
	}
	return false, err
}
