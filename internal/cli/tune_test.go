package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"

	"mrbench/internal/target"
	"mrbench/mr"
	"mrbench/splitter"
)

// An interrupt prints what is known, drops the outputs and ends with 130, in the rounds on parts and in the last runs.
func TestInterruptedTune(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"mr-ranges ", "agg 1/1"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			if code, _, stderr := s.run("seed", "--docs", "3000"); code != 0 {
				t.Fatal(stderr)
			}
			signals := make(chan os.Signal, 1)
			stderr := &watcher{text: text, seen: func() { signals <- syscall.SIGINT }}
			var out bytes.Buffer
			env := s.environ([]string{"tune", "--budget", "10m", "--max-threads", "2", "--rows", "mr,mr-ranges,agg"}, &out, nil)
			env.Stderr, env.Signals, env.ReleaseSignals = stderr, signals, func() {}
			if code := Run(t.Context(), env); code != exitInterrupted {
				t.Errorf("exit code %d\n%s", code, stderr)
			}
			if !strings.Contains(out.String(), "combinations of test.uniques") || !strings.HasSuffix(stderr.String(), "mrbench: interrupted\n") {
				t.Errorf("%s\n%s", out.String(), stderr)
			}
			if _, out, _ := s.run("clean", "--dry-run"); !strings.Contains(out, "nothing of mrbench's is left") {
				t.Errorf("left behind: %s", out)
			}
		})
	}
}

// Whole ranges cover everything in order; shortened ones begin where the whole ones do, end no later, and hold about their share.
func TestTuneParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 80).Draw(t, "sizes")
		n := rapid.IntRange(1, len(sizes)).Draw(t, "n")
		share := rapid.Float64Range(0.01, 1).Draw(t, "share")
		var p tuneParts
		for i, size := range sizes {
			r := splitter.Range{Key: "f"}
			if i > 0 {
				r.Lo = bsonInt(int32(i))
			}
			if i < len(sizes)-1 {
				r.Hi = bsonInt(int32(i + 1))
			}
			p.pieces = append(p.pieces, splitter.Piece{Range: r, Documents: size})
			p.documents += size
		}
		whole, all := p.ranges(n, 1)
		if all != p.documents || len(whole) != n || whole[0].Lo.Type != 0 || whole[n-1].Hi.Type != 0 {
			t.Fatalf("%d ranges hold %d of %d: %v", len(whole), all, p.documents, whole)
		}
		short, some := p.ranges(n, share)
		if some > all || len(short) != n {
			t.Fatalf("%d of %d in %d ranges", some, all, len(short))
		}
		// A range is a piece too long or too short at most.
		if d := float64(some) - share*float64(all); d > 1000*float64(n) || d < -1000*float64(n) {
			t.Fatalf("%d documents are no %v of %d", some, share, all)
		}
		for i := range short {
			if splitter.Compare(short[i].Lo, whole[i].Lo) != 0 {
				t.Fatalf("range %d begins at %s, not at %s", i, short[i].From(), whole[i].From())
			}
			if h := whole[i].Hi; h.Type != 0 && (short[i].Hi.Type == 0 || splitter.Compare(short[i].Hi, h) > 0) {
				t.Fatalf("range %d ends at %s, after %s", i, short[i].To(), whole[i].To())
			}
			if i > 0 && splitter.Compare(whole[i-1].Hi, whole[i].Lo) != 0 {
				t.Fatalf("%s does not follow %s", whole[i], whole[i-1])
			}
		}
	})
}

func bsonInt(n int32) bson.RawValue {
	kind, data, err := bson.MarshalValue(n)
	if err != nil {
		panic(err) // an int32 can always be encoded
	}
	return bson.RawValue{Type: kind, Value: data}
}

