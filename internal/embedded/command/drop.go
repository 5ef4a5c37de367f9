package command

import (
	"context"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// drop removes a collection or view and ends the cursors on it.
func drop(ctx context.Context, c *call) error {
	ns, err := c.writeNS()
	if err != nil {
		return err
	}
	n, err := c.s.db.Drop(ctx, ns)
	if mongoerr.CodeOf(err) == mongoerr.NamespaceNotFound {
		return mongoerr.New(mongoerr.NamespaceNotFound, "ns not found")
	}
	if err != nil {
		return err
	}
	c.s.endCursors(ns)
	c.str("ns", ns.String())
	c.int32("nIndexesWas", int32(n))
	return nil
}

// endCursors closes the cursors of a collection that is gone.
func (s *Server) endCursors(ns store.NS) {
	name := ns.String()
	s.cursors.closeWhere(func(c *cursor) bool { return c.ns == name })
}
