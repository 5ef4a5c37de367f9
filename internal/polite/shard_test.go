package polite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// shardedFake is a router that says nothing of queues, with fakes behind it.
type shardedFake struct {
	shards map[string]*fake
	dialed map[string][]bool // with a login or without
	closed []string
	mu     sync.Mutex
}

const anyHello = `{"setName":"rs","lastWrite":{"lastWriteDate":{"$date":"2026-01-01T00:00:10Z"},"majorityWriteDate":{"$date":"2026-01-01T00:00:10Z"}}}`

func (x *shardedFake) dial(_ context.Context, s Shard, login bool) (ask, func(), error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.dialed[s.Name] = append(x.dialed[s.Name], login)
	f := x.shards[s.Name]
	if f == nil {
		return nil, nil, errors.New("connection refused")
	}
	return func(ctx context.Context, cmd bson.D) (bson.Raw, error) {
			if login && f.strange {
				return nil, errors.New("auth error: (AuthenticationFailed)")
			}
			return f.ask(ctx, cmd)
		}, func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.closed = append(x.closed, s.Name)
		}, nil
}

// sharded opens a governor of a router with shards, of which those that are nil can't be reached.
func sharded(t *testing.T, list string, router *fake, shards map[string]*fake) (g *Governor, x *shardedFake, lines *[]string) {
	t.Helper()
	x = &shardedFake{shards: shards, dialed: map[string][]bool{}}
	c := Config{}
	for name, f := range shards {
		c.Shards = append(c.Shards, Shard{name, "rs/" + name + ":1"})
		if f != nil {
			f.t, f.start, f.hello = t, time.Now(), anyHello
		}
	}
	slices.SortFunc(c.Shards, func(a, b Shard) int { return strings.Compare(a.Name, b.Name) })
	router.t, router.start, router.hello = t, time.Now(), `{"msg":"isdbgrid"}`
	var err error
	if c.Limits, err = (Limits{}).With(list); err != nil {
		t.Fatal(err)
	}
	lines = &[]string{}
	c.Tell = func(format string, args ...any) { *lines = append(*lines, fmt.Sprintf(format, args...)) }
	if g, err = open(t.Context(), c, router.ask, x.dial); err != nil {
		t.Fatal(err)
	}
	return g, x, lines
}

func quiet(time.Duration) int { return 0 }

// Only what is for a loaded shard waits for it, and what is for no shard in particular.
func TestLoadedShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := func(at time.Duration) int {
			if at < 4500*time.Millisecond {
				return 12
			}
			return 0
		}
		router := &fake{queue: quiet}
		g, x, lines := sharded(t, "queue=8", router, map[string]*fake{"s1": {queue: busy}, "s2": {queue: quiet}})
		var mu sync.Mutex
		went := map[string]time.Duration{}
		var all sync.WaitGroup
		for _, shard := range []string{"s1", "s2", "s3", ""} {
			all.Go(func() {
				done, err := g.Gate(t.Context(), shard)
				if err != nil {
					t.Error(err)
					return
				}
				done()
				mu.Lock()
				defer mu.Unlock()
				went[shard] = time.Since(router.start)
			})
		}
		all.Wait()
		slices.Sort(*lines)
		// After a pause one look lets one through, whichever is first.
		if went["s2"] != 0 || went["s3"] != 0 || went["s1"]+went[""] != 11*time.Second || min(went["s1"], went[""]) != 5*time.Second {
			t.Errorf("went at %v", went)
		}
		if s, why := g.Paused(); s != 6 || !slices.Equal(why, []string{"shard s1: queue 12 above 8"}) {
			t.Errorf("paused %v %q", s, why)
		}
		text := strings.Join(*lines, "\n")
		for _, say := range []string{"held back: shard s1: queue 12 above 8", "ranges on shard s1 held back: queue 12 above 8", "ranges on shard s1 no longer held back, after "} {
			if !strings.Contains("\n"+text, "\n"+say) {
				t.Errorf("no %q in %s", say, text)
			}
		}
		if len(*lines) != 4 || router.looks != 0 || !slices.Equal(g.Watched(), []string{"s1", "s2"}) || g.Unwatched() != nil {
			t.Errorf("%q; the router was looked at %d times; watched %q, not %q", *lines, router.looks, g.Watched(), g.Unwatched())
		}
		g.Close()
		if slices.Sort(x.closed); !slices.Equal(x.closed, []string{"s1", "s2"}) {
			t.Errorf("closed %q", x.closed)
		}
	})
}

