package into_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/into"
	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
	"mrbench/splitter"
)

func val(v any) bson.RawValue {
	if v == nil {
		return bson.RawValue{}
	}
	kind, data, err := bson.MarshalValue(v)
	if err != nil {
		panic(err)
	}
	return bson.RawValue{Type: kind, Value: data}
}

// cut is a list of ranges of k between the points.
func cut(points ...int) *splitter.List {
	l := &splitter.List{NS: "shop.orders", Key: "k", Documents: 40}
	lo := any(nil)
	for _, p := range points {
		l.Pieces = append(l.Pieces, splitter.Piece{Range: splitter.Range{Key: "k", Lo: val(lo), Hi: val(p)}})
		lo = p
	}
	l.Pieces = append(l.Pieces, splitter.Piece{Range: splitter.Range{Key: "k", Lo: val(lo)}})
	return l
}

// machine is one that takes part in the result kept.r.
type machine struct {
	into.Config
	mu       sync.Mutex
	prepared int
	there    map[string]bool // companions that it made and did not drop
}

func newMachine(client *mongo.Client, run string, change func(*into.Config)) *machine {
	m := &machine{there: map[string]bool{}}
	m.Config = into.Config{
		Client: client, DB: "kept", Coll: "r", List: cut(10, 20, 30), Threads: 2, Wire: 7, Job: "j1", What: "count by k", Disjoint: true, Additive: true,
		Run: run, Host: "host-" + run, Now: time.Now,
		Prepare: func(context.Context, bool) error { m.prepared++; return nil },
		Created: func(coll string) error { m.note(coll, true); return nil },
		Dropped: func(coll string) error { m.note(coll, false); return nil },
	}
	if change != nil {
		change(&m.Config)
	}
	return m
}

func (m *machine) note(coll string, there bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.there[coll] = there; !there {
		delete(m.there, coll)
	}
}

func reducing(c *into.Config)  { c.Disjoint = false }
func appending(c *into.Config) { c.Append = true }

// open takes part.
func (m *machine) open(t *testing.T) *into.Result {
	t.Helper()
	r, err := into.Open(t.Context(), m.Config)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// put computes range i: a key of its own that counts 10, and when parts wait the key 0 too, that counts 1.
func put(t *testing.T, m *machine, r *into.Result, i int) {
	t.Helper()
	coll, err := r.Where(i)
	if err != nil {
		t.Fatal(err)
	}
	docs := []any{bson.D{{Key: "_id", Value: 10*i + 5}, {Key: "value", Value: 10.0}}}
	if r.Mode() == into.Reduce {
		docs = append(docs, bson.D{{Key: "_id", Value: 0}, {Key: "value", Value: 1.0}})
	}
	for _, d := range docs {
		id := bson.D{{Key: "_id", Value: d.(bson.D)[0].Value}}
		if _, err := m.Client.Database("kept").Collection(coll).ReplaceOne(t.Context(), id, d, options.Replace().SetUpsert(true)); err != nil {
			t.Fatal(err)
		}
	}
	if keys, err := r.Done(t.Context(), i, 10+int64(len(docs)-1)); err != nil || keys != int64(len(docs)) {
		t.Fatalf("range %d: %d keys, %v", i, keys, err)
	}
}

// addUp puts what was gathered into the result.
func addUp(m *machine) func(context.Context, string) error {
	return func(ctx context.Context, gathered string) error {
		db := m.Client.Database("kept")
		cur, err := db.Collection(gathered).Aggregate(ctx, mongo.Pipeline{{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$key"}, {Key: "value", Value: bson.D{{Key: "$sum", Value: "$value"}}}}}}})
		if err != nil {
			return err
		}
		for cur.Next(ctx) {
			id := bson.D{{Key: "_id", Value: cur.Current.Lookup("_id")}}
			if _, err := db.Collection("r").ReplaceOne(ctx, id, cur.Current, options.Replace().SetUpsert(true)); err != nil {
				return err
			}
		}
		return cur.Err()
	}
}

// finish ends the list, which has to be complete then, and checks it.
func finish(t *testing.T, m *machine, r *into.Result) {
	t.Helper()
	if done, err := r.Finish(t.Context(), addUp(m)); err != nil || !done {
		t.Fatalf("%v, %v", done, err)
	}
	if c, err := r.Check(t.Context()); err != nil || !c.Agrees() || !c.SumKnown {
		t.Errorf("%+v, %v", c, err)
	}
}

// holds wants kept.r to be so, and nothing beside it but its record.
func holds(t *testing.T, client *mongo.Client, want string) {
	t.Helper()
	db := client.Database("kept")
	cur, err := db.Collection("r").Find(t.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	var docs []struct {
		ID    int `bson:"_id"`
		Value float64
	}
	if err := cur.All(t.Context(), &docs); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range docs {
		got = append(got, fmt.Sprintf("%d:%v", d.ID, d.Value))
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("kept.r holds %s, not %s", s, want)
	}
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"r", "r.mrbench_parts"}) {
		t.Errorf("in kept: %v, %v", names, err)
	}
}

const (
	merged  = "5:10 15:10 25:10 35:10"
	reduced = "0:4 5:10 15:10 25:10 35:10"
)

// Of two machines that begin at the same time one makes the result, both fill it, and a third one later finds that nothing is missing.
func TestTwoMachinesAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*into.Config)
		want   string
	}{"merge": {nil, merged}, "reduce": {reducing, reduced}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mimic.Start(t, mimic.Config{Topology: mimic.ReplicaSet})
			machines := []*machine{newMachine(s.Client(t), "a", c.change), newMachine(s.Client(t), "b", c.change)}
			results := make([]*into.Result, 2)
			errs := make([]error, 2)
			var work sync.WaitGroup
			for k, m := range machines {
				work.Go(func() { results[k], errs[k] = into.Open(t.Context(), m.Config) })
			}
			work.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			if n := machines[0].prepared + machines[1].prepared; n != 1 {
				t.Errorf("made %d times", n)
			}
			// Both compute range 1; the second one's part goes.
			for k, ranges := range [][]int{{0, 1}, {1, 2, 3}} {
				if done, err := results[k].Finish(t.Context(), addUp(machines[k])); done || err != nil {
					t.Fatalf("%v, %v", done, err)
				}
				for _, i := range ranges {
					put(t, machines[k], results[k], i)
				}
			}
			if in, of, err := results[0].In(t.Context()); in != 4 || of != 4 || err != nil {
				t.Errorf("%d of %d, %v", in, of, err)
			}
			for k := range machines {
				work.Go(func() {
					if done, err := results[k].Finish(t.Context(), addUp(machines[k])); !done || err != nil {
						t.Errorf("%v, %v", done, err)
					}
				})
			}
			work.Wait()
			holds(t, machines[0].Client, c.want)
			late := newMachine(s.Client(t), "c", c.change)
			r := late.open(t)
			if missing, err := r.Missing(t.Context(), 0, 4); len(missing) != 0 || err != nil {
				t.Errorf("missing %v, %v", missing, err)
			}
			finish(t, late, r)
			holds(t, machines[0].Client, c.want)
		})
	}
}

