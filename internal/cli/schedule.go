package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
)

// scheduleOptions are the flags that say how often, in which order and after what rows are run.
type scheduleOptions struct {
	runs    int
	warmup  int
	shuffle string
	budget  time.Duration
	pause   time.Duration
	prepare string
}

// Words of --shuffle-seed beside numbers.
const (
	shuffleAuto = "auto"
	shuffleOff  = "off"
)

func (o *scheduleOptions) flags(c *cobra.Command) {
	intFlag(c, &o.runs, "runs", 1, 1, 10_000, "how often each row is measured at least; 6 or more give a confidence interval")
	intFlag(c, &o.warmup, "warmup", 0, 0, 1000, "rounds before, which do not count")
	durationFlag(c, &o.budget, "time-budget", "add rounds to --runs while another one fits in this time")
	durationFlag(c, &o.pause, "pause", "wait this long before each run")
	c.Flags().StringVar(&o.prepare, "prepare", "", "shell `command` before each run; $MRBENCH_TURN_ROW, _ROUND, _ORDER and _WARMUP tell it which")
	o.shuffle = shuffleAuto
	c.Flags().Var(&value[string]{&o.shuffle, "seed", parseShuffle, same}, "shuffle-seed", "of the rows' order within a round: a number, auto, or off for the order listed")
	complete(c, "shuffle-seed", []string{shuffleAuto, shuffleOff})
}

func parseShuffle(s string) (string, error) {
	if s != shuffleAuto && s != shuffleOff {
		if _, err := strconv.ParseUint(s, 10, 64); err != nil {
			return "", fmt.Errorf("it is a whole number, %s or %s", shuffleAuto, shuffleOff)
		}
	}
	return s, nil
}

// durationFlag is a time of zero or more.
func durationFlag(c *cobra.Command, p *time.Duration, name, usage string) {
	c.Flags().Var(&value[time.Duration]{p, "duration", func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return 0, errors.New("it is a time such as 5s or 1m30s")
		}
		return d, nil
	}, func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}}, name, usage)
}

// schedule is what is recorded; a seed is drawn when none was given.
func (o scheduleOptions) schedule() *bench.Schedule {
	s := &bench.Schedule{Runs: o.runs, Warmup: o.warmup, BudgetSeconds: o.budget.Seconds(), PauseSeconds: o.pause.Seconds(), Prepare: withoutPasswords(o.prepare)}
	switch o.shuffle {
	case shuffleOff:
	case shuffleAuto, "":
		seed := uint64(rand.Uint32()) // short enough to be typed
		s.Shuffle = &seed
	default:
		if seed, err := strconv.ParseUint(o.shuffle, 10, 64); err == nil {
			s.Shuffle = &seed
		}
	}
	return s
}

// record puts into the options what they do not say as flags: the seed that was drawn. A command loses its passwords.
func (o scheduleOptions) record(options map[string]any, s *bench.Schedule) {
	if options == nil {
		return
	}
	if s.Shuffle != nil {
		options["shuffle-seed"] = strconv.FormatUint(*s.Shuffle, 10)
	}
	if s.Prepare != "" {
		options["prepare"] = s.Prepare
	}
}

// before waits and runs the command that was asked for.
func (o scheduleOptions) before(ctx context.Context, a *app, t bench.Turn) error {
	if o.pause > 0 {
		select {
		case <-time.After(o.pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if o.prepare == "" {
		return nil
	}
	out, err := shell(ctx, a.env.Dir, o.prepare,
		"MRBENCH_TURN_ROW="+t.Row, "MRBENCH_TURN_ROUND="+strconv.Itoa(t.Round), "MRBENCH_TURN_ORDER="+strconv.Itoa(t.Order),
		"MRBENCH_TURN_WARMUP="+strconv.FormatBool(t.Warmup))
	if err != nil {
		what := fmt.Sprintf("run %d of %s", t.Round, t.Row)
		if t.Warmup {
			what = "a warm-up of " + t.Row
		}
		return fmt.Errorf("--prepare %q failed before %s: %w: %s", withoutPasswords(o.prepare), what, err, lastLines(out, 5))
	}
	return nil
}

// password finds the password of a connection string within a command.
var password = regexp.MustCompile(`(\w://[^\s:/@]+:)[^\s'"]+(@)`)

// withoutPasswords is a command as it is saved and shown.
func withoutPasswords(command string) string { return password.ReplaceAllString(command, "$1***$2") }

// waitForPipes is how long output is waited for after a command was ended whose children live on.
const waitForPipes = 2 * time.Second

// shell runs a command line as the system's shell does and returns what it wrote.
func shell(ctx context.Context, dir, line string, env ...string) (string, error) {
	name, flag := "/bin/sh", "-c"
	if runtime.GOOS == "windows" {
		name, flag = "cmd", "/C"
	}
	c := exec.CommandContext(ctx, name, flag, line)
	var out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = dir, &out, &out, waitForPipes
	c.Env = append(c.Environ(), env...)
	err := c.Run()
	return out.String(), err
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if s = strings.TrimSpace(s); s == "" {
		return "it wrote nothing"
	}
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}
