package pipeline

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
)

// foreignIndex keeps a collection's documents in memory by the values of a path, for a $lookup that
// would scan the collection for each of its documents. It finds more than it should at times; the filter decides.
type foreignIndex struct {
	path  string
	state int
	docs  []bsonx.Doc
	table groupTable
	lists [][]uint32 // documents by group of the table
	held  int64
}

const (
	indexUntried = iota
	indexReady
	indexRefused
)

// build reads the whole collection, unless it does not fit.
func (x *foreignIndex) build(ctx context.Context, r *run, plan *query.Plan) (bool, error) {
	if x.state != indexUntried {
		return x.state == indexReady, nil
	}
	x.state = indexRefused
	parts := strings.Split(x.path, ".")
	for _, p := range parts {
		if _, err := strconv.Atoi(p); err == nil {
			return false, nil // may be a position in an array
		}
	}
	if r.snap.Stats(plan.Collection).Bytes > r.memory()/2 {
		return false, nil
	}
	all, err := query.MakePlan(r.snap, plan.Collection, query.Request{})
	if err != nil {
		return false, err
	}
	src, err := all.Open(r.snap)
	if err != nil {
		return false, err
	}
	defer src.Close()
	for {
		docs, err := src.Next(ctx)
		if err != nil {
			return false, err
		}
		if len(docs) == 0 {
			break
		}
		for _, d := range docs {
			x.add(d, parts)
		}
		if x.held+x.table.bytes() > r.memory() {
			*x = foreignIndex{path: x.path, state: indexRefused}
			return false, nil
		}
	}
	x.state = indexReady
	return true, nil
}

func (x *foreignIndex) add(d bsonx.Doc, parts []string) {
	n := uint32(len(x.docs))
	x.docs = append(x.docs, append(bsonx.Doc(nil), d...))
	x.held += int64(len(d)) + 24
	put := func(v bsonx.Value) {
		if v.IsNullish() {
			v = null
		}
		g := x.table.find(v)
		x.lists = grow(x.lists, x.table.len())
		if l := x.lists[g]; len(l) == 0 || l[len(l)-1] != n {
			x.lists[g] = append(l, n)
			x.held += 4
		}
	}
	eachValue(bsonx.DocValue(d), parts, put)
}

// eachValue visits what a filter on the path may compare with: values, elements of arrays, null where nothing is.
func eachValue(v bsonx.Value, parts []string, visit func(bsonx.Value)) {
	if len(parts) == 0 {
		visit(v)
		if v.Type == tArray {
			it := v.Elems()
			for it.Next() {
				visit(it.Value())
			}
		}
		return
	}
	switch v.Type {
	case tDoc:
		eachValue(v.Doc().Get(parts[0]), parts[1:], visit)
	case tArray:
		visit(null)
		it := v.Elems()
		for it.Next() {
			eachValue(it.Value(), parts, visit)
		}
	default:
		visit(null)
	}
}

// find calls add for the documents that match f, a filter on the path for v, in _id order.
func (x *foreignIndex) find(f *query.Filter, v bsonx.Value, add func(bsonx.Doc)) error {
	hits := map[uint32]bool{}
	collect := func(v bsonx.Value) {
		if v.IsNullish() {
			v = null
		}
		n := x.table.len()
		g := x.table.find(v)
		if int(g) >= n { // a new number: nothing there
			x.lists = grow(x.lists, x.table.len())
		}
		for _, i := range x.lists[g] {
			hits[i] = true
		}
	}
	collect(v)
	if v.Type == tArray {
		it := v.Elems()
		for it.Next() {
			collect(it.Value())
		}
	}
	for _, i := range sortedKeys(hits) {
		ok, err := f.Match(x.docs[i])
		if err != nil {
			return err
		}
		if ok {
			add(x.docs[i])
		}
	}
	return nil
}

func sortedKeys(m map[uint32]bool) []uint32 { return slices.Sorted(maps.Keys(m)) }
