package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// maxStored is the size of the largest document that a collection may hold, in bytes; between stages a document may
// have maxDocument.
const maxStored = 16 << 20

// storable refuses what $out and $merge must not write: documents that no client could have stored itself.
func storable(d bsonx.Doc) error {
	if len(d) > maxStored {
		return errf(mongoerr.BSONObjectTooLarge, "object to insert too large. size in bytes: %d, max size: %d", len(d), maxStored)
	}
	switch v := d.Get("_id"); v.Type {
	case bsonx.TypeArray, bsonx.TypeRegex, bsonx.TypeUndefined:
		return errf(mongoerr.BadValue, "can't use a %s for _id", typeName(v))
	}
	return nil
}
