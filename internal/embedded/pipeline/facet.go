package pipeline

import (
	"context"
	"sync"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

type facetStage struct{ facets []facet }

type facet struct {
	name string
	p    *Pipeline
}

func parseFacet(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc || arg.Doc().Len() == 0 {
		return nil, errf(40169, "the $facet specification must be a non-empty object")
	}
	s := &facetStage{}
	for it := arg.Elems(); it.Next(); {
		name := string(it.Name())
		if err := expr.CheckFieldName(name); err != nil {
			return nil, err
		}
		if it.Value().Type != tArray {
			return nil, errf(40170, "arguments to $facet must be arrays, %s is type %s", name, typeName(it.Value()))
		}
		for el := it.Value().Elems(); el.Next(); {
			if el.Value().Type != tDoc {
				return nil, errf(40171, "elements of arrays in $facet spec must be non-empty objects, %s argument contained an element of type %s",
					name, typeName(el.Value()))
			}
		}
		p, err := ps.nested(it.Value(), *ps.o, ps.scope, true)
		if err != nil {
			return nil, err
		}
		p.head.rest = limitSorts(joinSorts(moveMatches(append([]parsed(nil), p.stages...))))
		s.facets = append(s.facets, facet{name, p})
	}
	return s, nil
}

func (s *facetStage) deps(d *deps) bool {
	for _, f := range s.facets {
		own := &deps{hidden: d.hidden}
		stop := false
		for _, st := range f.p.stages {
			if stop = st.deps(own); stop {
				break
			}
		}
		d.paths = append(d.paths, own.paths...)
		d.whole = d.whole || own.whole || !stop
	}
	return true
}

func (s *facetStage) open(r *run, in query.Source) (query.Source, error) {
	return &funcSource{in: in, fn: func(ctx context.Context) (query.Source, error) { return s.run(ctx, r, in) }}, nil
}

// run lets all facets read the input side by side: each block is given to all, and the next one is read
// when all are done with it, so nothing is kept but what the facets keep.
func (s *facetStage) run(ctx context.Context, r *run, in query.Source) (query.Source, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &tee{ctx: ctx}
	results := make([]facetResult, len(s.facets))
	var wg sync.WaitGroup
	for i, f := range s.facets {
		port := &teePort{want: make(chan struct{}), give: make(chan []bsonx.Doc), done: make(chan struct{})}
		t.ports = append(t.ports, port)
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer close(port.done)
			results[i].collect(ctx, r, port, f.p.head.rest)
			if results[i].err != nil {
				cancel()
			}
		}()
	}
	err := t.pump(in)
	if err != nil {
		cancel()
	}
	wg.Wait()
	return s.reply(results, err)
}

func (s *facetStage) reply(results []facetResult, err error) (query.Source, error) {
	for i := range results {
		// A facet that was stopped because another failed is not the cause.
		if e := results[i].err; e != nil && (err == nil || mongoerr.CodeOf(err) == mongoerr.Interrupted) {
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	d := bsonx.BeginDoc(nil)
	for i := range results {
		d = bsonx.AppendElem(d, s.facets[i].name, bsonx.ArrayValue(bsonx.EndDoc(results[i].arr, 0)))
	}
	d = bsonx.EndDoc(d, 0)
	if len(d) > maxDocument {
		return nil, errTooLarge(len(d))
	}
	return &listSource{docs: []bsonx.Doc{d}}, nil
}

type facetResult struct {
	arr []byte
	n   int
	err error
}

func (f *facetResult) collect(ctx context.Context, r *run, in query.Source, stages []parsed) {
	f.arr = bsonx.BeginDoc(nil)
	src, err := chain(r, in, stages)
	if err != nil {
		f.err = err
		return
	}
	defer src.Close()
	for {
		docs, err := src.Next(ctx)
		if err != nil || len(docs) == 0 {
			f.err = err
			return
		}
		for _, d := range docs {
			f.arr = bsonx.AppendElem(f.arr, indexName(f.n), bsonx.DocValue(d))
			f.n++
		}
		if len(f.arr) > maxDocument {
			f.err = errTooLarge(len(f.arr))
			return
		}
	}
}

// tee gives each block of one source to several readers.
type tee struct {
	ctx   context.Context
	ports []*teePort
}

// teePort is one reader's end.
type teePort struct {
	want chan struct{}    // the reader asks for the next block
	give chan []bsonx.Doc // the block; empty at the end
	done chan struct{}    // the reader has ended
	own  []bsonx.Doc
}

// pump runs until the input or all readers have ended.
func (t *tee) pump(in query.Source) error {
	for {
		// Everyone has to be done with the last block before the next one is read.
		live := 0
		for _, p := range t.ports {
			select {
			case <-p.want:
				live++
			case <-p.done:
			}
		}
		if live == 0 {
			return nil
		}
		docs, err := in.Next(t.ctx)
		for _, p := range t.ports {
			select {
			case <-p.done:
				continue
			default:
			}
			if err != nil {
				docs = nil
			}
			select {
			case p.give <- docs:
			case <-p.done:
			}
		}
		if err != nil || len(docs) == 0 {
			return err
		}
	}
}

// Next copies the list of documents: a $match keeps its hits in the list it is given.
func (p *teePort) Next(ctx context.Context) ([]bsonx.Doc, error) {
	select {
	case p.want <- struct{}{}:
	case <-ctx.Done():
		return nil, errOf(ctx)
	}
	select {
	case docs := <-p.give:
		p.own = append(p.own[:0], docs...)
		return p.own, nil
	case <-ctx.Done():
		return nil, errOf(ctx)
	}
}

func (p *teePort) Close() error { return nil }
