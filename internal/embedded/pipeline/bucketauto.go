package pipeline

import (
	"context"
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/spill"
)

// bucketAutoStage cuts the sorted documents into pieces of about equal size.
type bucketAutoStage struct {
	by      groupStage // its id is groupBy, its accumulators the output
	buckets int64
	series  rounder // nil: boundaries are values of the documents
}

func parseBucketAuto(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(40240, "The argument to $bucketAuto must be an object, but found type: %s.", typeName(arg))
	}
	s := &bucketAutoStage{}
	output := makeDoc("count", makeDoc("$sum", bsonx.Int32(1)))
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		switch string(it.Name()) {
		case "groupBy":
			if !isExpression(v) {
				return nil, errf(40239, "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: %s.", v)
			}
			e, err := ps.compile(v)
			if err != nil {
				return nil, err
			}
			s.by.id = e
		case "buckets":
			if !v.IsNumber() {
				return nil, errf(40241, "The $bucketAuto 'buckets' field must be a numeric value, but found type: %s.", typeName(v))
			}
			n, ok := v.AsInt64()
			if !ok || n != int64(int32(n)) {
				return nil, errf(40242, "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found %s.", v)
			}
			if n <= 0 {
				return nil, errf(40243, "The $bucketAuto 'buckets' field must be greater than 0, but found: %d.", n)
			}
			s.buckets = n
		case "output":
			if v.Type != tDoc {
				return nil, errf(40244, "The $bucketAuto 'output' field must be an object, but found type: %s.", typeName(v))
			}
			output = v
		case "granularity":
			if v.Type != tString {
				return nil, errf(40261, "The $bucketAuto 'granularity' field must be a string, but found type: %s.", typeName(v))
			}
			if s.series = granularity(v.Str()); s.series == nil {
				return nil, errf(40257, "Unknown rounding granularity '%s'", v.Str())
			}
		default:
			return nil, errf(40245, "Unrecognized option to $bucketAuto: %s.", it.Name())
		}
	}
	if s.by.id == nil || s.buckets == 0 {
		return nil, errf(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
	}
	for it := output.Elems(); it.Next(); {
		a, err := ps.accumulator(string(it.Name()), it.Value())
		if err != nil {
			return nil, err
		}
		s.by.accs = append(s.by.accs, a)
	}
	return s, nil
}

func (s *bucketAutoStage) deps(d *deps) bool { return s.by.deps(d) }

func (s *bucketAutoStage) open(r *run, in query.Source) (query.Source, error) {
	return &funcSource{in: in, fn: func(ctx context.Context) (query.Source, error) {
		return s.run(ctx, r, in)
	}}, nil
}

func (s *bucketAutoStage) run(ctx context.Context, r *run, in query.Source) (query.Source, error) {
	g := s.by.newGrouper()
	sorter := spill.NewSorter(r.spill())
	defer sorter.Close()
	if err := s.sort(ctx, r, in, g, sorter); err != nil {
		return nil, err
	}
	n := sorter.Len()
	it, err := sorter.Sort()
	if err != nil {
		return nil, err
	}
	defer it.Close()
	b := &bucketer{g: g, it: it, series: s.series}
	b.more = it.Next()
	size := max(1, int64(math.Round(float64(n)/float64(s.buckets))))
	for i := int64(0); i < s.buckets && b.more; i++ {
		if ctx.Err() != nil {
			return nil, errOf(ctx)
		}
		if i == s.buckets-1 {
			size = math.MaxInt64
		}
		if err := b.bucket(size); err != nil {
			return nil, err
		}
	}
	return &listSource{docs: b.out.docs}, it.Err()
}

func (s *bucketAutoStage) sort(ctx context.Context, r *run, in query.Source, g *grouper, sorter *spill.Sorter) error {
	if !r.o.AllowDiskUse {
		in = &meter{Source: in, left: r.memory(), stage: "$bucketAuto", on: true}
	}
	var key, val []byte
	for {
		docs, err := in.Next(ctx)
		if err != nil || len(docs) == 0 {
			return err
		}
		for _, d := range docs {
			v, err := g.key.get(d)
			if err != nil {
				return err
			}
			v = orNull(v)
			if err := s.roundable(v); err != nil {
				return err
			}
			key = bsonx.AppendKey(key[:0], v, false)
			val = append(putValue(val[:0], v), d...)
			if err := sorter.Add(key, val); err != nil {
				return err
			}
		}
	}
}

// bucketer makes buckets of sorted (value, document) pairs.
type bucketer struct {
	g    *grouper
	it   *spill.Iter
	more bool
	last []byte // key of the newest document
	// With a granularity a bucket begins where the one before it ends.
	series rounder
	end    bsonx.Value
	out    block
}

// bucket takes size documents and all that equal the last of them.
func (b *bucketer) bucket(size int64) error {
	lo, _, err := takeValue(b.it.Value())
	if err != nil {
		return err
	}
	lo = lo.Clone()
	hi := lo
	upTo := bsonx.Value{} // the rounded end, once it is known
	for n := int64(0); b.more; n++ {
		if n >= size && string(b.it.Key()) != string(b.last) {
			if b.series == nil {
				break
			}
			if upTo.IsMissing() {
				upTo = b.series.up(hi)
			}
			next, _, err := takeValue(b.it.Value())
			if err != nil {
				return err
			}
			if bsonx.CompareAgg(next, upTo) >= 0 {
				break
			}
		}
		v, doc, err := takeValue(b.it.Value())
		if err != nil {
			return err
		}
		b.last = append(b.last[:0], b.it.Key()...)
		hi = v.Clone()
		b.g.ids = append(b.g.ids[:0], 0)
		for _, c := range b.g.cols {
			c.resize(1)
			if err := c.update(b.g.ids, []bsonx.Doc{doc}); err != nil {
				return err
			}
		}
		b.more = b.it.Next()
	}
	if err := b.it.Err(); err != nil {
		return err
	}
	next := bsonx.Value{}
	if b.more {
		if next, _, err = takeValue(b.it.Value()); err != nil {
			return err
		}
		if b.series == nil {
			hi = next
		}
	}
	if b.series != nil {
		lo, hi = b.rounded(lo, hi, next)
	}
	d, err := b.g.appendResult(b.out.start(), makeDoc("min", lo, "max", hi), 0)
	if err != nil {
		return err
	}
	b.out.end(d)
	for _, c := range b.g.cols {
		c.reset()
	}
	return nil
}
