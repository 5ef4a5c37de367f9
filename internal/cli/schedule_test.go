package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"mrbench/internal/bench"
)

func TestCommandsLosePasswords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"sync": "sync",
		"mongosh mongodb://u:se:cr@et@h/db --eval x":                      "mongosh mongodb://u:***@h/db --eval x",
		"curl https://a:b@h/; mongosh 'mongodb+srv://u:p%40@h' me@host:1": "curl https://a:***@h/; mongosh 'mongodb+srv://u:***@h' me@host:1",
	} {
		if got := withoutPasswords(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		o := scheduleOptions{prepare: in, shuffle: shuffleAuto}
		options := map[string]any{"prepare": in, "shuffle-seed": "auto"}
		s := o.schedule()
		o.record(options, s)
		if s.Prepare != want || options["prepare"] != want || options["shuffle-seed"] == "auto" {
			t.Errorf("recorded: %+v %v", s, options)
		}
	}
}

// A command that is waited for does not hold up an interrupt.
func TestPrepareIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := &interruptError{}
	o := scheduleOptions{prepare: "exec sleep 600"}
	go func() {
		time.Sleep(50 * time.Millisecond)
		cancel(why)
	}()
	_, err := bench.Rounds(ctx, bench.Plan{
		Jobs: []bench.Job{{ID: "a", Run: func(context.Context, bench.Turn) (bench.Sample, error) {
			t.Error("it was run")
			return bench.Sample{}, nil
		}}},
		Before: func(ctx context.Context, turn bench.Turn) error { return o.before(ctx, &app{}, turn) },
	})
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
}

// docs/result-format.md names every field that compare prints.
func TestComparisonIsDocumented(t *testing.T) {
	t.Parallel()
	limit := 0.0
	c := compared(before(), after(), elsewhere())
	_ = c.verdict(&limit)
	documented(t, "\n## Comparisons\n", c, c.Results[0], c.Sets[0], c.Sets[0].Rows[0], comparedSide{Why: "x"})
}
