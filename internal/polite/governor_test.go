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

// fake is a server whose queue is as long as a function of the time says.
type fake struct {
	t     *testing.T
	start time.Time
	hello string
	queue func(time.Duration) int
	other func(name string) (string, error)
	looks int
	// strange: it refuses logins.
	strange bool
}

func (f *fake) ask(_ context.Context, cmd bson.D) (bson.Raw, error) {
	if f.other != nil {
		json, err := f.other(cmd[0].Key)
		if err != nil {
			return nil, err
		}
		if json != "" {
			return doc(f.t, json), nil
		}
	}
	switch cmd[0].Key {
	case "isMaster":
		return doc(f.t, f.hello), nil
	case "serverStatus":
		f.looks++
		return doc(f.t, fmt.Sprintf(`{"globalLock":{"currentQueue":{"total":%d}}}`, f.queue(time.Since(f.start)))), nil
	}
	return nil, mongo.CommandError{Code: 59, Message: "no such command"}
}

// governor is one of a fake server; lines are what it tells.
func (f *fake) governor(t *testing.T, list string, c Config) (g *Governor, lines *[]string) {
	t.Helper()
	f.t, f.start = t, time.Now()
	if f.hello == "" {
		f.hello = "{}"
	}
	var err error
	if c.Limits, err = (Limits{}).With(list); err != nil {
		t.Fatal(err)
	}
	lines = &[]string{}
	c.Tell = func(format string, args ...any) { *lines = append(*lines, fmt.Sprintf(format, args...)) }
	if g, err = open(t.Context(), c, f.ask, nil); err != nil {
		t.Fatal(err)
	}
	return g, lines
}

// Commands wait while a limit is passed, until it is kept with room, and go on one a look.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{queue: func(at time.Duration) int {
			switch {
			case at < 2500*time.Millisecond:
				return 3
			case at < 6500*time.Millisecond:
				return 35
			case at < 9500*time.Millisecond:
				return 18 // below the limit, and not well below
			}
			return 2
		}}
		g, lines := f.governor(t, "queue=20", Config{})
		var mu sync.Mutex
		var went []time.Duration
		send := func(n int) {
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					done, err := g.Gate(t.Context(), "")
					if err != nil {
						t.Error(err)
						return
					}
					done()
					mu.Lock()
					defer mu.Unlock()
					went = append(went, time.Since(f.start))
				})
			}
			all.Wait()
		}
		send(3)
		if looks := f.looks; looks != 1 {
			t.Errorf("%d looks within a second", looks)
		}
		if s, why := g.Paused(); s != 0 || why != nil {
			t.Errorf("paused %v %v", s, why)
		}
		time.Sleep(3 * time.Second)
		send(3)
		want := []time.Duration{0, 0, 0, 10 * time.Second, 11 * time.Second, 12 * time.Second}
		if !slices.Equal(went, want) {
			t.Errorf("went at %v, want %v", went, want)
		}
		s, why := g.Paused()
		if s != 9 || !slices.Equal(why, []string{"queue 35 above 20"}) {
			t.Errorf("paused %v %q", s, why)
		}
		if s, why := g.Paused(); s != 0 || why != nil {
			t.Errorf("and once more %v %q", s, why)
		}
		if want := []string{"held back: queue 35 above 20", "no longer held back, after 9s"}; !slices.Equal(*lines, want) {
			t.Errorf("told %q", *lines)
		}
		// The next one is not held back by what was.
		time.Sleep(time.Minute)
		send(2)
		if s, _ := g.Paused(); s != 0 {
			t.Errorf("paused %v", s)
		}
	})
}

func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, lines := (&fake{}).governor(t, "rest=2s", Config{})
		for range 3 {
			done, err := g.Gate(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			done()
		}
		s, why := g.Paused()
		if s != 4 || !slices.Equal(why, []string{"rests between commands"}) || len(*lines) != 0 {
			t.Errorf("%v %q, told %q", s, why, *lines)
		}
	})
}

func TestMaxPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{queue: func(time.Duration) int { return 50 }}
		g, _ := f.governor(t, "queue=20", Config{MaxPause: time.Minute})
		_, err := g.Gate(t.Context(), "")
		var busy *BusyError
		if !errors.As(err, &busy) || busy.Error() != "the server was too busy for 1m0s: queue 50 above 20" {
			t.Errorf("%v", err)
		}
		// A run that ends is not held up.
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		time.AfterFunc(1500*time.Millisecond, func() { cancel(stop) })
		began := time.Now()
		if _, err := g.Gate(ctx, ""); !errors.Is(err, stop) || time.Since(began) != 1500*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A server that does not answer for a while is taken for a busy one.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{queue: func(time.Duration) int { return 0 }}
		g, lines := f.governor(t, "queue=20", Config{})
		f.other = func(name string) (string, error) {
			if at := time.Since(f.start); name == "serverStatus" && at < 8*time.Second {
				return "", mongo.CommandError{Labels: []string{"NetworkError"}, Message: "connection reset"}
			}
			return "", nil
		}
		time.Sleep(5 * time.Second)
		if _, err := g.Gate(t.Context(), ""); err != nil || time.Since(f.start) != 8*time.Second {
			t.Errorf("%v after %v", err, time.Since(f.start))
		}
		if _, why := g.Paused(); len(why) != 1 || !strings.Contains(why[0], "no answer to serverStatus: connection reset") || len(*lines) != 2 {
			t.Errorf("%q, told %q", why, *lines)
		}
	})
}

func TestUnwatched(t *testing.T) {
	denied := mongo.CommandError{Code: 13, Message: "not authorized on admin to execute command { x: 1, lsid: 7 }"}
	for _, c := range []struct {
		name, hello string
		other       func(string) (string, error)
		want        []string
	}{
		{"standalone", `{}`, nil, []string{"lag: there is no replica set", "cache-dirty, cache-used, tickets, connections: the server does not say"}},
		{"mongos", `{"msg":"isdbgrid"}`, func(name string) (string, error) {
			if name == "aggregate" {
				return `{"cursor":{"firstBatch":[{"_id":"s1","waiting":3}]}}`, nil
			}
			return "", nil
		}, []string{"lag, cache-dirty, cache-used, tickets: only shards know, and none is watched: the router does not list them", "connections: the server does not say"}},
		{"no rights on a mongos", `{"msg":"isdbgrid"}`, func(name string) (string, error) {
			if name == "aggregate" {
				return "", denied
			}
			return "", nil
		}, []string{"queue: $currentOp is refused ((Unauthorized) not authorized on admin); the role clusterMonitor would help", "lag, cache-dirty, cache-used, tickets: only shards", "connections: the server does not say"}},
		{"no rights on a set", `{"setName":"rs","lastWrite":{"lastWriteDate":{"$date":"2026-01-01T00:00:10Z"},"majorityWriteDate":{"$date":"2026-01-01T00:00:10Z"}}}`, func(name string) (string, error) {
			if name != "isMaster" {
				return "", denied
			}
			return "", nil
		}, []string{"queue, cache-dirty, cache-used, tickets, connections: serverStatus is refused", "lag of single members: replSetGetStatus is refused"}},
	} {
		denied.Name = "Unauthorized"
		f := &fake{hello: c.hello, other: c.other, queue: func(time.Duration) int { return 0 }}
		g, _ := f.governor(t, "default", Config{})
		got := g.Unwatched()
		ok := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			ok = ok && strings.HasPrefix(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q", c.name, got)
		}
		if done, err := g.Gate(t.Context(), ""); err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else {
			done()
		}
	}
}
