package seed

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"mrbench/seed/source"
)

// pipeline is a load from files: one reader cuts them into chunks, decoders turn
// those into batches, writers send them. Chunks and batches go round between
// full and free; there is a fixed number of each, so a slow server stops the
// reader and memory does not grow.
type pipeline struct {
	*load
	chunks, freeChunks   chan *piece
	batches, freeBatches chan *sender
	bad                  sync.Mutex // one call of Config.Bad at a time, and guards stopped
	stopped              *badRecord
}

// badRecord is the first broken record, by its place, of those that decoders met before they stopped.
type badRecord struct {
	file int
	err  *source.RecordError
}

// piece is a chunk and its account.
type piece struct {
	source.Chunk
	part *part
}

// firstBad is the error of a load that a broken record ended: several decoders may have met one.
func (f *pipeline) firstBad(err error) error {
	var bad *source.RecordError
	if f != nil && f.stopped != nil && errors.As(err, &bad) {
		return f.stopped.err
	}
	return err
}

// startSource starts the pipeline's goroutines in p, which waits for them.
func (l *load) startSource(sendCtx context.Context, p *pool.ContextPool) *pipeline {
	nc := 2*l.c.Decoders + 1
	nb := 2*l.c.Decoders + l.c.Writers // a decoder may hold two
	f := &pipeline{
		load:   l,
		chunks: make(chan *piece, nc), freeChunks: make(chan *piece, nc),
		batches: make(chan *sender, nb), freeBatches: make(chan *sender, nb),
	}
	for range nc {
		f.freeChunks <- &piece{}
	}
	for range nb {
		f.freeBatches <- l.newSender()
	}
	p.Go(f.read)
	var decoding sync.WaitGroup
	decoding.Add(l.c.Decoders)
	for range l.c.Decoders {
		p.Go(func(ctx context.Context) error {
			defer decoding.Done()
			return f.decode(ctx)
		})
	}
	p.Go(func(context.Context) error {
		decoding.Wait()
		close(f.batches)
		return nil
	})
	for i := range l.workers {
		p.Go(func(ctx context.Context) error { return f.write(ctx, sendCtx, &l.workers[i]) })
	}
	return f
}

// take receives from a channel; ok is false when it is closed.
func take[T any](ctx context.Context, c <-chan T) (v T, ok bool, err error) {
	select {
	case v, ok = <-c:
		return v, ok, nil
	case <-ctx.Done():
		return v, false, ctx.Err()
	}
}

func (f *pipeline) read(ctx context.Context) error {
	defer close(f.chunks)
	for {
		c, _, err := take(ctx, f.freeChunks)
		if err != nil {
			return err
		}
		if err := f.reader.Next(ctx, &c.Chunk); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if c.part, err = f.track.begin(f.reader, &c.Chunk); err != nil {
			return err
		}
		f.chunks <- c // there is room for all of them
	}
}

func (f *pipeline) decode(ctx context.Context) error {
	s, _, err := take(ctx, f.freeBatches)
	if err != nil {
		return err
	}
	var d source.Decoder
	for {
		c, ok, err := take(ctx, f.chunks)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		d.Start(&c.Chunk)
		if s, err = f.decodeChunk(ctx, &d, s, c); err != nil {
			return err
		}
		f.freeChunks <- c
	}
	if s.count() > 0 {
		f.batches <- s
	}
	return nil
}

// decodeChunk puts a chunk's documents into s, and into further batches when it
// is full. It returns the batch that is being filled.
func (f *pipeline) decodeChunk(ctx context.Context, d *source.Decoder, s *sender, c *piece) (*sender, error) {
	var total, rejects int64
	for {
		mark, ok := s.open()
		if !ok {
			next, _, err := take(ctx, f.freeBatches)
			if err != nil {
				return s, err
			}
			f.batches <- s
			s = next
			continue
		}
		at := len(s.buf)
		var pos source.Pos
		var err error
		if s.buf, pos, err = d.Append(s.buf); err != nil {
			s.buf = s.buf[:mark]
			if err == io.EOF { //nolint:errorlint // bare, by Append's contract
				f.track.decoded(c.part, total, rejects)
				return s, nil
			}
			if err := f.refuse(err, c.Index); err != nil {
				return s, err
			}
			rejects++
			continue
		}
		s.buf = f.ids.ensure(s.buf, at, c.Base+pos.Offset)
		total++
		doc := s.buf[at:]
		if s.keep(mark, at) {
			s.from(c.part, pos)
			continue
		}
		next, _, err := take(ctx, f.freeBatches)
		if err != nil {
			return s, err
		}
		mark, _ = next.open()
		at = len(next.buf)
		next.buf = append(next.buf, doc...)
		next.keep(mark, at) // a document alone always fits; the server judges its size
		next.from(c.part, pos)
		f.batches <- s
		s = next
	}
}

// refuse hands a broken record on, or ends the load with it.
func (f *pipeline) refuse(err error, file int) error {
	var bad *source.RecordError
	if !errors.As(err, &bad) {
		return err
	}
	f.bad.Lock()
	defer f.bad.Unlock()
	if f.c.Bad == nil {
		if s := f.stopped; s == nil || file < s.file || file == s.file && bad.Start < s.err.Start {
			f.stopped = &badRecord{file, bad}
		}
		return bad
	}
	if err := f.c.Bad(bad); err != nil {
		return err
	}
	f.rejects.Add(1)
	return nil
}

func (f *pipeline) write(ctx, sendCtx context.Context, w *worker) error {
	defer w.doing.Store(doesEnd)
	latency := newLatency()
	defer f.merge(latency)
	for {
		s, ok, err := take(ctx, f.batches)
		if err != nil || !ok {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.send(ctx, sendCtx, s, w, latency); err != nil {
			return err
		}
		f.freeBatches <- s
	}
}
