package pipeline

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// workers is how many a run may use.
func (r *run) workers() int {
	if r.o.Parallel > 0 {
		return r.o.Parallel
	}
	return runtime.GOMAXPROCS(0)
}

// pays: there are enough documents to share.
func (r *run) pays(docs int64) bool {
	from := int64(parallelFrom)
	if r.o.parallelFrom > 0 {
		from = r.o.parallelFrom
	}
	return r.workers() > 1 && docs >= from
}

// exact: the accumulators' results do not depend on how the documents are shared out, as long as
// sums stay whole numbers (see inexact).
func (s *groupStage) exact() bool {
	for _, a := range s.accs {
		switch a.col.(type) {
		case *countColumn, *sumColumn:
		default:
			return false
		}
	}
	return true
}

// inexact: some sum met what depends on the order of adding.
func (g *grouper) inexact() bool {
	for _, c := range g.cols {
		if s, ok := c.(*sumColumn); ok && len(s.wide) > 0 {
			return true
		}
	}
	return false
}

// openParallel is a $group by several workers over ranges of _id, nil when that can't be done or does not pay.
func (s *groupStage) openParallel(r *run, plan *query.Plan, h *head) query.Source {
	if !s.exact() || h.skip > 0 || h.limit >= 0 || !plan.SortProvided || plan.Covered ||
		plan.Index != nil && !plan.Index.IsID() || !r.pays(r.snap.Stats(plan.Collection).Documents) || s.scripted(r) {
		return nil
	}
	return &funcSource{fn: func(ctx context.Context) (query.Source, error) {
		pieces, err := splitAll(plan.Bounds, recordEdges(r.snap, plan.Collection), false)
		if err != nil {
			return nil, err
		}
		g, err := s.shared(ctx, r, plan, pieces)
		if err == nil {
			return &groupSource{r: r, in: &listSource{}, g: g, begun: true, left: g.table.len()}, nil
		}
		if !errors.Is(err, errAlone) {
			return nil, err
		}
		in, err := plan.Open(r.snap)
		if err != nil {
			return nil, err
		}
		return s.open(r, in)
	}}
}

// scripted: JavaScript has one world per run.
func (s *groupStage) scripted(r *run) bool {
	x := r.scope.Scripts()
	return x != nil && x.Used()
}

// errAlone says that one worker has to do it all: for the memory or for the order of adding.
var errAlone = errors.New("not to be shared")

// shared groups the pieces by several workers and joins their tables.
func (s *groupStage) shared(ctx context.Context, r *run, plan *query.Plan, pieces []store.Bound) (*grouper, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n := min(r.workers(), len(pieces))
	parts := make([]*grouper, n)
	var next, held atomic.Int64
	var wg sync.WaitGroup
	for i := range parts {
		g := s.newGrouper()
		parts[i] = g
		wg.Go(func() {
			if err := g.pieces(ctx, r, plan, pieces, &next, &held); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, errOf(ctx)
		}
		return nil, err
	}
	for _, g := range parts[1:] {
		if err := parts[0].absorb(g); err != nil {
			return nil, err
		}
	}
	return parts[0], nil
}

// pieces takes pieces from the queue until there are none.
func (g *grouper) pieces(ctx context.Context, r *run, plan *query.Plan, pieces []store.Bound, next, held *atomic.Int64) error {
	mine := int64(0)
	for {
		i := int(next.Add(1)) - 1
		if i >= len(pieces) {
			return nil
		}
		own := *plan
		own.Bounds = pieces[i : i+1]
		src, err := own.Open(r.snap)
		if err != nil {
			return err
		}
		err = g.piece(ctx, src, uint32(i), func() error {
			b := g.bytes()
			total := held.Add(b - mine)
			mine = b
			if total > r.memory() || g.inexact() {
				return errAlone
			}
			return nil
		})
		if cerr := src.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
	}
}

func (g *grouper) piece(ctx context.Context, src query.Source, n uint32, check func() error) error {
	for {
		docs, err := src.Next(ctx)
		if err != nil || len(docs) == 0 {
			return err
		}
		if err := g.add(docs); err != nil {
			return err
		}
		for len(g.born) < g.table.len() {
			g.born = append(g.born, n)
		}
		if err := check(); err != nil {
			return err
		}
	}
}

// parallelEntries is entryGroups by several workers. Results come in the order of the index: each worker takes
// the next piece, and at most ahead pieces are held back.
type parallelEntries struct {
	open    func(piece store.Bound) *entryGroups
	pieces  []store.Bound
	workers int

	started bool
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	results []chan pieceResult
	slots   chan struct{}
	now     int // the piece whose results are handed out
	docs    []bsonx.Doc
}

type pieceResult struct {
	docs []bsonx.Doc
	err  error
}

func (p *parallelEntries) start() {
	ctx, cancel := context.WithCancel(context.Background())
	p.started, p.cancel = true, cancel
	p.slots = make(chan struct{}, 2*p.workers)
	for range p.pieces {
		p.results = append(p.results, make(chan pieceResult, 1))
	}
	var next atomic.Int64
	for range min(p.workers, len(p.pieces)) {
		p.wg.Go(func() {
			for {
				// The slot comes first, so that the piece taken is always the lowest that is left.
				select {
				case p.slots <- struct{}{}:
				case <-ctx.Done():
					return
				}
				i := int(next.Add(1)) - 1
				if i >= len(p.pieces) {
					return
				}
				docs, err := p.open(p.pieces[i]).all(ctx)
				p.results[i] <- pieceResult{docs, err}
				if err != nil {
					return
				}
			}
		})
	}
}

// all gives the results of one piece, in memory of their own.
func (s *entryGroups) all(ctx context.Context) ([]bsonx.Doc, error) {
	defer s.Close()
	var all block
	for {
		docs, err := s.Next(ctx)
		if err != nil {
			return nil, err
		}
		if len(docs) == 0 {
			return all.docs, nil
		}
		for _, d := range docs {
			all.add(d)
		}
	}
}

func (p *parallelEntries) Next(ctx context.Context) ([]bsonx.Doc, error) {
	if !p.started {
		p.start()
	}
	for len(p.docs) == 0 {
		if p.now == len(p.pieces) {
			return nil, nil
		}
		select {
		case r := <-p.results[p.now]:
			if r.err != nil {
				return nil, r.err
			}
			p.docs = r.docs
			p.now++
			<-p.slots
		case <-ctx.Done():
			return nil, errOf(ctx)
		}
	}
	n := min(len(p.docs), blockDocs)
	out := p.docs[:n]
	p.docs = p.docs[n:]
	return out, nil
}

func (p *parallelEntries) Close() error {
	if p.started {
		p.cancel()
		p.wg.Wait()
	}
	return nil
}
