package polite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Defaults of a zero Config.
const (
	DefaultEvery    = time.Second
	DefaultMaxPause = 10 * time.Minute
)

// Config of Open.
type Config struct {
	// Client asks about the load. Its connections should be its own: the job's may all be in use.
	Client *mongo.Client
	Limits Limits
	// Every is the least time between two looks; 0 is DefaultEvery.
	Every time.Duration
	// MaxPause is how long one command is held back before that is an error; 0 is DefaultMaxPause.
	MaxPause time.Duration
	// Tell gets a line when work is held back and when it goes on. May be nil.
	Tell func(format string, args ...any)
}

// Governor holds commands back while a server is busy. It may be asked from several goroutines.
type Governor struct {
	c    Config
	w    *watcher
	line chan struct{} // its one place is taken by who looks; the others wait behind

	// Of who is first in line.
	read   reading
	at     time.Time // of the last look
	failed error     // what the last look failed by
	held   held
	slow   bool // a look lets one command through

	mu      sync.Mutex
	waiting int
	since   time.Time // of the pause that goes on; zero: none
	told    bool      // of that pause, and it is more than a rest
	ended   time.Time // when the last command ended
	paused  time.Duration
	reasons []reason
}

// reason is why commands are held back.
type reason struct {
	key  string // of which one is kept; "" none
	text string
}

func texts(list []reason) string {
	var all []string
	for _, r := range list {
		all = append(all, r.text)
	}
	return strings.Join(all, ", ")
}

// BusyError says that a command was held back for too long.
type BusyError struct {
	Waited time.Duration
	Why    string
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the server was too busy for %v: %s", e.Waited.Round(time.Second), e.Why)
}

// Open looks at the server once, to find out what can be watched. A refused question is not an error.
func Open(ctx context.Context, c Config) (*Governor, error) {
	admin := c.Client.Database("admin")
	return open(ctx, c, func(ctx context.Context, cmd bson.D) (bson.Raw, error) { return admin.RunCommand(ctx, cmd).Raw() })
}

func open(ctx context.Context, c Config, ask ask) (*Governor, error) {
	if c.Every <= 0 {
		c.Every = DefaultEvery
	}
	if c.MaxPause <= 0 {
		c.MaxPause = DefaultMaxPause
	}
	if c.Tell == nil {
		c.Tell = func(string, ...any) {}
	}
	w, r, err := newWatcher(ctx, ask, c.Limits)
	if err != nil {
		return nil, fmt.Errorf("look at the server's load: %w", err)
	}
	return &Governor{c: c, w: w, read: r, at: time.Now(), line: make(chan struct{}, 1)}, nil
}

// Unwatched says which limits can't be watched on this server, and why.
func (g *Governor) Unwatched() []string { return slices.Clone(g.w.notes) }

// Gate lets a command be sent, as soon as the server is not too busy. done is to be called when the command has ended. Errors: ctx's, and
// *BusyError after Config.MaxPause.
func (g *Governor) Gate(ctx context.Context) (done func(), err error) {
	g.mu.Lock()
	g.waiting++
	rest := time.Until(g.ended.Add(g.c.Limits.Rest))
	g.mu.Unlock()
	defer g.leave()
	if rest > 0 {
		g.hold([]reason{{key: nameRest, text: "rests between commands"}})
		if err := sleep(ctx, rest); err != nil {
			return nil, err
		}
	}
	if err := g.wait(ctx); err != nil {
		return nil, err
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.ended = time.Now()
	}, nil
}

// wait stands in line, and looks until no limit is passed.
func (g *Governor) wait(ctx context.Context) error {
	if len(g.w.sources) == 0 {
		return ctx.Err()
	}
	select {
	case g.line <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-g.line }()
	if !g.pausing() {
		g.slow = false
	}
	for began := time.Now(); ; {
		why := g.look(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(why) == 0 {
			return nil
		}
		g.hold(why)
		if waited := time.Since(began); waited >= g.c.MaxPause {
			return &BusyError{waited, texts(why)}
		}
		if err := sleep(ctx, time.Until(g.at.Add(g.c.Every))); err != nil {
			return err
		}
	}
}

// look says why nothing may be sent; nothing: something may. A server that does not answer is taken for a busy one.
func (g *Governor) look(ctx context.Context) []reason {
	fresh := time.Since(g.at) < g.c.Every
	if g.slow && fresh {
		return []reason{{text: "one command at a time after a pause"}}
	}
	if !fresh || g.failed != nil {
		g.read, g.failed = g.w.look(ctx)
		g.at = time.Now()
	}
	if g.failed != nil {
		g.slow = true
		return []reason{{"no answer", "no answer to " + g.failed.Error()}}
	}
	why := g.c.Limits.passed(g.read, &g.held)
	g.slow = g.slow || len(why) > 0
	return why
}

func (g *Governor) pausing() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.told
}

// hold notes that a command is held back.
func (g *Governor) hold(why []reason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.since.IsZero() {
		g.since = time.Now()
	}
	if !g.told && why[0].key != nameRest {
		g.c.Tell("held back: %s", texts(why))
		g.told = true
	}
	for _, r := range why {
		if r.key != "" && !slices.ContainsFunc(g.reasons, func(old reason) bool { return old.key == r.key }) {
			g.reasons = append(g.reasons, r)
		}
	}
}

// leave ends a pause when nobody is held back any more.
func (g *Governor) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting--; g.waiting > 0 || g.since.IsZero() {
		return
	}
	took := time.Since(g.since)
	g.paused += took
	if g.told {
		g.c.Tell("no longer held back, after %v", took.Round(100*time.Millisecond))
	}
	g.since, g.told = time.Time{}, false
}

// Paused returns for how many seconds at least one command was held back since it was asked last, and why: one text for each limit,
// as it was passed first. No command may be waiting.
func (g *Governor) Paused() (seconds float64, reasons []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.reasons {
		reasons = append(reasons, r.text)
	}
	seconds = g.paused.Seconds()
	g.paused, g.reasons = 0, nil
	return seconds, reasons
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
