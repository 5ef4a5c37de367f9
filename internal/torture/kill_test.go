package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// docIndexes are the indexes of the writers' collection besides _id_: plain, multikey, unique and sparse.
var docIndexes = []string{"a_v", "tags", "u", "part"}

// ground is a data directory and what is known of its content.
type ground struct {
	dir     string
	seed    uint64
	actors  []actor
	writers []*writer
	round   int
	slowest time.Duration // start
}

func newGround(t testing.TB) *ground {
	g := &ground{dir: newDir(t), seed: seedOf(t)}
	for i := range 4 {
		w := newWriter(i)
		g.writers = append(g.writers, w)
		g.actors = append(g.actors, w)
	}
	g.actors = append(g.actors, newCounter(), newOutputs(), newIndexer(), newMover())
	return g
}

// start starts the program, on a port and on a socket in turn.
func (g *ground) start(t testing.TB) *server {
	t.Helper()
	socket := ""
	if g.round%2 == 1 {
		socket = filepath.Join(g.dir, "s.sock")
	}
	s := serve(t, g.dir, socket)
	g.slowest = max(g.slowest, s.started)
	return s
}

func (g *ground) prepare(ctx context.Context, t testing.TB, s *server) {
	t.Helper()
	c := dial(t, s.uri)
	defer hangUp(c)
	err := c.Database("torture").RunCommand(ctx, bson.D{{Key: "createIndexes", Value: "docs"}, {Key: "indexes", Value: bson.A{
		bson.D{{Key: "name", Value: "a_v"}, {Key: "key", Value: bson.D{{Key: "a", Value: 1}, {Key: "v", Value: -1}}}},
		bson.D{{Key: "name", Value: "tags"}, {Key: "key", Value: bson.D{{Key: "tags", Value: 1}}}},
		bson.D{{Key: "name", Value: "u"}, {Key: "key", Value: bson.D{{Key: "u", Value: 1}}}, {Key: "unique", Value: true}, {Key: "sparse", Value: true}},
		bson.D{{Key: "name", Value: "part"}, {Key: "key", Value: bson.D{{Key: "v", Value: 1}}}, {Key: "partialFilterExpression", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$lt", Value: 10}}}}}},
	}}}).Err()
	if err != nil {
		t.Fatal(err)
	}
}

// work lets all actors work at once for a while, then ends the program.
func (g *ground) work(ctx context.Context, t testing.TB, s *server, rng *rand.Rand, end func(testing.TB)) {
	t.Helper()
	var ending atomic.Bool
	var wg sync.WaitGroup
	for i, a := range g.actors {
		own := newRand(g.seed, g.round*100+i+1)
		wg.Go(func() {
			c := dial(t, s.uri)
			defer hangUp(c)
			for !ending.Load() {
				if err := a.step(ctx, c, own); err != nil {
					if !ending.Load() || !endedByProgram(err) {
						t.Errorf("round %d, %T: %v", g.round, a, err)
					}
					return
				}
			}
		})
	}
	time.Sleep(time.Duration(20+rng.IntN(400)) * time.Millisecond)
	// Clients must not stop by themselves between the order and the end: those in flight are the point.
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		ending.Store(true)
		end(t)
	}()
	<-killed
	wg.Wait()
}

// check compares the whole database with what is known.
func (g *ground) check(ctx context.Context, t testing.TB, s *server) {
	t.Helper()
	tmp, err := filepath.Glob(filepath.Join(g.dir, "engine", "tmp", "*"))
	if err != nil || len(tmp) > 0 {
		t.Errorf("temporary files: %v %v", tmp, err)
	}
	c := dial(t, s.uri)
	defer hangUp(c)
	for _, a := range g.actors {
		a.check(ctx, t, c)
	}
	var owned []string
	for _, a := range g.actors {
		owned = append(owned, a.owns()...)
	}
	validateAll(ctx, t, c, owned)
}

// validateAll validates every collection in both directions and complains about those that nobody made.
func validateAll(ctx context.Context, t testing.TB, c *mongo.Client, owned []string) {
	t.Helper()
	dbs, err := c.ListDatabaseNames(ctx, bson.D{})
	if err != nil {
		t.Error(err)
		return
	}
	for _, db := range dbs {
		colls, err := c.Database(db).ListCollectionNames(ctx, bson.D{})
		if err != nil {
			t.Error(err)
		}
		for _, coll := range colls {
			if ns := db + "." + coll; !slices.Contains(owned, ns) {
				t.Errorf("collection %s was made by nobody", ns)
			}
			raw, err := c.Database(db).RunCommand(ctx, bson.D{{Key: "validate", Value: coll}, {Key: "full", Value: true}}).Raw()
			if err != nil || !raw.Lookup("valid").Boolean() {
				t.Errorf("validate %s.%s: %v %v", db, coll, raw, err)
			}
		}
	}
}

// strays reads the closed data directory and names what belongs to no collection and no index of the catalog. It knows the
// layout of the keys (internal/embedded/store, keys.go) and nothing else of the store, so that it can't make the same mistake.
func strays(t testing.TB, dir string) {
	t.Helper()
	db, err := pebble.Open(filepath.Join(dir, "engine"), &pebble.Options{ReadOnly: true, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	known := map[string]bool{}
	note := func(v bson.RawValue) { known[string(encodedID(uint64(number(v))))] = true }
	each := func(space byte, fn func(k, v []byte)) {
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{space}, UpperBound: []byte{space + 1}})
		if err != nil {
			t.Fatal(err)
		}
		for ok := it.First(); ok; ok = it.Next() {
			fn(it.Key()[1:], it.Value())
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
	}
	collections := 0
	each(0x02, func(_, v []byte) {
		collections++
		note(bson.Raw(v).Lookup("id"))
		indexes, _ := bson.Raw(v).Lookup("indexes").Array().Values()
		for _, ix := range indexes {
			note(ix.Document().Lookup("id"))
		}
	})
	if collections == 0 {
		t.Error("no collection was found in the data directory")
	}
	each(0x04, func(k, _ []byte) { t.Errorf("%x is left unpublished", k) })
	for _, space := range []byte{0x03, 0x10, 0x20} {
		stray := map[string]int{}
		each(space, func(k, _ []byte) {
			if id := string(k[:1+k[0]]); !known[id] {
				stray[id]++
			}
		})
		for id, n := range stray {
			t.Errorf("%d keys of space %#x belong to id %x, which the catalog does not know", n, space, id)
		}
	}
}

// encodedID is an id as keys have it: its length, then its bytes from the highest on.
func encodedID(id uint64) []byte {
	var b []byte
	for id > 0 || len(b) == 0 {
		b = append([]byte{byte(id)}, b...)
		id >>= 8
	}
	return append([]byte{byte(len(b))}, b...)
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(f string, args ...any) {
	panic(fmt.Sprintf(f, args...))
}

// TestKill kills the program at random moments while many kinds of changes go on, starts it again on the same data, and compares. Now
// and then it is killed while it recovers, or stopped properly.
func TestKill(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g := newGround(t)
	rounds := roundsOf(t, 3, 12)
	rng := newRand(g.seed, 0)
	s := g.start(t)
	g.prepare(ctx, t, s)
	kills := 0
	for g.round = 1; g.round <= rounds && !t.Failed(); g.round++ {
		if rng.IntN(6) == 0 || g.round == rounds {
			g.work(ctx, t, s, rng, s.stopped)
			strays(t, g.dir)
		} else {
			g.work(ctx, t, s, rng, s.killed)
			kills++
		}
		for rng.IntN(4) == 0 { // also while it recovers
			half, _ := spawn(t, g.dir, "")
			time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
			half.killed(t)
			kills++
		}
		s = g.start(t)
		g.check(ctx, t, s)
	}
	s.stopped(t)
	strays(t, g.dir)
	acked := 0
	for _, w := range g.writers {
		acked += w.acked
	}
	if acked == 0 {
		t.Error("nothing was acknowledged in any round")
	}
	t.Logf("%d rounds, %d kills, %d documents acknowledged by the writers, slowest start %v", rounds, kills, acked, g.slowest.Round(time.Millisecond))
	if t.Failed() {
		keep := filepath.Join(os.TempDir(), fmt.Sprintf("torture-%d", g.seed))
		if err := os.Rename(g.dir, keep); err == nil {
			t.Logf("the data is kept in %s", keep)
		}
	}
}
