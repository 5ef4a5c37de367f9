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
	// Shards are the names and hosts of those behind a router, which are asked too. Empty: what the router tells of them.
	Shards []Shard
	// Dial makes a client of one shard, without a login when login is false; Close ends it. It is needed for Shards.
	Dial func(ctx context.Context, s Shard, login bool) (*mongo.Client, error)
	// Reason is the shortest text that says why a server does not answer; nil: the error's.
	Reason func(error) string
	// Every is the least time between two looks; 0 is DefaultEvery.
	Every time.Duration
	// MaxPause is how long one command is held back before that is an error; 0 is DefaultMaxPause.
	MaxPause time.Duration
	// Tell gets a line when work is held back and when it goes on. May be nil.
	Tell func(format string, args ...any)
}

// Governor holds commands back while a server is busy. It may be asked from several goroutines.
type Governor struct {
	c     Config
	all   []*watcher // of the server or router first, then of shards
	notes []string   // what is not watched
	eye   chan struct{}

	// Of who has the eye's one place.
	why  map[string][]reason // by what the last look saw of the server, "", and of shards
	held map[string]*held
	at   time.Time // of the last look

	mu      sync.Mutex
	lanes   map[string]*lane
	since   time.Time // of the pause that goes on; zero: none
	ended   time.Time // when the last command ended
	paused  time.Duration
	reasons []reason
}

// reason is why commands are held back.
type reason struct {
	key   string // of which one is kept; "" none
	shard string // that it is about
	text  string
}

// mostReasons is how many are named at a time.
const mostReasons = 6

// texts are reasons for a person, who knows already that they are about a shard.
func texts(list []reason, shard string) string {
	var all []string
	for i, r := range list {
		if i == mostReasons {
			all = append(all, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		if r.shard != "" && r.shard != shard {
			r.text = r.full()
		}
		all = append(all, r.text)
	}
	return strings.Join(all, ", ")
}

// full is the reason with the shard that it is about.
func (r reason) full() string {
	if r.shard == "" {
		return r.text
	}
	return "shard " + r.shard + ": " + r.text
}

// BusyError says that a command was held back for too long.
type BusyError struct {
	Waited time.Duration
	Why    string
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the server was too busy for %v: %s", e.Waited.Round(time.Second), e.Why)
}

// Open looks at the server and its shards once, to find out what can be watched. A refused question is not an error, nor is a shard
// that can't be reached. Close the governor after use.
func Open(ctx context.Context, c Config) (*Governor, error) {
	return open(ctx, c, asking(c.Client), func(ctx context.Context, s Shard, login bool) (ask, func(), error) {
		client, err := c.Dial(ctx, s, login)
		if err != nil {
			return nil, nil, err
		}
		return asking(client), func() { disconnect(ctx, client) }, nil
	})
}

// asking sends commands to the database admin.
func asking(client *mongo.Client) ask {
	return func(ctx context.Context, cmd bson.D) (bson.Raw, error) {
		return client.Database("admin").RunCommand(ctx, cmd).Raw()
	}
}

// disconnect says goodbye, also when ctx has ended.
func disconnect(ctx context.Context, client *mongo.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	_ = client.Disconnect(ctx) // nothing depends on it any more
}

func open(ctx context.Context, c Config, server ask, dial dial) (*Governor, error) {
	if c.Every <= 0 {
		c.Every = DefaultEvery
	}
	if c.MaxPause <= 0 {
		c.MaxPause = DefaultMaxPause
	}
	if c.Tell == nil {
		c.Tell = func(string, ...any) {}
	}
	if c.Reason == nil {
		c.Reason = error.Error
	}
	if c.Limits.RouterOnly || !c.Limits.Watches() {
		c.Shards = nil
	}
	g := &Governor{
		c: c, eye: make(chan struct{}, 1), why: map[string][]reason{}, held: map[string]*held{}, lanes: map[string]*lane{},
		all: openShards(ctx, c, dial),
	}
	w := &watcher{ask: server, want: c.Limits.besides(g.all)}
	switch {
	case c.Limits.RouterOnly:
		w.alone = " (" + nameShards + "=" + wordOff + ")"
	case len(c.Shards) == 0:
		w.alone = ": the router does not list them (the role clusterMonitor would help)"
	}
	if err := w.open(ctx); err != nil {
		g.Close()
		return nil, fmt.Errorf("look at the server's load: %w", err)
	}
	for _, n := range w.notes {
		if len(c.Shards) > 0 {
			n = "the router: " + n
		}
		g.notes = append(g.notes, n)
	}
	g.notes = append(g.notes, shardNotes(g.all)...)
	g.all = append([]*watcher{w}, g.all...)
	first := readings{}
	for _, w := range g.all {
		first.add(w.first)
	}
	g.seen(first)
	g.at = time.Now()
	return g, nil
}

// Close ends the connections to shards. No command may be waiting.
func (g *Governor) Close() {
	var all sync.WaitGroup
	for _, w := range g.all {
		all.Go(w.close)
	}
	all.Wait()
}

// Unwatched says which limits can't be watched on this server or on which shards, and why.
func (g *Governor) Unwatched() []string { return slices.Clone(g.notes) }

// Watched are the shards that are asked themselves.
func (g *Governor) Watched() []string { return watched(g.all) }

// Gate lets a command be sent, as soon as the server is not too busy: no shard for shard "", else the one that the command is for. done is
// to be called when the command has ended. Errors: ctx's, and *BusyError after Config.MaxPause.
func (g *Governor) Gate(ctx context.Context, shard string) (done func(), err error) {
	l, rest := g.enter(shard)
	defer g.leave(l)
	if rest > 0 {
		g.hold(l, []reason{{key: nameRest, text: "rests between commands"}})
		if err := sleep(ctx, rest); err != nil {
			return nil, err
		}
	}
	if err := g.wait(ctx, l); err != nil {
		return nil, err
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.ended = time.Now()
	}, nil
}

// Paused returns for how many seconds at least one command was held back since it was asked last, and why: one text for each limit,
// as it was passed first. No command may be waiting.
func (g *Governor) Paused() (seconds float64, reasons []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.reasons {
		reasons = append(reasons, r.full())
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
