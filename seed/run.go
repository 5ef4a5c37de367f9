package seed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/seed/source"
)

// Run fills the collection and reports. Errors: *TargetError and
// *NotEmptyError before anything is written, *DocumentError and
// *WriteConcernError from a batch, *source.RecordError from a file, *CountError when the documents do not add
// up, the context's error when it was cancelled; server errors name their
// command. From the first insert on, the report is never nil.
func Run(ctx context.Context, c Config) (*Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	wc, err := parseConcern(c.WriteConcern)
	if err != nil {
		return nil, err
	}
	if err := checkTarget(ctx, c.Collection); err != nil {
		return nil, err
	}
	lim, err := askLimits(ctx, c.Collection.Database())
	if err != nil {
		return nil, err
	}
	var reader *source.Reader
	if c.Source != nil { // a path that is wrong is told before anything is dropped
		if reader, err = source.Open(*c.Source); err != nil {
			return nil, err
		}
		defer reader.Close() //nolint:errcheck // read only
	}
	before, err := empty(ctx, c)
	if err != nil {
		return nil, err
	}
	c.Batch = min(c.Batch, lim.count)
	ns := namespace(c.Collection)
	name := "files"
	if c.Generator != nil {
		name = c.Generator.Name()
	}
	r := &Report{
		NS: ns, Generator: name, Before: before, Writers: c.Writers, Batch: c.Batch,
		Ordered: c.Ordered, WriteConcern: wc.text, Index: string(c.Index),
	}

	if c.Index == IndexBefore {
		if err := createIndex(ctx, c); err != nil {
			return r, err
		}
	}
	start := time.Now()
	l := newLoad(c, wc, lim)
	if reader != nil {
		l.reader, l.files = reader, len(reader.Files())
	}
	stop := startProgress(c.Progress, c.Documents, l, start)
	err = l.run(ctx)
	r.LoadSeconds = time.Since(start).Seconds()
	l.fill(r)
	if err == nil && c.Index == IndexAfter {
		stop.phase(PhaseIndex)
		t := time.Now()
		err = createIndex(ctx, c)
		r.IndexSeconds = time.Since(t).Seconds()
	}
	r.Seconds = r.LoadSeconds + r.IndexSeconds
	if r.Seconds > 0 {
		r.DocumentsPerSecond = float64(r.Documents) / r.Seconds
		r.MBPerSecond = float64(r.Bytes) / r.Seconds / 1e6
	}
	if err == nil {
		stop.phase(PhaseCount)
		t := time.Now()
		r.Counted, err = verifyCount(ctx, c.Collection, before+r.Documents, wc.unacknowledged)
		r.CountSeconds = time.Since(t).Seconds()
	}
	stop.wait()
	return r, err
}

func namespace(c *mongo.Collection) string { return c.Database().Name() + "." + c.Name() }

// checkTarget refuses what is not an ordinary collection of an ordinary database.
func checkTarget(ctx context.Context, c *mongo.Collection) error {
	ns := namespace(c)
	switch c.Database().Name() {
	case "admin", "config", "local":
		return &TargetError{NS: ns, Reason: "the database belongs to the server"}
	}
	if strings.HasPrefix(c.Name(), "system.") {
		return &TargetError{NS: ns, Reason: "the collection belongs to the server"}
	}
	specs, err := c.Database().ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: c.Name()}})
	if err != nil {
		return fmt.Errorf("seed: %s: listCollections: %w", ns, err)
	}
	for _, s := range specs {
		if s.Name == c.Name() && s.Type != "" && s.Type != "collection" {
			return &TargetError{NS: ns, Reason: "it is a " + s.Type}
		}
	}
	return nil
}

// empty makes sure that the load starts from an empty collection, or with
// Append, says what is in it.
func empty(ctx context.Context, c Config) (before int64, err error) {
	ns := namespace(c.Collection)
	if c.Drop {
		if err := c.Collection.Drop(ctx); err != nil {
			return 0, fmt.Errorf("seed: %s: drop: %w", ns, err)
		}
		return 0, nil
	}
	n, err := c.Collection.EstimatedDocumentCount(ctx)
	if err != nil {
		return 0, fmt.Errorf("seed: %s: count: %w", ns, err)
	}
	if c.Append {
		return n, nil
	}
	if n == 0 { // the quick count can be wrong after a crash: look
		err := c.Collection.FindOne(ctx, bson.D{}, options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})).Err()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return 0, nil
		}
		if err != nil {
			return 0, fmt.Errorf("seed: %s: find: %w", ns, err)
		}
		n = 1
	}
	return n, &NotEmptyError{NS: ns, Documents: n}
}

func createIndex(ctx context.Context, c Config) error {
	if _, err := c.Collection.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: c.IndexKeys}); err != nil {
		return fmt.Errorf("seed: %s: createIndexes: %w", namespace(c.Collection), err)
	}
	return nil
}
