package polite

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// lane is where commands wait one behind another: those for one shard, or all that are for no shard in particular.
type lane struct {
	shard string
	line  chan struct{} // its one place is taken by who looks; the others wait behind
	slow  bool          // a look lets one command through; of who is first in line

	// Under Governor.mu.
	waiting int
	since   time.Time // of the pause that goes on; zero: none
	told    bool      // of that pause, and it is more than a rest
}

// enter begins to wait in a lane. rest is how long after the last command.
func (g *Governor) enter(shard string) (l *lane, rest time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l = g.lanes[shard]; l == nil {
		l = &lane{shard: shard, line: make(chan struct{}, 1)}
		g.lanes[shard] = l
	}
	l.waiting++
	return l, time.Until(g.ended.Add(g.c.Limits.Rest))
}

// wait stands in line, and looks until no limit is passed.
func (g *Governor) wait(ctx context.Context, l *lane) error {
	if !slices.ContainsFunc(g.all, (*watcher).watches) {
		return ctx.Err()
	}
	select {
	case l.line <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.line }()
	if !g.pausing(l) {
		l.slow = false
	}
	for began := time.Now(); ; {
		why, next := g.look(ctx, l)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(why) == 0 {
			return nil
		}
		g.hold(l, why)
		if waited := time.Since(began); waited >= g.c.MaxPause {
			return &BusyError{waited, texts(why, "")}
		}
		if err := sleep(ctx, time.Until(next)); err != nil {
			return err
		}
	}
}

// look says why nothing may be sent, and when the next look is; no reason: something may. A server that does not answer is taken for a
// busy one.
func (g *Governor) look(ctx context.Context, l *lane) (why []reason, next time.Time) {
	select {
	case g.eye <- struct{}{}:
	case <-ctx.Done():
		return nil, next
	}
	defer func() { <-g.eye }()
	fresh := time.Since(g.at) < g.c.Every
	if l.slow && fresh {
		return []reason{{text: "one command at a time after a pause"}}, g.at.Add(g.c.Every)
	}
	if !fresh && !g.lookAtAll(ctx) {
		return nil, next
	}
	why = g.reasonsFor(l.shard)
	l.slow = l.slow || len(why) > 0
	return why, g.at.Add(g.c.Every)
}

// lookAtAll asks all servers at the same time; false when ctx ended before.
func (g *Governor) lookAtAll(ctx context.Context) bool {
	got, errs := make([]readings, len(g.all)), make([]error, len(g.all))
	var all sync.WaitGroup
	for i, w := range g.all {
		all.Go(func() { got[i], errs[i] = w.look(ctx) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return false
	}
	rs := readings{}
	for _, r := range got {
		rs.add(r)
	}
	g.seen(rs)
	for i, w := range g.all {
		if errs[i] != nil {
			why := reason{"no answer", w.shard, "no answer to " + w.asked + ": " + g.c.Reason(errs[i])}
			g.why[w.shard] = append([]reason{why}, g.why[w.shard]...)
		}
	}
	g.at = time.Now()
	return true
}

// seen judges what a look gave.
func (g *Governor) seen(rs readings) {
	clear(g.why)
	for name := range g.held {
		rs.of(name) // nothing is known of it any more
	}
	for name, r := range rs {
		if g.held[name] == nil {
			g.held[name] = &held{}
		}
		why := g.c.Limits.passed(*r, g.held[name])
		for i := range why {
			why[i].shard = name
		}
		if len(why) > 0 {
			g.why[name] = why
		}
	}
}

// reasonsFor are those that hold a command for a shard back: the server's and the shard's, and every shard's for shard "".
func (g *Governor) reasonsFor(shard string) []reason {
	why := slices.Clone(g.why[""])
	if shard != "" {
		return append(why, g.why[shard]...)
	}
	for _, name := range slices.Sorted(maps.Keys(g.why)) {
		if name != "" {
			why = append(why, g.why[name]...)
		}
	}
	return why
}

func (g *Governor) pausing(l *lane) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return l.told
}

// text says which commands of a lane are held back.
func (l *lane) text() string {
	if l.shard == "" {
		return ""
	}
	return "ranges on shard " + l.shard + " "
}

// hold notes that a command is held back.
func (g *Governor) hold(l *lane, why []reason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.since.IsZero() {
		l.since = time.Now()
	}
	if g.since.IsZero() {
		g.since = l.since
	}
	if !l.told && why[0].key != nameRest {
		g.c.Tell("%sheld back: %s", l.text(), texts(why, l.shard))
		l.told = true
	}
	for _, r := range why {
		if r.key != "" && !slices.ContainsFunc(g.reasons, func(old reason) bool { return old.key == r.key }) {
			g.reasons = append(g.reasons, r)
		}
	}
}

// leave ends a lane's pause when nobody waits there any more, and the whole pause when nobody is held back anywhere.
func (g *Governor) leave(l *lane) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.waiting--; l.waiting > 0 || l.since.IsZero() {
		return
	}
	if l.told {
		g.c.Tell("%sno longer held back, after %v", l.text(), time.Since(l.since).Round(100*time.Millisecond))
	}
	l.since, l.told = time.Time{}, false
	for _, other := range g.lanes {
		if !other.since.IsZero() {
			return
		}
	}
	g.paused += time.Since(g.since)
	g.since = time.Time{}
}
