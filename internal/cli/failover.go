package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/readpref"
	"go.mongodb.org/mongo-driver/x/mongo/driver/topology"

	"mrbench/internal/bench"
)

// electionTimeout is how long a set may take to have a primary again. Elections take about 12 s with MongoDB's settings.
const electionTimeout = 30 * time.Second

// failoverCodes are those by which servers say that they stop or are no primary (any more), and by which routers say that of a
// shard: the retryable errors of MongoDB's drivers.
var failoverCodes = []int{6, 7, 89, 91, 189, 262, 9001, 10058, 10107, 11600, 11602, 13435, 13436}

// failedOver reports whether err says that the server went away, not that it refused.
func failedOver(err error) bool {
	if mongo.IsNetworkError(err) {
		return true
	}
	if _, ok := errors.AsType[topology.ServerSelectionError](err); ok {
		return true
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
	if aerr := m.awaitPrimary(ctx); aerr != nil {
		return s, fmt.Errorf("%w; it was not tried again: no primary within %v", err, electionTimeout)
	}
	if derr := m.out.drop(ctx, m.notOf(row)); derr != nil {
		return s, fmt.Errorf("%w; it was not tried again: the partial output could not be dropped: %w", err, derr)
	}
	why := err.Error()
	if s, err = once(); err != nil {
		return s, fmt.Errorf("%w; this was the second try, the first one failed by: %s", err, why)
	}
	s.Retried = why
	m.warn("%s was run a second time, and that is its time, because the server went away: %s", id, why)
	return s, nil
}

// awaitPrimary waits until the server can be written to.
func (m *measurement) awaitPrimary(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, electionTimeout)
	defer cancel()
	for {
		err := m.t.Client.Ping(ctx, readpref.Primary())
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(electionTimeout / 60):
		}
	}
}
