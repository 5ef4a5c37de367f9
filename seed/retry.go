package seed

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/x/mongo/driver/topology"
)

// How long a batch waits before it is sent again: twice as long each time.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// passing are the codes of states that pass by themselves: a member that shuts down or
// steps down, an election, a host that can't be reached. Drivers retry on the same ones.
var passing = map[int]bool{
	6: true, 7: true, 89: true, 91: true, 133: true, 134: true, 189: true, 262: true, 9001: true, 10058: true, 10107: true,
	11600: true, 11602: true, 13435: true, 13436: true,
}

// retryable says whether the same command may succeed later. It may have
// succeeded already: the answer was lost, not the command.
func retryable(err error) bool {
	var (
		selection  topology.ServerSelectionError
		connection topology.ConnectionError
		pool       interface{ Retryable() bool } // of connections, emptied after another command's failure
	)
	if mongo.IsNetworkError(err) || errors.As(err, &selection) || errors.As(err, &connection) || errors.As(err, &pool) && pool.Retryable() {
		return true
	}
	var server mongo.ServerError
	if !errors.As(err, &server) {
		return false
	}
	if server.HasErrorLabel("RetryableWriteError") {
		return true
	}
	var we mongo.WriteException
	if errors.As(err, &we) {
		// A member that steps down in the middle, and a router for a shard that does, say so of single documents.
		if len(we.WriteErrors) > 0 {
			return slices.ContainsFunc(we.WriteErrors, func(e mongo.WriteError) bool { return passing[e.Code] })
		}
		return we.WriteConcernError != nil && passing[we.WriteConcernError.Code]
	}
	for code := range passing {
		if server.HasErrorCode(code) {
			return true
		}
	}
	return false
}

// retried does what may be done twice until it succeeds, fails for good or no tries are left.
func retried(ctx context.Context, retries int, do func() error) error {
	tries := newAttempts(retries)
	for {
		err := do()
		if err == nil || ctx.Err() != nil || !retryable(err) {
			return err
		}
		if err := tries.again(ctx, err); err != nil {
			return err
		}
	}
}

// attempts counts the tries of one command.
type attempts struct {
	left  int
	pause time.Duration
}

func newAttempts(retries int) attempts { return attempts{retries, firstPause} }

// again waits before the next try. It returns the cause when no tries are left, or the context's error.
func (a *attempts) again(ctx context.Context, cause error) error {
	if a.left == 0 {
		return cause
	}
	a.left--
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(a.pause):
	}
	a.pause = min(2*a.pause, maxPause)
	return nil
}
