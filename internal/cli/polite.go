package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/polite"
	"mrbench/internal/target"
)

// politeOptions are the flags that keep work from disturbing others.
type politeOptions struct {
	maxLoad  string
	nice     bool
	maxPause time.Duration
}

// politeFlags are the names of those flags.
const politeFlags = "max-load nice max-pause"

// flags adds them; what says what is held back.
func (o *politeOptions) flags(c *cobra.Command, what string) {
	f := c.Flags()
	f.Var(&value[string]{&o.maxLoad, "list", func(s string) (string, error) {
		_, err := polite.Limits{}.With(s)
		return s, err
	}, same}, "max-load", "hold "+what+" back while the server is above these limits: default, or a `list` such as lag=10s,queue=20,cache-dirty=15%,threads=2")
	completeLimits(c, "max-load")
	f.BoolVar(&o.nice, "nice", false, "be gentle: half of the threads, low limits, and a rest after each of them; --max-load overrides single ones")
	o.maxPause = polite.DefaultMaxPause
	durationFlag(c, &o.maxPause, "max-pause", "how long to hold one back before that is a failure")
}

// completeLimits offers the limits that are not in the list yet, each with the = that its value follows.
func completeLimits(c *cobra.Command, name string) {
	_ = c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		done, _ := beforeLast(typed, ",")
		var offers []string
		before := ""
		if done != "" {
			before = done + ","
		} else {
			offers = append(offers, "default")
		}
		for _, l := range polite.Names() {
			if !strings.Contains(","+before, ","+l+"=") {
				offers = append(offers, before+l+"=")
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// limits are what the flags ask for, for so many threads.
func (o politeOptions) limits(threads int) polite.Limits {
	var l polite.Limits
	if o.nice {
		l = polite.Nice(threads)
	}
	if o.maxLoad != "" {
		l, _ = l.With(o.maxLoad) // it was read before
	}
	return l
}

// cap lowers the number of threads to the limit, and says so.
func (o politeOptions) cap(a *app, threads *int, what string) {
	if n := o.limits(*threads).Threads; n > 0 && n < *threads {
		a.tell("%s instead of %d, for the sake of others (%s)", plural(n, what), *threads, o.text())
		*threads = n
	}
}

// text is how the flags were given.
func (o politeOptions) text() string {
	var words []string
	if o.nice {
		words = append(words, "--nice")
	}
	if o.maxLoad != "" {
		words = append(words, "--max-load "+o.maxLoad)
	}
	return strings.Join(words, " ")
}

// govern opens a governor of the flags' limits; nil when there are none. end closes its connections.
func (o politeOptions) govern(ctx context.Context, a *app, t *target.Target, threads int) (g *polite.Governor, end func(), err error) {
	l := o.limits(threads)
	l.Threads = 0 // it is kept already
	if !l.Watches() && l.Rest == 0 {
		return nil, func() {}, nil
	}
	client, err := t.Observer(ctx)
	if err != nil {
		return nil, nil, err
	}
	disconnect := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		_ = client.Disconnect(ctx) // nothing depends on it any more
	}
	c := polite.Config{Client: client, Limits: l, MaxPause: o.maxPause, Tell: a.tell, Dial: dialShard(t), Reason: target.Reason}
	if c.Shards, err = shardsToWatch(ctx, t, l); err == nil {
		g, err = polite.Open(ctx, c)
	}
	if err != nil {
		disconnect()
		return nil, nil, err
	}
	a.tell("limits: %s", l)
	if watched := g.Watched(); len(watched) > 0 {
		a.tell("asked for their load by connections of their own: %s", polite.ShardsText(watched))
	}
	for _, n := range g.Unwatched() {
		a.tell("not watched: %s", n)
	}
	return g, func() { g.Close(); disconnect() }, nil
}

// gate is what the libraries ask before each range's command; nil without limits.
func gate(g *polite.Governor) func(ctx context.Context, shard string) (func(), error) {
	if g == nil {
		return nil
	}
	return g.Gate
}

// loadGate is what a load asks before each batch, which may be for any shard; nil without limits.
func loadGate(g *polite.Governor) func(context.Context) (func(), error) {
	if g == nil {
		return nil
	}
	return func(ctx context.Context) (func(), error) { return g.Gate(ctx, "") }
}

// pausedIn moves the pauses since the last time into a sample.
func pausedIn(s *bench.Sample, g *polite.Governor) {
	if g != nil {
		s.PausedSeconds, s.PausedFor = g.Paused()
	}
}

// planLimits adds what is asked while work goes on to a dry run.
func (o politeOptions) planLimits(ctx context.Context, d *dryRun, t *target.Target, threads int, what string) error {
	l := o.limits(threads)
	l.Threads = 0
	if l.Rest > 0 {
		d.line("// a rest of %v before each %s that follows another", l.Rest, what)
	}
	if !l.Watches() {
		return nil
	}
	shards, err := shardsToWatch(ctx, t, l)
	if err != nil {
		return err
	}
	d.line("// before a %s is sent, once a second at most, for the limits %s:", what, l)
	for _, cmd := range l.Commands(t.Topology == "sharded", strings.HasPrefix(t.Topology, "replica set")) {
		d.command("admin", cmd, false, "")
	}
	planShards(d, shards, l)
	return nil
}

// findText is how an administrator finds and stops what this process runs.
func findText(appName string) string {
	return fmt.Sprintf("find its operations on the server: db.currentOp({appName: %q}), and stop one: db.killOp(opid)", appName)
}
