package cli

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

func levelOf(c mongofake.Command) string {
	level, _ := c.Body.Lookup("readConcern", "level").StringValueOK()
	return level
}

// Pipelines read where they are told to; what is written, and what is read of it, stays with the primary.
func TestReadsAndWritesOfASet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		query             string // of the connection string
		flags             []string
		secondary         bool // pipelines went there
		read, level, want string
	}{
		{"unless said", "", nil, false, "", "", "majority"},
		{"by flags", "", []string{"--read-preference", "secondary", "--read-concern", "majority", "--write-concern", "1,j"}, true, "secondary", "majority", "1,j"},
		{"by the connection string", "readPreference=secondary&readConcernLevel=majority&w=1", nil, true, "secondary", "majority", "1"},
		{"flags beat it", "readPreference=secondary&readConcernLevel=majority&w=1", []string{"--read-preference", "primary", "--read-concern", "local", "--write-concern", "majority"}, false, "", "local", "majority"},
		{"staleness stays", "readPreference=nearest&maxStalenessSeconds=120", []string{"--read-preference", "secondary"}, true, "secondary(maxStaleness=2m0s)", "", "majority"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Version: "4.2.24", Topology: mimic.ReplicaSet})
			second := m.Secondary(t, 0)
			uniques(t, m, 300)
			s := newSession(t)
			args := append([]string{"run", "--rows", "mr-ranges,agg", "--threads", "2", "--uri", m.URI() + "?" + c.query, "--sample-every", "0", "--save", "r.ndjson"}, c.flags...)
			code, _, stderr := s.run(args...)
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			rs, err := bench.Load(s.dir + "/r.ndjson")
			if err != nil {
				t.Fatal(err)
			}
			x := rs[0].Context
			if x.ReadPreference != c.read || x.ReadConcern != c.level || x.WriteConcern != c.want {
				t.Errorf("recorded: %q %q %q", x.ReadPreference, x.ReadConcern, x.WriteConcern)
			}
			there := 0
			for _, cmd := range second.Commands() {
				if cmd.Name == "aggregate" && groups(cmd) {
					there++
					if levelOf(cmd) != c.level {
						t.Errorf("read concern %q", levelOf(cmd))
					}
				}
				if cmd.Name == "mapReduce" || cmd.Name == "insert" || cmd.Name == "find" && strings.HasPrefix(cmd.DB, "mrbench_") {
					t.Errorf("%s of %s was sent to the secondary", cmd.Name, cmd.DB)
				}
			}
			if c.secondary != (there > 0) {
				t.Errorf("%d pipelines went to the secondary", there)
			}
			var confirmed []string
			for _, cmd := range m.Commands() {
				switch {
				case cmd.Name == "mapReduce", cmd.Name == "renameCollection", cmd.Name == "aggregate" && strings.Contains(cmd.Body.String(), "$merge"):
					confirmed = append(confirmed, cmd.Name)
					w := cmd.Body.Lookup("writeConcern").String()
					if word, _, _ := strings.Cut(c.want, ","); !strings.Contains(w, word) || strings.Contains(c.want, "j") != strings.Contains(w, `"j": true`) && strings.HasSuffix(c.want, ",j") {
						t.Errorf("%s with write concern %s", cmd.Name, w)
					}
				}
			}
			if len(confirmed) < 4 {
				t.Errorf("only %v", confirmed)
			}
		})
	}
}

