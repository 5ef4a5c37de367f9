package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
)

// sliceSource is a query.Source of documents that are in memory already.
type sliceSource struct{ docs []bsonx.Doc }

func (s *sliceSource) Next(context.Context) ([]bsonx.Doc, error) {
	docs := s.docs
	s.docs = nil
	return docs, nil
}

func (s *sliceSource) Close() error { return nil }

// listCursor answers with documents that are in memory: in one batch if the client's batch size (v, the
// command's cursor argument) and the size of a reply allow it.
func (c *call) listCursor(ctx context.Context, ns string, docs []bsonx.Doc, v bsonx.Value) error {
	spec, err := document(c.cmd.name, "cursor", v)
	if err != nil {
		return err
	}
	size, err := batchSize(c.cmd.name, "cursor.batchSize", spec.Get("batchSize"), int64(len(docs)))
	if err != nil {
		return err
	}
	total := 0
	for _, d := range docs {
		total += len(d) + 12
	}
	if size >= int64(len(docs)) && total < batchBytes {
		c.listReply(ns, docs)
		return nil
	}
	cur := &cursor{ns: ns, src: &sliceSource{docs}, left: -1}
	defer cur.release()
	return c.firstReply(ctx, cur, size, true, false)
}
