package mapreduce

import (
	"bytes"
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/script"
	"mrbench/internal/embedded/spill"
)

// finalReduce gives the sink one document per key.
func (j *job) finalReduce(ctx context.Context, runs *spill.Sorter) error {
	j.report("m/r: (2/3) final reduce in memory", 0, 0)
	if j.js != nil {
		return j.js.finish(j.c.out.kind == outInline, func(key string, v script.Value) error {
			if err := ctx.Err(); err != nil {
				return interrupted(ctx, err)
			}
			t, b, err := j.f.rt.AppendValue(nil, v)
			if err != nil {
				return err
			}
			return j.give(bsonx.String(key), bsonx.Value{Type: t, Data: b})
		})
	}
	if err := j.mix.reduceAll(); err != nil {
		return err
	}
	if !j.mix.onDisk {
		return j.finalInline(ctx)
	}
	if err := j.mix.dump(); err != nil {
		return err
	}
	return j.finalMerge(ctx, runs)
}

// finalInline hands out the table, in key order. A key that was emitted as undefined and as null is one.
func (j *job) finalInline(ctx context.Context) error {
	t := j.mix.now
	// What this counts is what must fit: before finalize the table's own measure.
	if j.f.finalize == nil && t.size >= maxInlineBytes {
		return tooMuchInline()
	}
	order := t.sorted(t.all())
	var scratch [8]byte
	for n := 0; n < len(order); n++ {
		if err := ctx.Err(); err != nil {
			return interrupted(ctx, err)
		}
		e := &t.entries[order[n]]
		key := t.key(e)
		v := t.value(&t.nodes[e.first-1], &scratch)
		if e.undefined && n+1 < len(order) && bytes.Equal(t.enc(e), t.enc(&t.entries[order[n+1]])) {
			n++
			j.mix.fold.begin(key)
			if err := j.mix.fold.add(v); err != nil {
				return err
			}
			if err := j.mix.fold.add(t.value(&t.nodes[t.entries[order[n]].first-1], &scratch)); err != nil {
				return err
			}
			var err error
			if v, err = j.mix.fold.end(); err != nil {
				return err
			}
		}
		if err := j.finish(key, v); err != nil {
			return err
		}
	}
	return nil
}

// finalMerge reads everything back in key order and reduces each key.
func (j *job) finalMerge(ctx context.Context, runs *spill.Sorter) error {
	it, err := runs.Sort()
	if err != nil {
		return err
	}
	defer func() { _ = it.Close() }()
	g := group{j: j, total: runs.Len()}
	for it.Next() {
		if err := g.next(it.Key(), it.Value()); err != nil {
			return err
		}
		if g.done++; g.done%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return interrupted(ctx, err)
			}
			j.report("m/r: (3/3) final reduce to collection", g.done, g.total)
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	return g.close()
}

// group is the run of records of one key.
type group struct {
	j           *job
	done, total int64
	enc         []byte
	keyBuf      []byte
	first       []byte // data of the first value, held back: a single one is not reduced
	key, value  bsonx.Value
	n           int
}

func (g *group) next(enc, rec []byte) error {
	key, v := readRecord(rec)
	if g.n > 0 && bytes.Equal(enc, g.enc) {
		fold := &g.j.mix.fold
		if g.n == 1 {
			fold.begin(g.key)
			if err := fold.add(g.value); err != nil {
				return err
			}
		}
		g.n++
		return fold.add(v)
	}
	if err := g.close(); err != nil {
		return err
	}
	g.enc = append(g.enc[:0], enc...)
	g.keyBuf = append(g.keyBuf[:0], key.Data...)
	g.first = append(g.first[:0], v.Data...)
	g.key = bsonx.Value{Type: key.Type, Data: g.keyBuf}
	g.value = bsonx.Value{Type: v.Type, Data: g.first}
	g.n = 1
	return nil
}

// close finishes the key under way.
func (g *group) close() error {
	if g.n == 0 {
		return nil
	}
	v := g.value
	if g.n > 1 {
		var err error
		if v, err = g.j.mix.fold.end(); err != nil {
			return err
		}
	}
	g.n = 0
	return g.j.finish(g.key, v)
}

// finish finalizes one result and hands it to the sink.
func (j *job) finish(key, v bsonx.Value) error {
	v, err := j.finalized(key, v)
	if err != nil {
		return err
	}
	return j.give(key, v)
}

// finalized calls finalize, if there is one.
func (j *job) finalized(key, v bsonx.Value) (bsonx.Value, error) {
	if j.f.finalize == nil {
		return v, nil
	}
	res, err := j.f.callFinalize(j.f.rt.ToJS(key), j.f.rt.ToJS(v))
	if err != nil {
		return v, err
	}
	v, j.finalBuf, err = returned(j.f.rt, j.finalBuf[:0], res)
	return v, err
}

func (j *job) give(key, v bsonx.Value) error {
	doc, err := resultDoc(j.doc[:0], key, v)
	if err != nil {
		return err
	}
	j.doc = doc
	return j.sink.add(doc)
}

// reduceInto reduces a result and the target's document of that _id, in this order, and finalizes again.
func (j *job) reduceInto(staged, old bsonx.Doc) (bsonx.Doc, error) {
	second := func(d bsonx.Doc) bsonx.Value {
		it := d.Iter()
		it.Next()
		if it.Next() {
			return it.Value()
		}
		return bsonx.Undefined()
	}
	key := staged.Get("_id")
	fold := &j.mix.fold
	fold.begin(key)
	if err := fold.add(second(staged)); err != nil {
		return nil, err
	}
	if err := fold.add(second(old)); err != nil {
		return nil, err
	}
	v, err := fold.end()
	if err != nil {
		return nil, err
	}
	if v, err = j.finalized(key, v); err != nil {
		return nil, err
	}
	return resultDoc(nil, key, v)
}