// What a server does not have is refused before anything runs, or left out with a word.
func TestConcernsThatAreNotThere(t *testing.T) {
	t.Parallel()
	set, alone := mimic.ReplicaSet, mimic.Standalone
	for _, c := range []struct {
		name     string
		version  string
		topology mimic.Topology
		query    string
		flags    []string
		code     int
		said     string
	}{
		{"snapshot of 4.0", "4.0.3", set, "", []string{"--read-concern", "snapshot"}, 1, "this server (4.0.3, replica set) takes local, available, majority"},
		{"snapshot of 5.0", "5.0.3", set, "", []string{"--read-concern", "snapshot"}, 0, "pipelines read with concern snapshot"},
		{"majority of one", "4.0.3", alone, "", []string{"--read-concern", "majority"}, 1, "takes local, available"},
		{"majority of one, in the connection string", "4.0.3", alone, "readConcernLevel=majority&w=majority&readPreference=secondary", nil, 0, "read concern majority is not sent"},
		{"secondary of one", "4.0.3", alone, "", []string{"--read-preference", "secondary"}, 0, "read preference secondary has no effect: this is a single server"},
		{"no secondary", "4.0.3", set, "", []string{"--read-preference", "secondary"}, 1, "the set s1 has one member with data, and no secondary"},
		{"three of one", "4.0.3", alone, "", []string{"--write-concern", "3"}, 1, "--write-concern 3 asks 3 members to confirm: this is a single server"},
		{"three of a set of one", "4.0.3", set, "", []string{"--write-concern", "3"}, 1, "the set s1 has 1 with data"},
		{"none", "4.0.3", set, "", []string{"--write-concern", "0"}, 2, "outputs are read again and compared"},
		{"none, in the connection string", "4.0.3", set, "w=0", nil, 0, "write concern 0 of the connection string is not used"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Version: c.version, Topology: c.topology})
			uniques(t, m, 200)
			s := newSession(t)
			args := append([]string{"run", "--rows", "mr,agg", "--uri", m.URI() + "?" + c.query, "--sample-every", "0"}, c.flags...)
			code, _, stderr := s.run(args...)
			if code != c.code || !strings.Contains(stderr, c.said) {
				t.Errorf("exit code %d, no %q in %s", code, c.said, stderr)
			}
			for _, cmd := range m.Commands() {
				if c.code != 0 && (cmd.Name == "insert" || cmd.Name == "mapReduce") {
					t.Errorf("%s was sent", cmd.Name)
				}
				if c.topology == alone && (levelOf(cmd) == "majority" || cmd.Body.Lookup("writeConcern", "w").Type != 0 && cmd.Name == "mapReduce") {
					t.Errorf("%s: %s", cmd.Name, cmd.Body)
				}
			}
		})
	}
}

// A write concern that is not met fails the row, though the reply says ok.
func TestWriteConcernNotMet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault mimic.Fault
		said  string
	}{
		{"of a mapReduce", mimic.Fault{Command: "mapReduce", Unconfirmed: 64}, "its write concern was not met: waiting for replication timed out (code 64)"},
		{"of the mark", mimic.Fault{Command: "insert", Unconfirmed: 100}, "it was made, but its write concern was not met: Not enough data-bearing nodes (code 100)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Topology: mimic.ReplicaSet})
			uniques(t, m, 200)
			m.Inject(c.fault)
			s := newSession(t)
			code, stdout, stderr := s.run("run", "--rows", "mr,agg", "--uri", m.URI(), "--sample-every", "0", "--shuffle-seed", "off")
			if code != exitPartial || !strings.Contains(strings.Join(strings.Fields(stdout+stderr), " "), c.said) {
				t.Errorf("exit code %d, no %q in %s\n%s", code, c.said, stdout, stderr)
			}
			if _, out, _ := s.run("clean", "--dry-run", "--uri", m.URI()); !strings.Contains(out, "nothing of mrbench's is left") {
				t.Errorf("left behind: %s", out)
			}
		})
	}
}

// A secondary that is behind gives another answer, and it is said why.
func TestLagIsExplained(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.ReplicaSet})
	second := m.Secondary(t, 90*time.Second)
	uniques(t, m, 300)
	second.Inject(mimic.Fault{Command: "aggregate", Match: groups, Times: 9, Reply: bson.D{{Key: "cursor", Value: bson.D{
		{Key: "id", Value: int64(0)}, {Key: "ns", Value: "test.uniques"}, {Key: "firstBatch", Value: bson.A{bson.D{{Key: "_id", Value: 1}, {Key: "value", Value: 14}}}},
	}}, {Key: "ok", Value: 1.0}}})
	s := newSession(t)
	code, stdout, stderr := s.run("run", "--rows", "mr,agg", "--uri", m.URI(), "--read-preference", "secondary", "--sample-every", "0", "--shuffle-seed", "off")
	said := strings.Join(strings.Fields(stdout), " ")
	if code != exitDiffer || !strings.Contains(said, "a member that is behind the primary answers from older documents") || !strings.Contains(said, "it was 1m30s behind") && !strings.Contains(said, "it was 1m29s behind") && !strings.Contains(said, "it was 1m31s behind") {
		t.Errorf("exit code %d: %s\n%s", code, stdout, stderr)
	}
}

// A member that is no primary runs pipelines, and no mapReduce.
func TestOnASecondary(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.ReplicaSet})
	second := m.Secondary(t, 0)
	uniques(t, m, 200)
	s := newSession(t)
	code, _, stderr := s.run("run", "--rows", "mr,agg", "--uri", second.URI()+"?directConnection=true", "--sample-every", "0")
	if code != 0 || !strings.Contains(stderr, "is no primary of s1") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for _, cmd := range second.Commands() {
		if cmd.Name == "mapReduce" || cmd.Name == "insert" {
			t.Errorf("%s was sent", cmd.Name)
		}
	}
}
