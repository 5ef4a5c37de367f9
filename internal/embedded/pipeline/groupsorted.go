package pipeline

import (
	"bytes"
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// entryGroups groups index entries whose first field is the _id of the group: equal keys stand together,
// so a group is a run of entries. Only counts are made; no document is built.
type entryGroups struct {
	it    *store.EntryIter
	names []string
	cols  []*countColumn
	multi bool // the index has further fields
	desc  bool
	cur   []byte // encoded key of the run
	open  bool   // a result document is begun
	n     int64
	ended bool
	out   block
	doc   []byte
	steps int
}

const (
	// skipAfter is how many equal entries are stepped over before a seek is worth it, when nothing is counted.
	skipAfter = 16
	// checkEvery is after how many entries ctx is looked at.
	checkEvery = 4096
)

func (s *entryGroups) Next(ctx context.Context) ([]bsonx.Doc, error) {
	if ctx.Err() != nil {
		return nil, errOf(ctx)
	}
	s.out.reset()
	for !s.ended && !s.out.full() {
		if s.steps++; s.steps%checkEvery == 0 && ctx.Err() != nil {
			return nil, errOf(ctx)
		}
		if !s.it.Next() {
			s.ended = true
			if err := s.it.Err(); err != nil {
				return nil, err
			}
			s.finish()
			break
		}
		key := s.it.Key()
		if s.multi {
			w, err := bsonx.SkipKey(key, s.desc)
			if err != nil {
				return nil, err
			}
			key = key[:w]
		}
		if s.open && bytes.Equal(key, s.cur) {
			s.n++
			if len(s.cols) == 0 && s.n == skipAfter {
				s.it.SkipPast(s.cur)
			}
			continue
		}
		s.finish()
		if err := s.begin(key); err != nil {
			return nil, err
		}
	}
	return s.out.docs, nil
}

// begin starts the result of a new key, with its value as the entry has it.
func (s *entryGroups) begin(key []byte) error {
	d := bsonx.BeginDoc(s.doc[:0])
	from := len(d)
	d, _, _, err := bsonx.AppendDecodedElem(d, "_id", key, s.it.TypeBits(), s.desc)
	if err != nil {
		return err
	}
	if len(d) == from { // missing
		d = bsonx.AppendElem(d, "_id", null)
	}
	s.doc, s.open, s.n = d, true, 1
	s.cur = append(s.cur[:0], key...)
	return nil
}

func (s *entryGroups) finish() {
	if !s.open {
		return
	}
	s.open = false
	d := s.doc
	for i, c := range s.cols {
		d = bsonx.AppendElem(d, s.names[i], c.times(s.n))
	}
	s.doc = bsonx.EndDoc(d, 0)
	s.out.add(s.doc)
}

func (s *entryGroups) Close() error { return s.it.Close() }

// sortedGroups groups documents that come with equal _ids together.
type sortedGroups struct {
	in    query.Source
	g     *grouper
	cur   []byte
	key   []byte
	first []byte // the run's _id, as putValue writes it
	open  bool
	ended bool
	out   block
	limit int64
}

func (s *sortedGroups) Next(ctx context.Context) ([]bsonx.Doc, error) {
	s.out.reset()
	for !s.ended && len(s.out.docs) == 0 {
		docs, err := s.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		if len(docs) == 0 {
			s.ended = true
			if err := s.finish(); err != nil {
				return nil, err
			}
			break
		}
		if err := s.add(docs); err != nil {
			return nil, err
		}
	}
	return s.out.docs, nil
}

// add cuts a block into runs.
func (s *sortedGroups) add(docs []bsonx.Doc) error {
	from := 0
	for i, d := range docs {
		v, err := s.g.key.get(d)
		if err != nil {
			return err
		}
		v = orNull(v)
		s.key = bsonx.AppendKey(s.key[:0], v, false)
		if s.open && bytes.Equal(s.key, s.cur) {
			continue
		}
		if err := s.run(docs[from:i]); err != nil {
			return err
		}
		from = i
		if err := s.finish(); err != nil {
			return err
		}
		s.cur, s.key = s.key, s.cur
		s.first, s.open = putValue(s.first[:0], v), true
		for _, c := range s.g.cols {
			c.resize(1)
		}
	}
	return s.run(docs[from:])
}

// run adds documents of the current group.
func (s *sortedGroups) run(docs []bsonx.Doc) error {
	if len(docs) == 0 {
		return nil
	}
	ids := grow(s.g.ids[:0], len(docs))[:len(docs)]
	clear(ids)
	s.g.ids = ids
	for _, c := range s.g.cols {
		if err := c.update(ids, docs); err != nil {
			return err
		}
		if c.bytes() > s.limit {
			return errMemory("$group")
		}
	}
	return nil
}

func (s *sortedGroups) finish() error {
	if !s.open {
		return nil
	}
	s.open = false
	v, _, err := takeValue(s.first)
	if err != nil {
		return err
	}
	d, err := s.g.appendResult(s.out.start(), v, 0)
	if err != nil {
		return err
	}
	s.out.end(d)
	for _, c := range s.g.cols {
		c.reset()
	}
	return nil
}

func (s *sortedGroups) Close() error { return s.in.Close() }
