package mapreduce

import (
	"context"
	"sync"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/spill"
	"mrbench/internal/embedded/store"
)

const (
	blockBytes = 128 << 10 // of documents read ahead at once
	blockDocs  = 1000
	blocks     = 4 // in flight
)

// block is a run of documents with memory of its own.
type block struct {
	docs  []bsonx.Doc
	arena []byte
	err   error
}

// input reads documents ahead on a goroutine of its own while JavaScript runs.
type input struct {
	full   chan *block
	empty  chan *block
	cancel context.CancelFunc
	done   sync.WaitGroup
	cur    *block
	next   int
}

// naturalOrder is {$natural: 1}.
var naturalOrder = bsonx.Doc(bsoncore.NewDocumentBuilder().AppendInt32("$natural", 1).Build())

// openInput plans and starts the read. needs are the only fields that are wanted, nil for whole documents.
func openInput(ctx context.Context, sorting spill.Options, snap *store.Snap, coll *store.Collection, c *config, needs []string) (*input, error) {
	r := query.Request{Filter: c.filter, Sort: c.sort, Needs: needs, Limit: c.limit, Spill: sorting}
	if c.sort == nil && (c.filter == nil || c.filter.Empty()) {
		// The order of documents decides how often reduce is called: as they stand, not as some index has them.
		r.Hint = bsonx.DocValue(naturalOrder)
	}
	plan, err := query.MakePlan(snap, coll, r)
	if err != nil {
		return nil, err
	}
	src, err := plan.Open(snap)
	if err != nil {
		return nil, err
	}
	return readAhead(ctx, src), nil
}

func readAhead(ctx context.Context, src query.Source) *input {
	ctx, cancel := context.WithCancel(ctx)
	in := &input{full: make(chan *block, blocks), empty: make(chan *block, blocks), cancel: cancel}
	for range blocks {
		in.empty <- &block{}
	}
	in.done.Go(func() { in.produce(ctx, src) })
	return in
}

// produce copies what src gives into blocks until the end, an error or close.
func (in *input) produce(ctx context.Context, src query.Source) {
	defer close(in.full)
	var pending []bsonx.Doc
	ended := false
	var failed error
	for !ended {
		var b *block
		select {
		case b = <-in.empty:
		case <-ctx.Done():
			b = &block{}
			failed, ended = context.Cause(ctx), true
		}
		b.docs, b.arena, b.err = b.docs[:0], b.arena[:0], nil
		for !ended && len(b.docs) < blockDocs && len(b.arena) < blockBytes {
			if len(pending) == 0 {
				if pending, failed = src.Next(ctx); failed != nil || len(pending) == 0 {
					ended = true
					break
				}
			}
			d := pending[0]
			pending = pending[1:]
			at := len(b.arena)
			b.arena = append(b.arena, d...)
			// Earlier slices stay valid when the arena moves: they hold the same bytes.
			b.docs = append(b.docs, b.arena[at:len(b.arena):len(b.arena)])
		}
		if ended {
			if err := src.Close(); failed == nil {
				failed = err
			}
			b.err = failed
		}
		select {
		case in.full <- b:
		case <-ctx.Done():
			if !ended {
				_ = src.Close() // the job has ended already, with its own error
				return
			}
		}
	}
}

// waits reports whether the next read may wait for the reader.
func (in *input) waits() bool { return in.cur == nil || in.next == len(in.cur.docs) }

// read gives the next document, nil at the end. It is valid until the next read.
func (in *input) read() (bsonx.Doc, error) {
	for in.waits() {
		if in.cur != nil {
			if err := in.cur.err; err != nil {
				return nil, err
			}
			in.empty <- in.cur
			in.cur = nil
		}
		b, ok := <-in.full
		if !ok {
			return nil, nil
		}
		in.cur, in.next = b, 0
	}
	d := in.cur.docs[in.next]
	in.next++
	return d, nil
}

// close stops the goroutine and waits for it.
func (in *input) close() {
	in.cancel()
	in.done.Wait()
}
