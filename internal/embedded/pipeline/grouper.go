package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/spill"
)

// grouper groups blocks of documents in memory.
type grouper struct {
	key   keyReader
	names []string
	table groupTable
	cols  []column
	ids   []uint32
	// born is the piece of the scan in which a group was first seen, when several workers share it.
	born []uint32
}

func (s *groupStage) newGrouper() *grouper {
	g := &grouper{key: newKeyReader(s.id.Clone())}
	for _, a := range s.accs {
		g.names = append(g.names, a.name)
		g.cols = append(g.cols, a.col.clone())
	}
	return g
}

// add takes in a block.
func (g *grouper) add(docs []bsonx.Doc) error {
	g.ids = grow(g.ids[:0], len(docs))[:len(docs)]
	for i, d := range docs {
		v, err := g.key.get(d)
		if err != nil {
			return err
		}
		g.ids[i] = g.table.find(v)
	}
	return g.update(docs)
}

// update lets the columns take in the documents of the ids found.
func (g *grouper) update(docs []bsonx.Doc) error {
	n := g.table.len()
	for _, c := range g.cols {
		c.resize(n)
		if err := c.update(g.ids, docs); err != nil {
			return err
		}
	}
	return nil
}

func (g *grouper) bytes() int64 {
	n := g.table.bytes()
	for _, c := range g.cols {
		n += c.bytes()
	}
	return n
}

// reset forgets all groups and gives their memory back.
func (g *grouper) reset() {
	g.table.reset()
	for i, c := range g.cols {
		g.cols[i] = c.clone()
	}
}

// appendDoc appends the result document of group id.
func (g *grouper) appendDoc(dst []byte, id uint32) ([]byte, error) {
	return g.appendResult(dst, g.table.value(id), id)
}

func (g *grouper) appendResult(dst []byte, key bsonx.Value, id uint32) ([]byte, error) {
	start := len(dst)
	dst = bsonx.AppendElem(bsonx.BeginDoc(dst), "_id", key)
	for i, c := range g.cols {
		v, err := c.result(id)
		if err != nil {
			return dst, err
		}
		dst = bsonx.AppendElem(dst, g.names[i], v)
	}
	dst = bsonx.EndDoc(dst, start)
	if len(dst)-start > maxDocument {
		return dst, errTooLarge(len(dst) - start)
	}
	return dst, nil
}

// spill adds all groups to the sorter and forgets them. The value is the first
// _id and the columns' partial states.
func (g *grouper) spill(to *spill.Sorter) error {
	var key, val []byte
	for id := range uint32(g.table.len()) {
		v := g.table.value(id)
		key = bsonx.AppendKey(key[:0], v, false)
		val = putValue(val[:0], v)
		for _, c := range g.cols {
			val = c.partial(val, id)
		}
		if err := to.Add(key, val); err != nil {
			return err
		}
	}
	g.reset()
	return nil
}

// mergeState takes a partial state (without the _id) into group id.
func (g *grouper) mergeState(id uint32, val []byte) error {
	for _, c := range g.cols {
		var err error
		if val, err = c.merge(id, val); err != nil {
			return err
		}
	}
	return nil
}

// absorb takes in all groups of another grouper that worked on other pieces of the scan.
func (g *grouper) absorb(o *grouper) error {
	var val []byte
	for id := range uint32(o.table.len()) {
		v := o.table.value(id)
		n := g.table.len()
		to := g.table.find(v)
		switch {
		case int(to) == n:
			g.born = append(g.born, o.born[id])
		case o.born[id] < g.born[to]:
			g.born[to] = o.born[id]
			g.table.replace(to, v)
		}
		val = val[:0]
		for _, c := range o.cols {
			val = c.partial(val, id)
		}
		for _, c := range g.cols {
			c.resize(g.table.len())
		}
		if err := g.mergeState(to, val); err != nil {
			return err
		}
	}
	return nil
}
