package cli

import (
	"slices"
	"strings"
	"testing"

	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// Every command says which right is missing before it writes anything, and works with the least there are.
func TestLeastRights(t *testing.T) {
	t.Parallel()
	job := absPath(t, "../../testdata/jobs/sum-by-group.js")
	out := []string{"--out-db", "reports"}
	commands := map[string][]string{
		"run":       append([]string{"run", "--rows", "mr,agg", "--sample-every", "0"}, out...),
		"run-index": append([]string{"run", "--rows", "mr,agg", "--create-index", "--sample-every", "0"}, out...),
		"split":     {"split", "--ranges", "3"},
		"seed":      {"seed", "--docs", "50", "--ns", "reports.fresh"},
		"seed-src":  {"seed", "--docs", "50", "--ns", "test.fresh"},
		"tune":      append([]string{"tune", "--budget", "200ms", "--max-threads", "1", "--rows", "mr,agg"}, out...),
		"translate": append([]string{"translate", job, "--prove", "sample", "--ns", "test.uniques"}, out...),
		"clean":     append([]string{"clean"}, out...),
		"doctor":    {"doctor"},
	}
	for _, c := range []struct {
		user    string
		roles   []string
		command string
		code    int
		says    string // "" nothing is missing
	}{
		{"none", nil, "run", 1, "user none@admin lacks find on test.uniques: grant the role read on test"},
		{"none", nil, "tune", 1, "lacks find on test.uniques"},
		{"none", nil, "translate", 1, "lacks find on test.uniques"},
		{"none", nil, "seed", 1, "user none@admin lacks"},
		{"none", nil, "split", 1, "lacks"},
		{"none", nil, "doctor", 0, "may not read test.uniques"},
		{"reader", []string{"read@test"}, "split", 0, ""},
		{"reader", []string{"read@test"}, "run", 0, "user reader@admin lacks find, insert, remove, dropCollection on database reports: grant the role readWrite on it"},
		{"reader", []string{"read@test"}, "translate", 1, "the proof runs the job: user reader@admin lacks"},
		{"reader", []string{"read@test"}, "run-index", 1, "user reader@admin lacks createIndex on test.uniques: grant the role readWrite on test"},
		{"reader", []string{"read@test"}, "seed-src", 1, "user reader@admin lacks insert, createCollection, createIndex on test.fresh: grant the role readWrite on test"},
		{"writer", []string{"read@test", "readWrite@reports"}, "run", 0, ""},
		{"writer", []string{"read@test", "readWrite@reports"}, "tune", 0, ""},
		{"writer", []string{"read@test", "readWrite@reports"}, "seed", 0, ""},
		{"writer", []string{"read@test", "readWrite@reports"}, "clean", 0, ""},
		{"writer", []string{"read@test", "readWrite@reports"}, "split", 0, ""},
		{"watcher", []string{"read@test", "readWrite@reports", "clusterMonitor@admin"}, "run", 0, ""},
		{"watcher", []string{"clusterMonitor@admin"}, "run", 1, "lacks find on test.uniques"},
	} {
		t.Run(c.user+" "+c.command, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Version: "4.0.3", Auth: true})
			uniques(t, m, 200)
			m.User(t, c.user, c.roles...)
			s := newSession(t)
			code, stdout, stderr := s.run(append(slices.Clone(commands[c.command]), "--uri", m.URIOf(c.user, "secret"))...)
			said := strings.Join(strings.Fields(stdout+" "+stderr), " ")
			if code != c.code || !strings.Contains(said, c.says) {
				t.Errorf("exit code %d, no %q in %s", code, c.says, said)
			}
			if c.says == "" && (strings.Contains(said, " lacks ") || strings.Contains(said, "not authorized on test")) {
				t.Errorf("something is missing: %s", said)
			}
			if c.code != 0 && slices.ContainsFunc(m.Commands(), writesSomething) {
				t.Error("something was written before the missing right was named")
			}
		})
	}
}

func writesSomething(c mongofake.Command) bool {
	return slices.Contains([]string{"insert", "update", "delete", "create", "createIndexes", "drop", "dropDatabase", "mapReduce"}, c.Name)
}

// A refusal of a server that does not tell what its user may do is explained in the same way.
func TestRefusalOnTheWay(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Version: "4.0.3", Auth: true})
	uniques(t, m, 200)
	m.User(t, "ann", "read@test")
	m.Inject(mimic.Fault{Command: "connectionStatus", Code: 59, Times: 10})
	s := newSession(t)
	code, _, stderr := s.run("seed", "--docs", "50", "--ns", "test.fresh", "--uri", m.URIOf("ann", "secret"))
	if code != exitFailed || !strings.Contains(stderr, "user ann@admin lacks createCollection on database test: grant the role readWrite on test") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
