package splitter

import (
	"context"
	"time"
)

// SplitAsOnRouter is Split on a server that is taken for a mongos.
func SplitAsOnRouter(ctx context.Context, c Config) (*Report, error) {
	r, err := newReader(ctx, c)
	if err != nil {
		return nil, err
	}
	r.server.Mongos = true
	return r.split(ctx, c, time.Now())
}