// A machine that finishes while another one gathers takes the parts away from under it: that is no loss.
func TestFinishedUnderAnother(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"listCollections", "drop", "aggregate"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			var finishFirst func()
			s := mimic.Start(t, mimic.Config{Own: func(_ context.Context, c mongofake.Command) bson.D {
				if do := finishFirst; do != nil && c.Name == at {
					finishFirst = nil
					do()
				}
				return nil
			}})
			quick, slow := newMachine(s.Inside(), "quick", reducing), newMachine(s.Client(t), "slow", reducing)
			first, second := quick.open(t), slow.open(t)
			for i := range 4 {
				put(t, quick, first, i)
			}
			finishFirst = func() { finish(t, quick, first) }
			if done, err := second.Finish(t.Context(), addUp(slow)); !done || err != nil {
				t.Fatalf("%v, %v", done, err)
			}
			if c, err := second.Check(t.Context()); !c.Agrees() || err != nil {
				t.Errorf("%+v, %v", c, err)
			}
			holds(t, quick.Client, reduced)
		})
	}
}

// Ranges of a machine that died are computed by the next one, those that are in are not, and what did not come together is begun anew.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*into.Config){"merge": nil, "reduce": reducing, "reduce, 4.2": func(c *into.Config) { c.Disjoint, c.Wire = false, 8 }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mimic.Start(t, mimic.Config{Version: "4.2.24"})
			dead := newMachine(s.Client(t), "dead", change)
			r := dead.open(t)
			put(t, dead, r, 2)
			if coll, err := r.Where(1); err != nil || coll == "" { // it died while range 1 was computed
				t.Fatal(coll, err)
			}
			next := newMachine(s.Client(t), "next", change)
			r = next.open(t)
			missing, err := r.Missing(t.Context(), 1, 4)
			if err != nil || !slices.Equal(missing, []int{1, 3}) || next.prepared != 0 {
				t.Fatalf("missing %v, %v; made %d times", missing, err, next.prepared)
			}
			for _, i := range append(missing, 0) {
				put(t, next, r, i)
			}
			want := merged
			if r.Mode() == into.Reduce {
				want = reduced
				broken := func(ctx context.Context, gathered string) error {
					return errors.Join(addUp(next)(ctx, gathered), errors.New("cut off"))
				}
				if done, err := r.Finish(t.Context(), broken); done || err == nil || !strings.Contains(err.Error(), "cut off") {
					t.Fatalf("%v, %v", done, err)
				}
			}
			finish(t, next, r)
			holds(t, s.Inside(), want)
			next.there["r.mrbench_parts"] = false
			for coll, there := range next.there {
				if there {
					t.Errorf("%s is not noted as dropped", coll)
				}
			}
		})
	}
}

