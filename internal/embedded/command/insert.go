package command

import (
	"context"
	"maps"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// insert adds documents.
func insert(ctx context.Context, c *call) error {
	ns, err := c.writeNS()
	if err != nil {
		return err
	}
	ordered, err := c.flag("ordered", true)
	if err != nil {
		return err
	}
	docs, err := c.statements("documents")
	if err != nil {
		return err
	}
	c.s.counters.ops[opInsert].Add(int64(len(docs)))
	docs, rest := c.pending(docs)
	again := len(c.retried)
	docs, at, errs := storable(docs, ordered)
	n := 0
	if len(docs) > 0 {
		if err := c.refuseView(ns); err != nil {
			return err
		}
		var failed map[int]error
		n, failed, err = c.s.db.InsertMany(ctx, ns, docs, ordered, c.writeOptions(true))
		c.rememberInserts(n, failed, at, rest)
		if err != nil {
			return err
		}
		errs = mergeInsertErrors(errs, failed, at, ordered)
	}
	for i := range errs {
		errs[i].index = place(errs[i].index, rest)
	}
	c.s.counters.docsIn.Add(int64(n))
	c.count("n", int64(n+again))
	c.writeErrors(errs)
	c.retriedIDs()
	return nil
}

// place is where the i-th of the documents that were kept stood among all; at nil: all were kept.
func place(i int, at []int) int {
	if at == nil {
		return i
	}
	return at[i]
}

// readAll reads the statements of an update or delete: one that can't be read fails the command, before anything is written.
func readAll[A any](statements []bsonx.Doc, read func(bsonx.Doc) (A, error)) ([]A, error) {
	args := make([]A, len(statements))
	for i, d := range statements {
		var err error
		if args[i], err = read(d); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// statements gives the documents of a write command, from its document sequence or from the array of the
// same name, without copying them. The slice is the session's, valid until its next use.
func (c *call) statements(field string) ([]bsonx.Doc, error) {
	docs := c.sess.docs[:0]
	seq, ok := c.msg.Sequence(field)
	switch list := c.arg(field); {
	case ok:
		docs = seq.AppendDocs(docs)
	case list.IsMissing():
		return nil, missingField(c.cmd.name, field)
	case list.Type != bsonx.TypeArray:
		return nil, wrongType(c.cmd.name, field, list, "array")
	default:
		for it := list.Elems(); it.Next(); {
			v := it.Value()
			if v.Type != docType {
				return nil, wrongType(c.cmd.name, field+"."+string(it.Name()), v, "object")
			}
			docs = append(docs, v.Doc())
		}
	}
	c.sess.docs = docs
	if n := len(docs); n == 0 || n > MaxWriteBatch {
		return nil, mongoerr.New(mongoerr.InvalidLength, "Write batch sizes must be between 1 and %d. Got %d operations.", MaxWriteBatch, n)
	}
	return docs, nil
}

// storable makes each document fit to be stored, in place in the slice. Those that cannot be are taken out; then
// at says which statement each document that stays belongs to (nil: its own place). Ordered, nothing after
// the first bad one stays.
func storable(docs []bsonx.Doc, ordered bool) (good []bsonx.Doc, at []int, errs []writeError) {
	for i, d := range docs {
		fit, err := storableDoc(d)
		if err == nil {
			if at == nil && len(errs) == 0 {
				docs[i] = fit
				continue
			}
			good = append(good, fit)
			at = append(at, i)
			continue
		}
		if len(errs) == 0 {
			good = docs[:i:i]
			at = make([]int, i, len(docs))
			for j := range at {
				at[j] = j
			}
		}
		errs = append(errs, writeError{i, err})
		if ordered {
			return good, at, errs
		}
	}
	if len(errs) == 0 {
		good = docs
	}
	return good, at, errs
}

// mergeInsertErrors puts the store's errors between those found before, by statement.
func mergeInsertErrors(found []writeError, failed map[int]error, at []int, ordered bool) []writeError {
	if len(failed) == 0 {
		return found
	}
	if ordered {
		found = nil // the store failed at an earlier statement than the one that was not storable
	}
	for _, i := range slices.Sorted(maps.Keys(failed)) {
		found = append(found, writeError{place(i, at), failed[i]})
	}
	slices.SortFunc(found, func(a, b writeError) int { return a.index - b.index })
	return found
}
