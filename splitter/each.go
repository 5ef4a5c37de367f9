package splitter

import (
	"context"

	"github.com/sourcegraph/conc/pool"
)

// Each runs n pieces of work with at most threads at a time, in order of their
// index: a free thread takes the next piece, so a heavy one holds up nothing
// else. The first error cancels the others and is returned, after all of them
// ended; when ctx itself ended, its error is. run gets the piece and the thread, both from 0.
func Each(ctx context.Context, n, threads int, run func(ctx context.Context, piece, thread int) error) error {
	return EachOwned(ctx, n, threads, Owners{}, run)
}

// EachOwned is Each for pieces that belong to owners, such as the shards that ranges lie on: at most
// owners.Each pieces of one owner run at a time. A free thread takes the next piece of the owner that has the
// fewest at work, so that none is idle while it has pieces left and threads are free.
func EachOwned(ctx context.Context, n, threads int, owners Owners, run func(ctx context.Context, piece, thread int) error) error {
	queue := newQueue(n, owners)
	p := pool.New().WithErrors().WithContext(ctx).WithCancelOnError().WithFirstError()
	for thread := range max(min(threads, n), 1) {
		p.Go(func(ctx context.Context) error {
			stop := context.AfterFunc(ctx, queue.close)
			defer stop()
			for {
				i, ok := queue.take()
				if err := ctx.Err(); err != nil {
					return err
				}
				if !ok {
					return nil
				}
				err := run(ctx, i, thread)
				queue.done(i)
				if err != nil {
					return err
				}
			}
		})
	}
	err := p.Wait()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