// A shard that stops answering is taken for a busy one.
func TestSilentShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s1 := &fake{queue: quiet}
		g, _, _ := sharded(t, "queue=8", &fake{queue: quiet}, map[string]*fake{"s1": s1})
		s1.other = func(string) (string, error) {
			if time.Since(s1.start) < 3*time.Second {
				return "", errors.New("connection reset")
			}
			return "", nil
		}
		time.Sleep(time.Second)
		if _, err := g.Gate(t.Context(), "s1"); err != nil || time.Since(s1.start) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(s1.start))
		}
		if _, why := g.Paused(); !slices.Equal(why, []string{"shard s1: no answer to serverStatus: connection reset"}) {
			t.Errorf("%q", why)
		}
	})
}

// Shards that refuse, or that can't be reached, are named once with what would help; what they or the router do tell counts.
func TestShardsThatAreNotWatched(t *testing.T) {
	denied := mongo.CommandError{Code: 13, Name: "Unauthorized", Message: "command serverStatus requires authentication"}
	refuses := func(name string) (string, error) {
		if name == "isMaster" {
			return "", nil
		}
		return "", denied
	}
	waiting := func(name string) (string, error) {
		if name == "aggregate" {
			return `{"cursor":{"firstBatch":[{"_id":"s1","waiting":3},{"_id":"s2","waiting":{"$numberLong":"30"}}]}}`, nil
		}
		return "", nil
	}
	const (
		lost  = "queue, cache-dirty, cache-used, tickets, connections, and lag of single members: the login is refused there, as users of a cluster are on its config servers; the same user made on the shard too, with the role clusterMonitor, would help"
		quick = "it can't be asked from this machine (connection refused): only what the router tells of it counts"
	)
	for _, c := range []struct {
		name    string
		limits  string
		shards  map[string]*fake
		watched []string
		notes   []string
		logins  []bool // at s1
	}{
		{"both are strangers", "default", map[string]*fake{"s1": {other: refuses, strange: true}, "s2": {other: refuses, strange: true}},
			[]string{"s1", "s2"}, []string{"the router: connections: the server does not say", "shards s1, s2: " + lost}, []bool{true, false}},
		{"one is down", "queue=8", map[string]*fake{"s1": {queue: quiet}, "s2": nil},
			[]string{"s1"}, []string{"shard s2 (rs/s2:1): " + quick}, []bool{true}},
		{"all are down", "default", map[string]*fake{"s1": nil, "s2": nil}, nil, []string{
			"the router: lag, cache-dirty, cache-used, tickets: only shards know, and none is watched", "the router: connections: the server does not say",
			"shards s1 (rs/s1:1), s2 (rs/s2:1): " + quick,
		}, []bool{true}},
		{"no rights", "queue=8", map[string]*fake{"s1": {other: refuses}, "s2": {other: refuses}}, nil, []string{
			"shards s1 (rs/s1:1), s2 (rs/s2:1): queue: serverStatus is refused ((Unauthorized) command serverStatus requires authentication); the role clusterMonitor on the shard would help",
		}, []bool{true}},
		{"left alone", "default,shards=off", map[string]*fake{"s1": {queue: quiet}}, nil,
			[]string{"lag, cache-dirty, cache-used, tickets: only shards know, and none is watched (shards=off)", "connections: the server does not say"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				router := &fake{queue: quiet, other: waiting}
				g, x, _ := sharded(t, c.limits, router, c.shards)
				if !slices.Equal(g.Watched(), c.watched) || !slices.Equal(g.Unwatched(), c.notes) || !slices.Equal(x.dialed["s1"], c.logins) {
					t.Errorf("watched %q, not\n%q, dialed %v", g.Watched(), g.Unwatched(), x.dialed["s1"])
				}
				// The router tells that s2 has a queue, and only what is for s1 goes.
				time.Sleep(time.Second)
				if _, err := g.Gate(t.Context(), "s1"); err != nil {
					t.Error(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := g.Gate(ctx, "s2"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v", err)
				}
				g.Close()
				dialed := 0
				for _, logins := range x.dialed {
					dialed += len(logins)
				}
				if alive := dialed - len(x.closed); alive != countNil(c.shards) && c.logins != nil {
					t.Errorf("%d connections made, closed %q", dialed, x.closed)
				}
			})
		})
	}
}

func countNil(shards map[string]*fake) (n int) {
	for _, f := range shards {
		if f == nil {
			n++
		}
	}
	return n
}
