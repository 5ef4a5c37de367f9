package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/readpref"
	"go.mongodb.org/mongo-driver/x/mongo/driver/topology"

	"mrbench/internal/bench"
	"mrbench/internal/target"
	"mrbench/splitter"
)

// electionTimeout is how long a set may take to have a primary again. Elections take about 12 s with MongoDB's settings.
const electionTimeout = 30 * time.Second

// failoverCodes are those by which servers say that they stop or are no primary (any more), that a cursor went with them, and by which
// routers say that of a shard.
var failoverCodes = []int{
	6, 7, 89, // a host can't be found or reached in time
	43, 237, // the cursor is gone
	91, 11600, // the server shuts down
	133, 134, // no member to read from, no majority yet
	189, 262, 9001, 10058, 10107, 11602, 13435, 13436, // no primary, or no longer
}

// shardFailed finds the code of a shard's error in what a router before 4.2 says of a mapReduce, which has no code of its own.
var shardFailed = regexp.MustCompile(`MR (?:parallel|post) processing failed: .*\bcode: (\d+)`)

// failedOver reports whether err says that the server went away, not that it refused.
func failedOver(err error) bool {
	if err == nil {
		return false
	}
	if _, ok := errors.AsType[*splitter.KilledError](err); ok { // a cursor that someone killed is gone like one that a server took with it
		return false
	}
	if mongo.IsNetworkError(err) {
		return true
	}
	if _, ok := errors.AsType[topology.ServerSelectionError](err); ok {
		return true
	}
	if _, ok := errors.AsType[topology.ConnectionError](err); ok {
		return true
	}
	var pool interface{ Retryable() bool } // of connections, emptied after another command's failure
	if errors.As(err, &pool) && pool.Retryable() {
		return true
	}
	if ce, ok := errors.AsType[mongo.CommandError](err); ok {
		if m := shardFailed.FindStringSubmatch(ce.Message); m != nil {
			code, err := strconv.Atoi(m[1])
			return err == nil && slices.Contains(failoverCodes, code)
		}
	}
	se, ok := errors.AsType[mongo.ServerError](err)
	return ok && slices.ContainsFunc(failoverCodes, se.HasErrorCode)
}

// withRetry measures a row, and once more when the server failed over in the middle. That is safe: pipelines only read, and a mapReduce writes to
// outputs of the run's own, which are dropped before.
func (m *measurement) withRetry(ctx context.Context, row int, once func() (bench.Sample, error)) (bench.Sample, error) {
	s, err := once()
	if err == nil || ctx.Err() != nil || !failedOver(err) {
		return s, err
	}
	id := m.variants[row].id
	m.app.tell("%s: the server went away in the middle: %v; trying once more", id, err)
	// Through a router the primary may be back for one shard and not for another: what the row does first is tried until it works.
	aerr := m.app.awaitPrimary(ctx, m.t, func(ctx context.Context) error {
		if err := m.concerns.of(m.coll).FindOne(ctx, bson.D{}).Err(); err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
			return fmt.Errorf("%s can't be read: %w", m.app.common.ns, err)
		}
		if err := m.out.drop(ctx, m.notOf(row)); err != nil {
			return fmt.Errorf("the partial output could not be dropped: %w", err)
		}
		return nil
	})
	if aerr != nil {
		return s, fmt.Errorf("%w; it was not tried again: %w", err, aerr)
	}
	why := err.Error()
	if s, err = once(); err != nil {
		return s, fmt.Errorf("%w; this was the second try, the first one failed by: %s", err, why)
	}
	s.Retried = why
	if m.o.into != "" {
		m.warn("%s went on with the ranges that were missing, and its times and counts are of those alone, because the server went away: %s", id, why)
		return s, nil
	}
	m.warn("%s was run a second time, and that is its time, because the server went away: %s", id, why)
	return s, nil
}

// awaitPrimary waits until the server can be written to and ready succeeds. An error of ready that is no fail-over ends it.
func (a *app) awaitPrimary(ctx context.Context, t *target.Target, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, electionTimeout)
	defer cancel()
	for {
		err := t.Client.Ping(ctx, readpref.Primary())
		if err != nil {
			err = fmt.Errorf("no primary within %v", electionTimeout)
		} else if err = ready(ctx); err == nil || !failedOver(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(electionTimeout / 60):
		}
	}
}

// afterFailOver does a thing that may be done twice, and does it once more when the server went away in the middle.
func (a *app) afterFailOver(ctx context.Context, t *target.Target, what string, do func() error) error {
	err := do()
	if err == nil || ctx.Err() != nil || !failedOver(err) {
		return err
	}
	a.tell("%s: the server went away in the middle: %v; trying once more", what, err)
	if aerr := a.awaitPrimary(ctx, t, func(context.Context) error { return nil }); aerr != nil {
		return fmt.Errorf("%w; it was not tried again: %w", err, aerr)
	}
	return do()
}

// splitAgain cuts a collection, which only reads, and once more after a fail-over.
func (a *app) splitAgain(ctx context.Context, t *target.Target, c splitter.Config) (rep *splitter.Report, err error) {
	err = a.afterFailOver(ctx, t, "finding ranges", func() error {
		rep, err = splitter.Split(ctx, c)
		return err
	})
	return rep, err
}
