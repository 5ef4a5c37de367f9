package torture

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"
)

func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

const writerKeys = 120

// writer inserts, updates and deletes documents of a collection that all writers share, under its own _ids.
// The whole of a document follows from its _id and its version.
type writer struct {
	name    string
	keys    [writerKeys]*cell
	version int64
	acked   int // acknowledged changes
}

func newWriter(n int) *writer {
	w := &writer{name: fmt.Sprint("w", n)}
	for i := range w.keys {
		w.keys[i] = newCell()
	}
	return w
}

func (w *writer) owns() []string { return []string{"torture.docs"} }

func (w *writer) id(k int) string { return fmt.Sprintf("%s-%03d", w.name, k) }

// doc is version v of the document of key k: some indexed fields and some weight.
func (w *writer) doc(k int, v int64) bson.D {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, w.id(k), v)
	x := h.Sum64()
	d := bson.D{{Key: "_id", Value: w.id(k)}, {Key: "v", Value: v}, {Key: "a", Value: int32(x % 50)}}
	if x%3 == 0 {
		d = append(d, bson.E{Key: "tags", Value: bson.A{int32(x % 7), "t", int32(x % 11)}})
	}
	if x%5 != 0 {
		d = append(d, bson.E{Key: "u", Value: w.id(k)})
	}
	return append(d, bson.E{Key: "pad", Value: strings.Repeat("x", int(x%2000))})
}

// collection gives the shared collection with one of the write concerns.
func docsCollection(c *mongo.Client, rng *rand.Rand) (coll *mongo.Collection, unacknowledged bool) {
	wc := &writeconcern.WriteConcern{W: 1}
	switch rng.IntN(8) {
	case 0, 1:
		wc = writeconcern.Journaled()
	case 2, 3:
		wc = writeconcern.Unacknowledged()
		unacknowledged = true
	}
	return c.Database("torture").Collection("docs", options.Collection().SetWriteConcern(wc)), unacknowledged
}

// picks gives up to n keys for which ok holds, in random order.
func (w *writer) picks(rng *rand.Rand, n int, ok func(state int64) bool) (keys []int) {
	for _, k := range rng.Perm(writerKeys) {
		if s, known := w.keys[k].known(); known && ok(s) && len(keys) < n {
			keys = append(keys, k)
		}
	}
	return keys
}

func (w *writer) step(ctx context.Context, c *mongo.Client, rng *rand.Rand) error {
	coll, unacknowledged := docsCollection(c, rng)
	w.version++
	v := w.version
	var keys []int
	var err error
	state := v // that the change brings
	switch rng.IntN(6) {
	case 0, 1:
		keys = w.picks(rng, 1+rng.IntN(40), func(s int64) bool { return s == absent })
		docs := make([]any, len(keys))
		for i, k := range keys {
			w.keys[k].send(state)
			docs[i] = w.doc(k, v)
		}
		if len(docs) > 0 {
			_, err = coll.InsertMany(ctx, docs, options.InsertMany().SetOrdered(rng.IntN(2) == 0))
		}
	case 2: // of whatever is there, also what is uncertain
		k := rng.IntN(writerKeys)
		keys = []int{k}
		w.keys[k].send(state)
		_, err = coll.ReplaceOne(ctx, bson.D{{Key: "_id", Value: w.id(k)}}, w.doc(k, v), options.Replace().SetUpsert(true))
	case 3:
		keys = w.picks(rng, 1+rng.IntN(10), func(s int64) bool { return s != absent })
		var models []mongo.WriteModel
		for _, k := range keys {
			w.keys[k].send(state)
			d := w.doc(k, v)
			// A field that this version lacks goes.
			pipe := bson.A{bson.D{{Key: "$replaceWith", Value: bson.D{{Key: "$literal", Value: d}}}}}
			models = append(models, mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: w.id(k)}}).SetUpdate(pipe))
		}
		if len(models) > 0 {
			_, err = coll.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(rng.IntN(2) == 0))
		}
	case 4:
		keys = []int{rng.IntN(writerKeys)}
		state = absent
		w.keys[keys[0]].send(state)
		_, err = coll.DeleteOne(ctx, bson.D{{Key: "_id", Value: w.id(keys[0])}})
	case 5:
		keys = w.picks(rng, rng.IntN(30), func(s int64) bool { return s != absent })
		state = absent
		ids := bson.A{}
		for _, k := range keys {
			w.keys[k].send(state)
			ids = append(ids, w.id(k))
		}
		_, err = coll.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	}
	switch {
	case unacknowledged && errors.Is(err, mongo.ErrUnacknowledgedWrite):
		err = nil
	case unacknowledged:
	case err == nil:
		for _, k := range keys {
			w.keys[k].settle(state)
		}
		w.acked += len(keys)
	}
	if err == nil && unacknowledged && rng.IntN(2) == 0 { // what can be read on the connection has been written
		err = w.observe(ctx, c, keys)
	}
	return err
}

