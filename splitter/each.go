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
	queue := make(chan int, n)
	for i := range n {
		queue <- i
	}
	close(queue)
	p := pool.New().WithErrors().WithContext(ctx).WithCancelOnError().WithFirstError()
	for thread := range max(min(threads, n), 1) {
		p.Go(func(ctx context.Context) error {
			for i := range queue {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := run(ctx, i, thread); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := p.Wait()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