// Options without effect are left out with the server's own reason, and each combination knows what it is the same as without one.
func TestTuneCandidates(t *testing.T) {
	t.Parallel()
	names := func(vs []variant) (ids []string) {
		for _, v := range vs {
			ids = append(ids, v.id)
		}
		return ids
	}
	effect := func(state target.State, caps ...string) (list []target.Capability) {
		for _, c := range caps {
			list = append(list, target.Capability{Name: c, State: state, Reason: "because"})
		}
		return list
	}
	own := &runJob{name: "x.js", mr: mr.Job{EmitKey: "other"}, pipeline: []bson.D{{{Key: "$group", Value: bson.D{}}}}, notDisjoint: "not disjoint"}
	for _, c := range []struct {
		name string
		caps []target.Capability
		job  *runJob
		want string
	}{
		{"all", nil, uniqueCount("f"), "mr mr-sort mr-ranges mr-ranges-dbs mr-ranges-dbs-js agg agg-ranges agg-covered agg-covered-ranges mr-js mr-sort-js mr-ranges-js"},
		{"no JavaScript", effect(target.Refused, target.CapMapReduce), uniqueCount("f"), "agg agg-ranges agg-covered agg-covered-ranges"},
		{"may not write", effect(target.Refused, target.CapOutput), uniqueCount("f"), "agg agg-ranges agg-covered agg-covered-ranges"},
		{"newer", effect(target.NoEffect, target.CapJSMode, target.CapSort, target.CapDatabases), uniqueCount("f"), "mr mr-ranges agg agg-ranges agg-covered agg-covered-ranges"},
		{"own job", nil, own, "mr mr-sort mr-ranges mr-ranges-dbs agg"},
	} {
		usable, skipped := usableVariants(tuneVariants(), c.caps, c.job, "f")
		if d := cmp.Diff(c.want, strings.Join(names(usable), " ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if len(usable)+len(skipped) != len(tuneVariants()) {
			t.Errorf("%s: %d usable, %d skipped", c.name, len(usable), len(skipped))
		}
		for _, k := range skipped {
			if c.caps != nil && !strings.HasSuffix(k.Reason, "because") {
				t.Errorf("%s: %+v", c.name, k)
			}
		}
	}
	list, skipped := candidates(tuneVariants(), 4, 8)
	if len(skipped) != 1 || skipped[0].What != "up to 16 ranges" {
		t.Errorf("%+v", skipped)
	}
	seen := map[string]bool{}
	known := searched(list)
	for i, c := range list {
		if seen[c.text()] || c.ranges > 8 || c.threads > 4 || c.variant.ranges != (c.ranges > 1) {
			t.Errorf("%s", c.text())
		}
		seen[c.text()] = true
		if _, has := known[i].Options["jsMode"]; has != c.js {
			t.Errorf("%s: options %v", c.text(), known[i].Options)
		}
		for option, base := range known[i].Options {
			if b := list[base]; b.threads != c.threads || b.ranges != c.ranges || b.aggregate != c.aggregate || b.name() == c.name() {
				t.Errorf("%s without %s is %s", c.text(), option, b.text())
			}
		}
	}
	if got := fmt.Sprint(threadCounts(1), threadCounts(6), threadCounts(8)); got != "[1] [1 2 4 6] [1 2 4 8]" {
		t.Error(got)
	}
}

// The command of each combination is one that run takes, and it names that very variant.
func TestTuneCommands(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	env := s.environ(nil, &bytes.Buffer{}, &bytes.Buffer{})
	list, _ := candidates(tuneVariants(), 2, 8)
	for _, c := range list {
		u := &tuning{app: &app{env: env}}
		u.o.strategy = splitter.Auto
		u.app.common.ns, u.app.common.key = target.Namespace{DB: "test", Coll: "uniques"}, "dim0"
		words := strings.Fields(u.command(c))
		a := &app{env: env, v: newViper()}
		run, rest, err := a.newRoot().Find(words[1:])
		if err != nil {
			t.Fatal(err)
		}
		if err := run.ParseFlags(rest); err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		o := runOptions{}
		f := run.Flags()
		for name, p := range map[string]*bool{"jsmode": &o.jsmode, "sort": &o.sort, "no-sort": &o.noSort} {
			if *p, err = f.GetBool(name); err != nil {
				t.Fatal(err)
			}
		}
		o.layout = f.Lookup("layout").Value.String()
		if _, err := fmt.Sscan(f.Lookup("threads").Value.String(), &o.threads); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(f.Lookup("ranges").Value.String(), &o.ranges); err != nil {
			t.Fatal(err)
		}
		if rows := f.Lookup("rows").Value.String(); rows != "" {
			o.rows = strings.Split(rows, ",")
		}
		got := o.variants()[0]
		if got.name() != c.name() || c.variant.ranges && (o.threads != c.threads || o.rangeCount() != c.ranges) {
			t.Errorf("%s: %v runs %s with %d threads, %d ranges", c.text(), words, got.name(), o.threads, o.rangeCount())
		}
	}
}

func TestShareAndBudgetText(t *testing.T) {
	t.Parallel()
	for share, want := range map[float64]string{1: "all", 0.5: "1/2", 1.0 / 64: "1/64", 0.8: "80%", 0: "-"} {
		if got := shortShare(share); got != want {
			t.Errorf("%v is %s, want %s", share, got, want)
		}
	}
	for budget, want := range map[time.Duration]string{
		5 * time.Minute: "5m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h", 1500 * time.Millisecond: "1.5s", 10 * time.Minute: "10m",
	} {
		if got := budgetText(budget); got != want {
			t.Errorf("%v is %s, want %s", budget, got, want)
		}
	}
}
