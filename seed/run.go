package seed

import (
	"context"
	"encoding/hex"
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
// *WriteConcernError from a batch, *source.RecordError from a file, *CheckpointError when a load can't be resumed, *CountError
// when the documents do not add up, the context's error when it was cancelled; server errors name their
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
	if c.Checkpoint != nil && wc.unacknowledged {
		return nil, errors.New("seed: a load with write concern 0 can not be resumed: nothing says what arrived")
	}
	uuid, err := checkTarget(ctx, c.Collection)
	if err != nil {
		return nil, err
	}
	lim, err := askLimits(ctx, c.Collection.Database())
	if err != nil {
		return nil, err
	}
	var reader *source.Reader
	if c.Source != nil { // a path that is wrong is told before anything is dropped
		if reader, err = openSource(c, uuid); err != nil {
			return nil, err
		}
		defer reader.Close() // read only
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
		l.useSource(reader, before, uuid)
	}
	stop := startProgress(c, l, start)
	err = l.run(ctx)
	r.LoadSeconds = time.Since(start).Seconds()
	l.fill(r)
	if err == nil && c.Index == IndexAfter {
		stop.phase(PhaseIndex)
		t := time.Now()
		err = createIndex(ctx, c)
		r.IndexSeconds = time.Since(t).Seconds()
	}
	if err == nil {
		stop.phase(PhaseCount)
		t := time.Now()
		err = l.verify(ctx, r)
		r.CountSeconds = time.Since(t).Seconds()
	}
	r.Seconds = r.LoadSeconds + r.IndexSeconds
	if r.Seconds > 0 {
		r.DocumentsPerSecond = float64(r.Documents) / r.Seconds
		r.MBPerSecond = float64(r.Bytes) / r.Seconds / 1e6
	}
	stop.wait()
	return r, err
}

// verify counts. A document that was there just as it was sent counts as written, by a
// failed attempt or by the load that is resumed. When the count shows that it was there
// before, or is in the files twice, it is a duplicate after all.
func (l *load) verify(ctx context.Context, r *Report) (err error) {
	err = retried(ctx, l.c.Retries, func() (err error) {
		r.Counted, err = verifyCount(ctx, l.c.Collection, r.Before+r.Documents, l.again.Load(), l.wc.unacknowledged, l.c.Append)
		return err
	})
	if err != nil {
		return err
	}
	missing := r.Before + r.Documents - r.Counted
	if missing < 0 { // the count proves nothing about this load's own documents
		r.Others = -missing
		return nil
	}
	r.Documents -= missing
	if l.c.Checkpoint == nil {
		r.Duplicates += missing
		return nil
	}
	r.Earlier += missing
	if twice := l.c.Checkpoint.Before + r.Earlier + r.Documents - r.Counted; twice > 0 {
		twice = min(twice, l.already.Load()+missing)
		r.Earlier -= twice
		r.Duplicates += twice
	}
	return nil
}

// openSource lists the files and takes up a checkpoint.
func openSource(c Config, uuid string) (*source.Reader, error) {
	conf := *c.Source
	if c.Checkpoint != nil {
		for _, f := range c.Checkpoint.Files {
			conf.Done = append(conf.Done, f.Done)
		}
	}
	r, err := source.Open(conf)
	if err != nil {
		return nil, err
	}
	if c.Checkpoint != nil {
		if err := c.Checkpoint.check(c, r.Files(), uuid); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func namespace(c *mongo.Collection) string { return c.Database().Name() + "." + c.Name() }

// checkTarget refuses what is not an ordinary collection of an ordinary database. It
// returns the collection's UUID, "" when there is none.
func checkTarget(ctx context.Context, c *mongo.Collection) (uuid string, err error) {
	ns := namespace(c)
	switch c.Database().Name() {
	case "admin", "config", "local":
		return "", &TargetError{NS: ns, Reason: "the database belongs to the server"}
	}
	if strings.HasPrefix(c.Name(), "system.") {
		return "", &TargetError{NS: ns, Reason: "the collection belongs to the server"}
	}
	specs, err := c.Database().ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: c.Name()}})
	if err != nil {
		return "", fmt.Errorf("seed: %s: listCollections: %w", ns, err)
	}
	for _, s := range specs {
		if s.Name != c.Name() {
			continue
		}
		if s.Type != "" && s.Type != "collection" {
			return "", &TargetError{NS: ns, Reason: "it is a " + s.Type}
		}
		if s.UUID != nil {
			uuid = hex.EncodeToString(s.UUID.Data)
		}
	}
	return uuid, nil
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
	if c.Checkpoint != nil {
		return c.Checkpoint.checkCount(ctx, c.Collection, n)
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

// createIndex builds the index, and waits for as many members as the documents do.
func createIndex(ctx context.Context, c Config) error {
	wc, err := parseConcern(c.WriteConcern)
	if err != nil {
		return err
	}
	coll, err := c.Collection.Clone(options.Collection().SetWriteConcern(wc.driver()))
	if err != nil {
		return err
	}
	err = retried(ctx, c.Retries, func() error { // one that is there already is no error
		_, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: c.IndexKeys})
		return err
	})
	if err != nil {
		return fmt.Errorf("seed: %s: createIndexes: %w", namespace(c.Collection), err)
	}
	return nil
}
