package cluster

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/x/mongo/driver/topology"
)

const codeUnauthorized = 13

// patience is how long something is tried again by default. An election takes some 12 seconds, a migration of others may take longer.
const patience = 2 * time.Minute

// passing are codes of failures that another try may not meet: a lock that is held or a migration that runs (24, 46, 112, 117, 314), metadata
// that changed in the meantime (63, 150, 249, 13388), an election or a network's failure (the others).
var passing = []int32{24, 46, 112, 117, 314, 63, 150, 249, 13388, 6, 7, 89, 91, 133, 134, 189, 202, 262, 9001, 10107, 11600, 11602, 13435, 13436} //nolint:gochecknoglobals // a constant

// inTheWay are the words of such failures where they have no code of their own, as on 4.0.
var inTheWay = regexp.MustCompile(`(?i)could not acquire|timed out waiting for|in progress|currently (donating|receiving)|still \d+ deletes|failed to engage|data transfer error|stale`)

func commandError(err error) (mongo.CommandError, bool) {
	return errors.AsType[mongo.CommandError](err)
}

// passes reports whether another try may succeed.
func passes(err error) bool {
	var pool interface{ Retryable() bool } // of connections, emptied after another command's failure
	if mongo.IsNetworkError(err) || errors.As(err, &pool) && pool.Retryable() {
		return true
	}
	if _, ok := errors.AsType[topology.ServerSelectionError](err); ok {
		return true
	}
	if _, ok := errors.AsType[topology.ConnectionError](err); ok {
		return true
	}
	e, is := commandError(err)
	return is && e.Code != codeUnauthorized && (slices.Contains(passing, e.Code) || inTheWay.MatchString(e.Message))
}

// persist does something until it succeeds, the failure is none that passes, or the time is up. After a failure done, which may be
// nil, says whether the work is done all the same: a reply can get lost.
func persist(ctx context.Context, limit time.Duration, do func(context.Context) error, done func(context.Context) (bool, error)) error {
	end := time.Now().Add(limit)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if done != nil {
			if ok, derr := done(ctx); ok || derr != nil && !passes(derr) {
				return derr
			}
		}
		if ctx.Err() != nil || !passes(err) || time.Now().Add(pause).After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
