package command

import (
	"context"
	"strconv"
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// killCursors closes cursors of one collection.
func killCursors(_ context.Context, c *call) error {
	coll, err := c.collName(c.target())
	if err != nil {
		return err
	}
	ns := store.NS{DB: c.db, Coll: coll}
	c.op.setNS(ns)
	list := c.arg("cursors")
	if list.Type != bsonx.TypeArray {
		return mongoerr.New(mongoerr.FailedToParse, "Field 'cursors' must be of type array, not %s", bsonx.TypeName(list.Type))
	}
	if list.Doc().Len() == 0 {
		return mongoerr.New(mongoerr.BadValue, "killCursors must name at least one cursor id")
	}
	var killed, missing []bsonx.Value
	for it := list.Elems(); it.Next(); {
		id := it.Value()
		if id.Type != bsonx.TypeInt64 {
			return mongoerr.New(mongoerr.FailedToParse, "Field 'cursors' contains an element that is not of type long: %s", id)
		}
		if c.s.cursors.kill(id.Int64(), ns.String(), c.sess.owner()) {
			killed = append(killed, id)
		} else {
			missing = append(missing, id)
		}
	}
	c.values("cursorsKilled", killed)
	c.values("cursorsNotFound", missing)
	c.values("cursorsAlive", nil)
	c.values("cursorsUnknown", nil)
	return nil
}

func (w *builder) values(name string, list []bsonx.Value) {
	at := w.startArray(name)
	for i, v := range list {
		w.value(strconv.Itoa(i), v)
	}
	w.end(at)
}

// isCommandNS: the cursors of commands that read no collection are named "$cmd.…".
func isCommandNS(coll string) bool { return strings.HasPrefix(coll, "$cmd.") }
