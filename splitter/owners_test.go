package splitter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// load watches the work of a run of EachOwned.
type load struct {
	mu      sync.Mutex
	waiting map[string]int
	working map[string]int
	all     int
	ran     []int // how often each piece did
}

func (l *load) note(owner string, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working[owner] += by
	l.all += by
	if by > 0 {
		l.waiting[owner]--
	}
}

// Whatever the pieces, owners and times: never more than the limits, never a thread that is free while a piece may run,
// and every piece once.
func TestOwnersKeepTheBoundAndGoOn(t *testing.T) {
	seed := rand.Uint64()
	for n := range 200 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			synctest.Test(t, func(t *testing.T) { checkOwners(t, r) })
		})
	}
}

func checkOwners(t *testing.T, r *rand.Rand) {
	pieces, threads := 1+r.IntN(60), 1+r.IntN(8)
	names := []string{"", "s1", "s2", "s3", "s4"}[r.IntN(2):]
	names = names[:1+r.IntN(len(names))]
	owners := Owners{Each: r.IntN(4)}
	l := &load{waiting: map[string]int{}, working: map[string]int{}, ran: make([]int, pieces)}
	took := make([]time.Duration, pieces)
	for i := range pieces {
		name := names[r.IntN(len(names))]
		owners.Of = append(owners.Of, name)
		l.waiting[name]++
		took[i] = time.Duration(1+r.IntN(1000)) * time.Millisecond
	}
	finished := make(chan error)
	go func() {
		finished <- EachOwned(t.Context(), pieces, threads, owners, func(_ context.Context, i, thread int) error {
			if thread < 0 || thread >= threads {
				t.Errorf("thread %d of %d", thread, threads)
			}
			l.note(owners.Of[i], 1)
			l.ran[i]++
			time.Sleep(took[i])
			l.note(owners.Of[i], -1)
			return nil
		})
	}()
	for {
		synctest.Wait() // everybody sleeps or waits now
		l.check(t, threads, owners.Each)
		select {
		case err := <-finished:
			if err != nil {
				t.Error(err)
			}
			for i, n := range l.ran {
				if n != 1 {
					t.Errorf("piece %d ran %d times", i, n)
				}
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func (l *load) check(t *testing.T, threads, each int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all > threads {
		t.Errorf("%d at work with %d threads", l.all, threads)
	}
	for name, n := range l.working {
		if name != "" && each > 0 && n > each {
			t.Errorf("%d of %s at work, at most %d may be", n, name, each)
		}
	}
	for name, n := range l.waiting {
		if n == 0 || l.all == threads {
			continue
		}
		if name == "" || each == 0 || l.working[name] < each {
			t.Errorf("a thread is free, and %d pieces of %q that may run wait: %v", n, name, l.working)
		}
		// the shard that is idle comes first
		for other, m := range l.working {
			if each > 0 && l.working[name] == 0 && m > 1 {
				t.Errorf("%q waits while %q has %d", name, other, m)
			}
		}
	}
}

// Threads go to the shard that has the fewest commands, not to the one whose ranges come first.
func TestOwnersShareTheThreads(t *testing.T) {
	owners := Owners{Of: []string{"s1", "s1", "s1", "s1", "s2", "s2", "s2", "s2"}, Each: 4}
	var mu sync.Mutex
	var first []string
	hold := make(chan struct{})
	err := EachOwned(t.Context(), len(owners.Of), 4, owners, func(_ context.Context, i, _ int) error {
		mu.Lock()
		first = append(first, owners.Of[i])
		if len(first) == 4 {
			close(hold)
		}
		mu.Unlock()
		<-hold
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(first[:4])
	if !slices.Equal(first[:4], []string{"s1", "s1", "s2", "s2"}) {
		t.Errorf("the first four were of %v", first[:4])
	}
}

// A thread that waits for room on a shard is woken by an error or the end of the context.
func TestOwnersStopWhileTheyWait(t *testing.T) {
	bad := errors.New("bad")
	owners := Owners{Of: []string{"s1", "s1", "s1"}, Each: 1}
	err := EachOwned(t.Context(), 3, 3, owners, func(context.Context, int, int) error { return bad })
	if !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = EachOwned(ctx, 3, 3, owners, func(ctx context.Context, _, _ int) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
