package command

import (
	"encoding/binary"
	"time"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

// storableDoc checks a document that a client wants stored and puts its _id first, making one when there
// is none. A document that is fit as it came is returned as it is, without a copy.
func storableDoc(d bsonx.Doc) (bsonx.Doc, error) {
	if len(d) > MaxDocumentBytes {
		return nil, tooLarge(len(d))
	}
	var id bsonx.Value
	var place int // of _id; 0: none seen
	fill := false // an empty timestamp is to be filled in
	n := 0
	it := d.Iter() // not in the for clause, which would copy it on each step
	for it.Next() {
		n++
		name := it.Name()
		if len(name) == 0 {
			continue
		}
		if name[0] == '$' {
			return nil, mongoerr.New(mongoerr.BadValue, "Document can't have $ prefixed field names: %s", name)
		}
		v := it.Value()
		if string(name) == "_id" {
			if place != 0 {
				return nil, mongoerr.New(mongoerr.BadValue, "can't have multiple _id fields in one document")
			}
			id, place = v, n
			if err := checkID(v); err != nil {
				return nil, err
			}
		} else if v.Type == bsonx.TypeTimestamp && emptyTimestamp(v) {
			fill = true
		}
	}
	if place == 1 && !fill {
		return d, nil
	}
	return rebuild(d, id)
}

func tooLarge(n int) error {
	return mongoerr.New(mongoerr.BSONObjectTooLarge, "object to insert too large. size in bytes: %d, max size: %d", n, MaxDocumentBytes)
}

// checkID refuses the types that an _id can't have.
func checkID(v bsonx.Value) error {
	switch v.Type {
	case bsonx.TypeRegex, bsonx.TypeArray, bsonx.TypeUndefined:
		name := bsonx.TypeName(v.Type)
		return mongoerr.New(mongoerr.BadValue, "can't use a %s for _id", name)
	case docType:
		return query.BadName(v, "_id")
	}
	return nil
}

func emptyTimestamp(v bsonx.Value) bool { return binary.LittleEndian.Uint64(v.Data) == 0 }

// rebuild copies d with its _id first (a new ObjectId when id is missing) and empty timestamps at
// the top level filled in.
func rebuild(d bsonx.Doc, id bsonx.Value) (bsonx.Doc, error) {
	at, out := bsoncore.AppendDocumentStart(make([]byte, 0, len(d)+17))
	if id.IsMissing() {
		out = bsoncore.AppendObjectIDElement(out, "_id", newObjectID())
	} else {
		out = bsonx.AppendElem(out, "_id", id)
	}
	it := d.Iter()
	for it.Next() {
		name, v := it.Name(), it.Value()
		if string(name) == "_id" {
			continue
		}
		out = append(out, it.Elem()...)
		if v.Type == bsonx.TypeTimestamp && emptyTimestamp(v) {
			binary.LittleEndian.PutUint64(out[len(out)-8:], uint64(time.Now().Unix())<<32|1)
		}
	}
	out, err := bsoncore.AppendDocumentEnd(out, at)
	if err == nil && len(out) > MaxDocumentBytes {
		err = tooLarge(len(out))
	}
	return out, err
}
