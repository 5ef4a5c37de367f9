package seed

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// How an unacknowledged load is waited for: the count must stand still this
// long before documents count as lost.
const (
	settleEvery = 5 * time.Millisecond
	settleFor   = 3 * time.Second
)

// verifyCount asks the server how many documents there are. Its quick count
// comes first; when that differs from what was sent, they are counted one by one. Up to doubtful
// documents may be missing, and with others more may be there: other loads go on beside this one.
func verifyCount(ctx context.Context, c *mongo.Collection, want, doubtful int64, unacknowledged, others bool) (int64, error) {
	ns := namespace(c)
	got, err := c.EstimatedDocumentCount(ctx)
	if err != nil {
		return 0, fmt.Errorf("seed: %s: count: %w", ns, err)
	}
	for still := time.Duration(0); unacknowledged && got < want && still < settleFor; still += settleEvery {
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(settleEvery):
		}
		n, err := c.EstimatedDocumentCount(ctx)
		if err != nil {
			return got, fmt.Errorf("seed: %s: count: %w", ns, err)
		}
		if n != got {
			got, still = n, 0
		}
	}
	if got != want {
		if got, err = c.CountDocuments(ctx, bson.D{}); err != nil {
			return got, fmt.Errorf("seed: %s: aggregate: %w", ns, err)
		}
	}
	if got > want && !others || got < want-doubtful {
		return got, &CountError{NS: ns, Expected: want, Counted: got, Unacknowledged: unacknowledged}
	}
	return got, nil
}