// observe reads documents of this writer, all of them when keys is nil.
func (w *writer) observe(ctx context.Context, c *mongo.Client, keys []int) error {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: w.name + "-"}, {Key: "$lt", Value: w.name + "."}}}}
	cur, err := c.Database("torture").Collection("docs").Find(ctx, filter)
	if err != nil {
		return err
	}
	var docs []bson.Raw
	if err := cur.All(ctx, &docs); err != nil {
		return err
	}
	found := map[string]bson.Raw{}
	for _, d := range docs {
		found[d.Lookup("_id").StringValue()] = d
	}
	if keys == nil {
		for k := range w.keys {
			keys = append(keys, k)
		}
		if n := len(docs); n > writerKeys {
			return errorf("%s has %d documents, never wrote more than %d", w.name, n, writerKeys)
		}
	}
	for _, k := range keys {
		state := absent
		if d, ok := found[w.id(k)]; ok {
			state = number(d.Lookup("v"))
			if want, err := bson.Marshal(w.doc(k, state)); err != nil || string(want) != string(d) {
				return errorf("%s is damaged: %v", w.id(k), d)
			}
		}
		if err := w.keys[k].observe(state); err != nil {
			return errorf("%s: %w", w.id(k), err)
		}
	}
	return nil
}

func (w *writer) check(ctx context.Context, t testing.TB, c *mongo.Client) {
	t.Helper()
	if err := w.observe(ctx, c, nil); err != nil {
		t.Error(err)
	}
}

const countersOf = 20

// counter counts up, one document or all at once.
type counter struct{ counts [countersOf]*cell }

func newCounter() *counter {
	n := &counter{}
	for i := range n.counts {
		n.counts[i] = newCell()
		n.counts[i].settle(0)
	}
	return n
}

func (n *counter) owns() []string { return []string{"torture.counters"} }

func (n *counter) step(ctx context.Context, c *mongo.Client, rng *rand.Rand) error {
	coll := c.Database("torture").Collection("counters")
	inc := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(1)}}}}
	var which []int
	var err error
	one := rng.IntN(3) > 0
	if one {
		which = []int{rng.IntN(countersOf)}
	} else {
		for i := range countersOf {
			which = append(which, i)
		}
	}
	for _, i := range which {
		v, _ := n.counts[i].known()
		n.counts[i].send(v + 1)
	}
	if one {
		err = coll.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: which[0]}}, inc, options.FindOneAndUpdate().SetUpsert(true)).Err()
		if errors.Is(err, mongo.ErrNoDocuments) { // the answer is the document before the change
			err = nil
		}
	} else {
		var models []mongo.WriteModel
		for _, i := range which { // make sure that it is there, then count all by one update
			models = append(models, mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: i}}).SetUpdate(bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(0)}}}}).SetUpsert(true))
		}
		models = append(models, mongo.NewUpdateManyModel().SetFilter(bson.D{}).SetUpdate(inc))
		_, err = coll.BulkWrite(ctx, models)
	}
	if err != nil {
		return err
	}
	for _, i := range which {
		n.counts[i].settle(n.counts[i].may[len(n.counts[i].may)-1])
	}
	return nil
}

func (n *counter) check(ctx context.Context, t testing.TB, c *mongo.Client) {
	t.Helper()
	cur, err := c.Database("torture").Collection("counters").Find(ctx, bson.D{})
	if err != nil {
		t.Error(err)
		return
	}
	var docs []bson.Raw
	if err := cur.All(ctx, &docs); err != nil {
		t.Error(err)
		return
	}
	got := map[int64]int64{}
	for _, d := range docs {
		got[number(d.Lookup("_id"))] = number(d.Lookup("n"))
	}
	for i, k := range n.counts {
		if err := k.observe(got[int64(i)]); err != nil {
			t.Errorf("counter %d %v", i, err)
		}
	}
}
