package pipeline

import (
	"bytes"
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/spill"
)

// partition is the documents that windows may reach.
type partition struct{ list *spill.List }

func (p *partition) len() int { return p.list.Len() }

// doc is valid until the next call.
func (p *partition) doc(i int) (bsonx.Doc, error) {
	b, err := p.list.At(i)
	return bsonx.Doc(b), err
}

func (s *windowStage) open(r *run, in query.Source) (query.Source, error) {
	o := r.spill()
	if !r.o.AllowDiskUse {
		o.Refuse = errf(errPartitionSize, "Exceeded max memory for a partition of %s: %d bytes. Pass allowDiskUse: true to spill to disk", windowFields, r.memory())
	}
	w := &windowSource{s: s, r: r, in: in, p: &partition{spill.NewList(o)}}
	if s.partition != nil {
		w.key = newReader(s.partition.Clone())
	}
	for _, o := range s.outputs {
		w.funcs = append(w.funcs, o.start(r))
	}
	return w, nil
}

// windowSource collects a partition, then gives its documents with the new fields.
type windowSource struct {
	s     *windowStage
	r     *run
	in    query.Source
	key   reader
	funcs []windowFunc

	p     *partition
	at    int    // the next document of the partition to give
	now   []byte // key of the partition
	block []bsonx.Doc
	eof   bool
	out   block
	buf   [2][]byte
}

func (w *windowSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	w.out.reset()
	for !w.out.full() {
		if w.at == w.p.len() {
			if err := w.collect(ctx); err != nil {
				return nil, err
			}
			if w.p.len() == 0 {
				return w.out.docs, nil
			}
			for _, f := range w.funcs {
				f.begin(w.p)
			}
		}
		if w.at%1024 == 0 && ctx.Err() != nil {
			return nil, errOf(ctx)
		}
		if err := w.give(); err != nil {
			return nil, err
		}
		w.at++
	}
	return w.out.docs, nil
}

// collect reads the next partition.
func (w *windowSource) collect(ctx context.Context) error {
	w.at = 0
	if err := w.p.list.Reset(); err != nil {
		return err
	}
	var key []byte
	for {
		if len(w.block) == 0 {
			if w.eof {
				return nil
			}
			var err error
			if w.block, err = w.in.Next(ctx); err != nil {
				return err
			}
			if len(w.block) == 0 {
				w.eof = true
				return nil
			}
		}
		d := w.block[0]
		if w.s.partition != nil {
			v, err := w.key.get(d)
			if err != nil {
				return err
			}
			if v.Type == tArray {
				return errPartitionArray()
			}
			key = bsonx.AppendKey(key[:0], orNull(v), false)
			if w.p.len() > 0 && !bytes.Equal(key, w.now) {
				return nil
			}
			w.now = append(w.now[:0], key...)
		}
		if err := w.p.list.Add(d); err != nil {
			return err
		}
		w.block = w.block[1:]
	}
}

// give makes the document at.
func (w *windowSource) give() error {
	var held int64
	d, err := w.p.doc(w.at)
	if err != nil {
		return err
	}
	cur := append(w.buf[0][:0], d...) // the functions read other documents
	for i, f := range w.funcs {
		v, err := f.at(w.at)
		if err != nil {
			return err
		}
		next := appendSet(w.buf[1][:0], cur, w.s.outputs[i].path, v)
		w.buf[0], w.buf[1] = next, cur
		cur = next
		held += f.bytes()
	}
	w.buf[0] = cur
	if held > w.r.memory() {
		return errf(errWindowMemory, "Exceeded memory limit in %s: the functions hold %d bytes, %d are allowed", windowFields, held, w.r.memory())
	}
	if len(cur) > maxDocument {
		return errTooLarge(len(cur))
	}
	w.out.add(cur)
	return nil
}

func (w *windowSource) Close() error {
	err := w.p.list.Close()
	if e := w.in.Close(); err == nil {
		err = e
	}
	return err
}