// What is there already is added to with Append only, once for each list.
func TestAppend(t *testing.T) {
	t.Parallel()
	s := mimic.Start(t, mimic.Config{})
	client := s.Client(t)
	if _, err := client.Database("kept").Collection("r").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 5}, {Key: "value", Value: 100}}); err != nil {
		t.Fatal(err)
	}
	_, err := into.Open(t.Context(), newMachine(client, "a", nil).Config)
	if e, ok := errors.AsType[*into.ExistsError](err); !ok || e.NS != "kept.r" {
		t.Fatalf("%v", err)
	}
	for range 2 {
		m := newMachine(client, "b", appending)
		r := m.open(t)
		missing, err := r.Missing(t.Context(), 0, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range missing {
			put(t, m, r, i)
		}
		finish(t, m, r)
		holds(t, client, "0:4 5:110 15:10 25:10 35:10")
	}
	two := func(c *into.Config) { c.List = cut(20) }
	_, err = into.Open(t.Context(), newMachine(client, "c", two).Config)
	if e, ok := errors.AsType[*into.OtherListError](err); !ok || !e.Done || e.Ranges != 4 {
		t.Fatalf("%v", err)
	}
	m := newMachine(client, "d", func(c *into.Config) { two(c); appending(c) })
	r := m.open(t)
	put(t, m, r, 0)
	_, err = into.Open(t.Context(), newMachine(client, "e", appending).Config) // the first list is in
	if err != nil {
		t.Error(err)
	}
	_, err = into.Open(t.Context(), newMachine(client, "f", func(c *into.Config) { appending(c); c.List = cut(7) }).Config)
	if e, ok := errors.AsType[*into.OtherListError](err); !ok || e.Done || e.In != 1 || e.Ranges != 2 {
		t.Errorf("%v", err)
	}
	put(t, m, r, 1)
	finish(t, m, r)
	holds(t, client, "0:6 5:120 15:20 25:10 35:10")
}

// A collection that could not be made leaves nothing that the next run would wait for; that of a machine that died is made by another.
func TestPrepare(t *testing.T) {
	t.Parallel()
	s := mimic.Start(t, mimic.Config{})
	m := newMachine(s.Client(t), "a", nil)
	make := m.Prepare
	m.Prepare = func(context.Context, bool) error { return errors.New("no right to make it") }
	if _, err := into.Open(t.Context(), m.Config); err == nil || err.Error() != "no right to make it" {
		t.Fatalf("%v", err)
	}
	m.Prepare = make
	if h := s.Inside().Database("kept").Collection("r.mrbench_parts").FindOne(t.Context(), bson.D{}); !errors.Is(h.Err(), mongo.ErrNoDocuments) {
		t.Fatalf("the next one waits for %v", h)
	}
	m.open(t)
	if m.prepared != 1 {
		t.Errorf("made %d times", m.prepared)
	}
	record := s.Inside().Database("kept").Collection("r.mrbench_parts")
	if _, err := record.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "result"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "ready", Value: false}}}}); err != nil {
		t.Fatal(err)
	}
	heir := newMachine(s.Client(t), "b", func(c *into.Config) { c.Patience = 150 * time.Millisecond })
	heir.open(t)
	if heir.prepared != 1 {
		t.Errorf("the heir made it %d times", heir.prepared)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := record.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "result"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "ready", Value: false}}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := into.Open(ctx, newMachine(s.Inside(), "c", nil).Config); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting was not ended: %v", err)
	}
	// The one that it waits for gives up: it makes the collection itself.
	waiting := newMachine(s.Client(t), "d", nil)
	time.AfterFunc(150*time.Millisecond, func() { _, _ = record.DeleteMany(context.Background(), bson.D{}) })
	waiting.open(t)
	if waiting.prepared != 1 {
		t.Errorf("the one that waited made it %d times", waiting.prepared)
	}
}
