package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
)

func (s *densifyStage) open(r *run, in query.Source) (query.Source, error) {
	return &densifySource{s: s, in: in, limit: r.memory()}, nil
}

// densifySource walks the sorted documents. Each partition remembers the next step that it has not reached; full bounds start all of
// them at the smallest value there is and end them at the largest.
type densifySource struct {
	s     *densifyStage
	in    query.Source
	limit int64

	table groupTable // of partitions
	next  []bsonx.Value
	held  int64
	lo    bsonx.Value // where steps begin: the smallest value, or the lower bound
	hi    bsonx.Value // the largest value so far
	made  int

	block []bsonx.Doc
	eof   bool
	// What is being made: steps of a partition below to, then a document.
	part   uint32
	key    bsonx.Value
	to     bsonx.Value
	filled bool
	pend   bsonx.Doc
	at     bsonx.Value // its value
	ending int         // partitions that are finished, once the input has ended
	out    block
	buf    []byte
}

func (d *densifySource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	d.out.reset()
	for !d.out.full() {
		if d.filled {
			more, err := d.step()
			if err != nil {
				return nil, err
			}
			if d.made%1024 == 0 && ctx.Err() != nil {
				return nil, errOf(ctx)
			}
			if more {
				continue
			}
			d.filled = false
			if d.pend == nil {
				continue
			}
			if v := d.next[d.part]; bsonx.CompareAgg(v, d.at) == 0 {
				d.next[d.part] = d.s.after(v) // the document stands on the step
			}
			d.out.add(d.pend)
			d.pend = nil
			continue
		}
		if len(d.block) == 0 && !d.eof {
			if len(d.out.docs) > 0 {
				return d.out.docs, nil
			}
			var err error
			if d.block, err = d.in.Next(ctx); err != nil {
				return nil, err
			}
			d.eof = len(d.block) == 0
			continue
		}
		if len(d.block) == 0 {
			if !d.finish() {
				return d.out.docs, nil
			}
			continue
		}
		doc := d.block[0]
		d.block = d.block[1:]
		if err := d.take(doc); err != nil {
			return nil, err
		}
	}
	return d.out.docs, nil
}

// step makes one document of the partition; false at the end of the gap.
func (d *densifySource) step() (bool, error) {
	v := d.next[d.part]
	if v.IsMissing() || bsonx.CompareAgg(v, d.to) >= 0 {
		return false, nil
	}
	if d.made++; d.made > maxDensified {
		return false, errf(5897900, "Generated %d documents in $densify, which is over the limit of %d", d.made, maxDensified)
	}
	cur := bsonx.Empty
	i := 0
	for it := d.key.Elems(); it.Next(); i++ {
		if v := it.Value().Doc().Get("v"); !v.IsMissing() {
			cur = appendSet(nil, cur, d.s.parts[i], v)
		}
	}
	d.buf = appendSet(d.buf[:0], cur, d.s.field, v)
	d.out.add(d.buf)
	d.next[d.part] = d.s.after(v)
	return true, nil
}

// take looks at a document of the input: what is missing before it comes first.
func (d *densifySource) take(doc bsonx.Doc) error {
	v := getPath(doc, d.s.field)
	if v.IsNullish() {
		d.out.add(doc)
		return nil
	}
	switch {
	case !v.IsNumber() && v.Type != tDate:
		return errf(5733201, "Densify field type must be numeric or a date, found %s", typeName(v))
	case v.IsNumber() && d.s.unit != nil:
		return errf(6053600, "Encountered numeric densify value in collection when step has a date unit.")
	case v.Type == tDate && d.s.unit == nil:
		return errf(6053601, "Encountered date densify value in collection when step does not have a date unit.")
	}
	v = v.Clone()
	if d.lo.IsMissing() {
		d.lo = v
		if d.s.bounds == densifyExplicit {
			d.lo = d.s.lo
		}
	}
	d.hi = v
	d.key = d.partition(doc)
	n := d.table.len()
	d.part = d.table.find(d.key)
	if int(d.part) == n {
		start := d.lo
		if d.s.bounds == densifyPartition {
			start = v
		}
		d.next = append(d.next, start)
		if d.held += 64; d.held+d.table.bytes() > d.limit {
			return errMemory("$densify")
		}
	}
	d.to = v
	if d.s.bounds == densifyExplicit && bsonx.CompareAgg(v, d.s.hi) > 0 {
		d.to = d.s.hi
	}
	d.filled, d.pend, d.at = true, doc, v
	return nil
}

// finish goes on to the next partition that lacks documents behind its last one.
func (d *densifySource) finish() bool {
	if d.s.bounds == densifyPartition {
		return false
	}
	if d.table.len() == 0 && d.s.bounds == densifyExplicit && len(d.s.parts) == 0 {
		d.key = bsonx.ArrayValue(bsonx.Empty)
		d.table.find(d.key)
		d.next = append(d.next, d.s.lo)
	}
	if d.ending >= d.table.len() {
		return false
	}
	d.part = uint32(d.ending)
	d.ending++
	d.key = d.table.value(d.part).Clone()
	d.filled = true
	if d.s.bounds == densifyExplicit {
		d.to = d.s.hi
		return true
	}
	// The largest value of all is a step for the others, when it stands on one.
	d.to = d.hi
	if v := d.lastStep(); bsonx.CompareAgg(v, d.hi) == 0 {
		d.to = d.s.after(v)
	}
	return true
}

// lastStep is the last step of the partition that is not beyond the largest value.
func (d *densifySource) lastStep() bsonx.Value {
	v := d.next[d.part]
	for range maxDensified {
		n := d.s.after(v)
		if bsonx.CompareAgg(n, d.hi) > 0 {
			break
		}
		v = n
	}
	return v
}

// partition is the array of the partition fields' values, each in a document so that a missing one is told from null.
func (d *densifySource) partition(doc bsonx.Doc) bsonx.Value {
	b := bsonx.BeginDoc(nil)
	for i, p := range d.s.parts {
		one := bsonx.AppendElem(bsonx.BeginDoc(nil), "v", getPath(doc, p))
		if getPath(doc, p).IsMissing() {
			one = bsonx.BeginDoc(nil)
		}
		b = bsonx.AppendElem(b, indexName(i), bsonx.DocValue(bsonx.EndDoc(one, 0)))
	}
	return bsonx.ArrayValue(bsonx.EndDoc(b, 0))
}

func (d *densifySource) Close() error { return d.in.Close() }
