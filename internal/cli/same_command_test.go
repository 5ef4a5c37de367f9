package cli

import (
	"slices"
	"strings"
	"testing"

	"mrbench/internal/mimic"
)

// The command that goes on is this one, wherever the flags that all commands have stand.
func TestSameCommand(t *testing.T) {
	for want, args := range map[string][]string{
		"mrbench seed --append --docs 5":                                 {"seed", "--docs", "5", "--drop"},
		"mrbench --mongod /bin/mongod seed --append --docs 5":            {"--mongod", "/bin/mongod", "seed", "--drop", "--docs", "5"},
		"mrbench --ns a.b run --append --docs 5":                         {"--ns", "a.b", "run", "--docs", "5", "--shard-key", "x"},
		"mrbench --uri 'mongodb://u:***@h/' seed --append --from a.bson": {"--uri", "mongodb://u:p@h/", "seed", "--from", "a.bson"},
	} {
		a := &app{env: Env{Args: args}, name: "seed"}
		if slices.Contains(args, "run") {
			a.name = "run"
		}
		if got := a.sameCommand([]string{"drop", "shard-key"}, "--append"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A run whose collection could not be filled names the command that fills it, which is not the run's own.
func TestRunFilledInPart(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{})
	m.Inject(mimic.Fault{Command: "insert", Nth: 3, Code: 8, Times: 100})
	code, _, stderr := newSession(t).run("--uri", m.URI(), "run", "--docs", "20000", "--ns", "shop.orders")
	want := "shop.orders is filled in part, with 2,000 documents; fill it anew with:\n  mrbench seed --drop --docs 20000 --ns shop.orders --uri " + m.URI()
	if code != exitFailed || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
