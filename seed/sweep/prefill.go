package sweep

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/seed"
)

// poolKey tells prefilled collections apart.
type poolKey struct {
	size    int64
	indexed bool
}

// prefilled is a collection that points append to.
type prefilled struct {
	coll *mongo.Collection
	next int64 // index of the first document that was never put into it
}

// growth is the part of its size by which a prefilled collection may grow before it is replaced.
const growth = 10

// Fills says how many collections Run will fill for points of one prefilled size and with or without an index, when
// it takes so many loads.
func Fills(prefill, documents int64, loads int) int {
	if prefill <= 0 || loads <= 0 {
		return 0
	}
	each := int(max(1, prefill/growth/max(1, documents)))
	return (loads + each - 1) / each
}

// take gives a prefilled collection with room for a point's documents, and the index of the first of them.
func (s *sweeper) take(ctx context.Context, p Point) (*prefilled, int64, error) {
	k := poolKey{p.Prefill, p.Index != seed.IndexNone}
	f := s.pool[k]
	if f != nil && f.next+s.c.Documents > p.Prefill+p.Prefill/growth {
		if err := s.giveUp(ctx, p); err != nil {
			return nil, 0, err
		}
		f = nil
	}
	if f == nil {
		if s.c.Prefilling != nil {
			s.c.Prefilling(p.Prefill)
		}
		coll, err := s.collection(ctx)
		if err != nil {
			return nil, 0, err
		}
		c := seed.Config{Collection: coll, Generator: s.c.Generator, Documents: p.Prefill, IndexKeys: s.c.IndexKeys, Progress: s.c.Progress}
		if k.indexed {
			c.Index = seed.IndexAfter
		}
		f = &prefilled{coll: coll, next: p.Prefill}
		s.pool[k] = f
		if _, err := seed.Run(ctx, c); err != nil {
			if ctx.Err() == nil {
				err = errors.Join(err, s.giveUp(ctx, p))
			}
			return nil, 0, fmt.Errorf("prefill %d documents: %w", p.Prefill, err)
		}
	}
	first := f.next
	f.next += s.c.Documents
	return f, first, nil
}

// giveUp drops the prefilled collection of a point.
func (s *sweeper) giveUp(ctx context.Context, p Point) error {
	k := poolKey{p.Prefill, p.Index != seed.IndexNone}
	f := s.pool[k]
	delete(s.pool, k)
	if f == nil {
		return nil
	}
	return s.drop(ctx, f.coll)
}

func (s *sweeper) dropPool(ctx context.Context) error {
	var failed error
	for k, f := range s.pool {
		failed = errors.Join(failed, s.drop(ctx, f.coll))
		delete(s.pool, k)
	}
	return failed
}

// shifted is a generator that begins with a later document.
type shifted struct {
	seed.Generator
	by int64
}

func (g shifted) Append(dst []byte, i int64) []byte { return g.Generator.Append(dst, i+g.by) }
