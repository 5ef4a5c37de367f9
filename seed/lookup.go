package seed

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readpref"
)

// How many keys one question holds.
const (
	lookupCount = 1000
	lookupBytes = 1 << 20
)

// lookup returns those of the places, ascending, whose documents the collection
// holds just as they are in the batch. inserted are the places of those that the same command
// has just inserted: a document with the key of one of them is a duplicate of it.
func (s *sender) lookup(ctx context.Context, places, inserted []int) (there []int, err error) {
	var ids bson.A
	taken := map[string]bool{}
	for k, doc := range s.documents() {
		if _, ok := slices.BinarySearch(inserted, k); ok {
			taken[idKey(doc)] = true
		}
	}
	asked := map[string][]int{} // by _id
	docs := map[int]bson.Raw{}
	size := 0
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		for tries := newAttempts(s.retries); ; {
			found, err := s.ask(ctx, ids, asked, docs)
			if err == nil {
				there = append(there, found...)
				break
			}
			if !retryable(err) || tries.left == 0 {
				return fmt.Errorf("seed: %s: find of %s: %w", s.ns, s.name(), err)
			}
			s.onRetry(err)
			if err := tries.again(ctx, err); err != nil {
				return err
			}
		}
		ids, size = nil, 0
		clear(asked)
		clear(docs)
		return nil
	}
	for k, doc := range s.documents() {
		if _, ok := slices.BinarySearch(places, k); !ok {
			continue
		}
		key := idKey(doc)
		if key == "" || taken[key] { // without a key nobody can know
			continue
		}
		id := doc.Lookup("_id")
		asked[key] = append(asked[key], k)
		docs[k] = doc
		ids = append(ids, id)
		if size += len(id.Value); len(ids) == lookupCount || size >= lookupBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	slices.Sort(there)
	return there, nil
}

// ask asks one question.
func (s *sender) ask(ctx context.Context, ids bson.A, asked map[string][]int, docs map[int]bson.Raw) (there []int, err error) {
	coll := s.coll.Database().Collection(s.coll.Name(), options.Collection().SetReadPreference(readpref.Primary()))
	cur, err := coll.Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	if err != nil {
		return nil, err
	}
	defer cur.Close(ctx) // it is read to its end, or there is an error already
	for cur.Next(ctx) {
		key := idKey(cur.Current)
		// Of several documents of a batch with one _id, one was written.
		for i, k := range asked[key] {
			if sameDocument(docs[k], cur.Current) {
				there = append(there, k)
				asked[key] = slices.Delete(asked[key], i, i+1)
				break
			}
		}
	}
	return there, cur.Err()
}

// idKey is a document's _id as a map's key, "" when it has none.
func idKey(doc bson.Raw) string {
	id, err := doc.LookupErr("_id")
	if err != nil {
		return ""
	}
	return string([]byte{byte(id.Type)}) + string(id.Value)
}

// sameDocument compares a document that was sent with one that is stored. A server moves
// _id to the front and replaces an empty timestamp by its time.
func sameDocument(sent, stored bson.Raw) bool {
	a, b := fields(sent), fields(stored)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if bytes.Equal(a[i], b[i]) {
			continue
		}
		v := a[i].Value()
		if t, n, ok := v.TimestampOK(); !ok || t != 0 || n != 0 || a[i].Key() != b[i].Key() || b[i].Value().Type != v.Type {
			return false
		}
	}
	return true
}

// fields are a document's elements, _id first; none of a document that is broken.
func fields(d bson.Raw) []bson.RawElement {
	list, err := d.Elements()
	if err != nil {
		return nil
	}
	if i := slices.IndexFunc(list, func(e bson.RawElement) bool { return e.Key() == "_id" }); i > 0 {
		id := list[i]
		copy(list[1:i+1], list[:i])
		list[0] = id
	}
	return list
}
