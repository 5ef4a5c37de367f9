package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
)

func collections(t *testing.T, m *mimic.Server, db string) []string {
	t.Helper()
	names, err := m.Inside().Database(db).ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// A user who may read the source and write to one database runs everything there, and leaves what was in it alone.
func TestOutDBWithLeastRights(t *testing.T) {
	t.Parallel()
	for _, c := range []mimic.Config{
		{Version: "4.0.3", Auth: true}, {Version: "5.0.3", Auth: true}, {Version: "3.6.23", Auth: true, Topology: mimic.ReplicaSet},
	} {
		t.Run(c.Version, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c)
			uniques(t, m, 500)
			if _, err := m.Inside().Database("reports").Collection("monthly").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
				t.Fatal(err)
			}
			m.User(t, "ann", "read@test", "readWrite@reports")
			r, code, stderr := ladderOn(t, m.URIOf("ann", "secret"), "--out-db", "reports")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			for _, row := range r.Rows {
				if row.Answer == nil || row.Answer.Keys != 20 {
					t.Errorf("%s: answer %+v, skipped %q, error %q", row.ID, row.Answer, row.Skipped, row.Error)
				}
				if row.OutputDBs > 1 || row.ID == "mr-ranges-dbs" && (row.NoEffect == nil || strings.Contains(row.Label, "dbs")) {
					t.Errorf("%s, %s: %d databases, %+v", row.ID, row.Label, row.OutputDBs, row.NoEffect)
				}
			}
			if got := collections(t, m, "reports"); !slices.Equal(got, []string{"monthly"}) {
				t.Errorf("left in reports: %v", got)
			}
			if names, err := m.Inside().ListDatabaseNames(t.Context(), bson.D{}); err != nil || !slices.Equal(names, []string{"admin", "reports", "test"}) {
				t.Errorf("databases %v, %v", names, err)
			}
		})
	}
}

// Kept outputs lie in collections with the run's name, and clean drops exactly those.
func TestCleanOutDB(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Auth: true})
	uniques(t, m, 500)
	reports := m.Inside().Database("reports")
	const strange = "mrbench_20260102t030405678abcd_1_answer" // looks like an output, and nobody recorded or marked it
	for _, name := range []string{"monthly", "mrbench_notes", strange} {
		if _, err := reports.Collection(name).InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	m.User(t, "ann", "read@test", "readWrite@reports")
	uri := m.URIOf("ann", "secret")
	s := newSession(t)
	code, _, stderr := s.run("run", "--uri", uri, "--rows", "mr,mr-ranges,agg", "--threads", "2", "--out-db", "reports", "--keep")
	if code != 0 || !strings.Contains(stderr, "output collections of reports are kept") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	kept := collections(t, m, "reports")
	if len(kept) < 6 || !slices.ContainsFunc(kept, func(n string) bool { return strings.HasSuffix(n, "_2_answer") }) {
		t.Errorf("kept: %v", kept)
	}
	if code, out, stderr := s.run("clean", "--uri", uri, "--dry-run"); code != 0 || !strings.Contains(out, "would be dropped") || len(collections(t, m, "reports")) != len(kept) {
		t.Errorf("clean --dry-run: %d %s %s", code, out, stderr)
	}
	// Another person's session finds them by their mark.
	other := newSession(t)
	if _, out, _ := other.run("clean", "--uri", uri, "--dry-run", "--out-db", "reports"); !strings.Contains(out, "_2_answer") {
		t.Errorf("clean --out-db: %s", out)
	}
	code, out, stderr := s.run("clean", "--uri", uri)
	if code != 0 || !strings.Contains(out, "no mark of mrbench in it, and not recorded") {
		t.Errorf("clean: %d %s %s", code, out, stderr)
	}
	if got := collections(t, m, "reports"); !slices.Equal(got, []string{"monthly", strange, "mrbench_notes"}) {
		t.Errorf("left in reports: %v", got)
	}
}

// What a user may not do is named: the action, and where. What needs no such right runs all the same.
func TestMissingRightsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		roles []string
		quiet bool // the server does not say what the user may do
		outDB string
		code  int
		said  string
		runs  bool // the pipelines do
	}{
		{"no database of one's own", []string{"read@test"}, false, "", 0, "user ann@admin lacks find, insert, remove, dropDatabase on databases of the run's own", true},
		{"no dropDatabase", []string{"read@test", "readWriteAnyDatabase@admin"}, false, "", 0, "user ann@admin lacks dropDatabase on databases of the run's own", true},
		{"not there", []string{"read@test", "read@reports"}, false, "reports", 0, "user ann@admin lacks insert, remove, dropCollection on database reports: grant the role readWrite on it", true},
		{"found out on the way", []string{"read@test", "read@reports"}, true, "reports", 0, "the user lacks insert on database reports", true},
		{"no source", []string{"readWrite@reports"}, false, "reports", 1, "user ann@admin lacks find on test.uniques: grant the role read on test", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Auth: true})
			uniques(t, m, 300)
			m.User(t, "ann", c.roles...)
			if c.quiet {
				m.Inject(mimic.Fault{Command: "connectionStatus", Code: 59, Times: 10})
			}
			var more []string
			if c.outDB != "" {
				more = []string{"--out-db", c.outDB}
			}
			r, code, stderr := ladderOn(t, m.URIOf("ann", "secret"), more...)
			if code != c.code {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			said := stderr
			for _, row := range r.Rows {
				said += row.Skipped + "\n"
				if isAgg := strings.HasPrefix(row.ID, "agg"); isAgg != (row.Answer != nil) || row.Error != "" {
					t.Errorf("%s: answer %v, skipped %q, error %q", row.ID, row.Answer, row.Skipped, row.Error)
				}
			}
			if !strings.Contains(said, c.said) {
				t.Errorf("no %q in %s", c.said, said)
			}
			if c.runs != (len(rowsWith(r, func(r bench.Row) bool { return r.Seconds != nil })) == 4) {
				t.Errorf("rows: %+v", r.Rows)
			}
		})
	}
}

func TestLackingRight(t *testing.T) {
	t.Parallel()
	refused := func(text string) error { return mongo.CommandError{Code: codeUnauthorized, Message: text} }
	for text, want := range map[string]string{
		`not authorized on reports to execute command { insert: "x", ordered: true }`:      "the user lacks insert on reports.x: grant the role readWrite on reports",
		`not authorized on reports to execute command { drop: "x" }`:                       "the user lacks dropCollection on reports.x: grant the role readWrite on reports",
		`not authorized on mrbench_1 to execute command { dropDatabase: 1 }`:               "the user lacks dropDatabase on database mrbench_1: grant the role dbAdmin on mrbench_1",
		`not authorized on test to execute command { mapReduce: "u", map: function() {} }`: "the user lacks a right for mapReduce of test.u: find on the source, and insert and remove on the output",
		`not authorized on admin to execute command serverStatus`:                          "the user lacks serverStatus on database admin: grant the role clusterMonitor on admin",
		`something else`: "",
	} {
		if got := lackingRight(refused(text)); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	if got := lackingRight(errors.New("not authorized on a to execute command find")); got != "" {
		t.Error(got)
	}
}
