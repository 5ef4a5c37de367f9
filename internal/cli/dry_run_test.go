package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// writes reports whether a command changes something on a server.
func writes(c mongofake.Command) bool {
	switch c.Name {
	case "mapReduce":
		return c.Body.Lookup("out", "inline").Type == 0
	case "aggregate":
		return strings.Contains(c.Body.String(), `"$out"`) || strings.Contains(c.Body.String(), `"$merge"`)
	}
	reads := []string{
		"find", "count", "explain", "listCollections", "listIndexes", "listDatabases", "buildInfo", "serverStatus", "getParameter", "connectionStatus", "splitVector",
		"collStats", "getMore", "killCursors", "ping", "distinct", "currentOp", "hostInfo", "dbStats", "listShards", "balancerStatus",
	}
	return !slices.Contains(reads, c.Name)
}

var runID = regexp.MustCompile(`mrbench_[0-9]{8}t[0-9]{9}[0-9a-f]{4}`)

// gist is what a command does to what, the same in every run.
func gist(db, name, about string) string {
	return runID.ReplaceAllString(fmt.Sprintf("%s %s %s", db, name, about), "RUN")
}

var plannedWrite = regexp.MustCompile(`^/\* WRITES \*/ db\.getSiblingDB\("([^"]*)"\)\.runCommand\(\{(\w+): (?:"([^"]*)"|1)`)

func plannedWrites(t *testing.T, text string) (list []string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if m := plannedWrite.FindStringSubmatch(line); m != nil {
			list = append(list, gist(m[1], m[2], m[3]))
		} else if strings.HasPrefix(line, markWrites) {
			t.Errorf("unreadable: %s", line)
		}
	}
	slices.Sort(list)
	return list
}

func sentWrites(m *mimic.Server, after int) (list []string) {
	for _, c := range m.Commands()[after:] {
		if writes(c) {
			about, _ := c.Body.Lookup(c.Name).StringValueOK()
			list = append(list, gist(c.DB, c.Name, about))
		}
	}
	slices.Sort(list)
	return list
}

// What run --dry-run prints as writing is what run then sends, and nothing of it is sent before.
func TestDryRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config mimic.Config
		more   []string
	}{
		{"3.6", mimic.Config{Version: "3.6.23"}, nil},
		{"4.2", mimic.Config{Version: "4.2.24", Topology: mimic.ReplicaSet}, nil},
		{"4.2, one database", mimic.Config{Version: "4.2.24"}, []string{"--out-db", "reports"}},
		{"5.0", mimic.Config{Version: "5.0.3"}, nil},
		{"8.0 mongos", mimic.Config{Version: "8.0.4", Topology: mimic.Mongos}, nil},
		{"8.0 mongos, one database", mimic.Config{Version: "8.0.4", Topology: mimic.Mongos}, []string{"--out-db", "test"}},
		{"no scripting", mimic.Config{NoScripting: true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 500)
			s := newSession(t)
			args := append([]string{"run", "--ladder", "--threads", "2", "--ranges", "3", "--sample-every", "0", "--uri", m.URI()}, c.more...)
			code, planned, stderr := s.run(append(args, "--dry-run")...)
			if code != 0 {
				t.Fatal(stderr)
			}
			if sent := sentWrites(m, 0); sent != nil {
				t.Fatalf("sent: %v", sent)
			}
			for line := range strings.Lines(planned) {
				if !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, markReads) && !strings.HasPrefix(line, markWrites) && !strings.HasPrefix(line, markSent) {
					t.Errorf("not marked: %s", line)
				}
			}
			before := len(m.Commands())
			if code, _, stderr := s.run(args...); code != 0 {
				t.Fatal(stderr)
			}
			want := sentWrites(m, before)
			got := plannedWrites(t, planned)
			// How often the client copies documents depends on how many there are.
			want, got = slices.Compact(want), slices.Compact(got)
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("run sent and did not announce: %s", w)
				}
			}
			for _, g := range got {
				// A collection that holds what parts have in common is announced, and made only if there is need.
				if !slices.Contains(want, g) {
					t.Errorf("announced and not sent: %s", g)
				}
			}
			if t.Failed() {
				t.Log(planned)
			}
		})
	}
}

func TestDryRunOfSeed(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{})
	s := newSession(t)
	seed := []string{"seed", "--uri", m.URI(), "--ns", "shop.x", "--docs", "2500", "--index", "before"}
	code, planned, stderr := s.run(append(seed, "--dry-run")...)
	if code != 0 || sentWrites(m, 0) != nil {
		t.Fatalf("%d %s, sent %v", code, stderr, sentWrites(m, 0))
	}
	if !strings.Contains(planned, "and 999 more documents in it; 3 such commands, 4 at a time") {
		t.Error(planned)
	}
	if code, _, stderr := s.run(seed...); code != 0 {
		t.Fatal(stderr)
	}
	if got, want := plannedWrites(t, planned), slices.Compact(sentWrites(m, 0)); !slices.Equal(got, want) {
		t.Errorf("announced %v, sent %v", got, want)
	}
	before := len(m.Commands())
	code, planned, _ = s.run(append(seed, "--drop", "--dry-run")...)
	if code != 0 || sentWrites(m, before) != nil || !strings.Contains(planned, `{drop: "x"}`) {
		t.Errorf("--drop: %d %s", code, planned)
	}
	// run seeds first when there is nothing to run on.
	code, planned, stderr = s.run("run", "--uri", m.URI(), "--ns", "shop.y", "--docs", "1e4", "--dry-run")
	if code != 0 || sentWrites(m, before) != nil || !strings.Contains(planned, `{create: "y"}`) || !strings.Contains(planned, "the plan ends with that") {
		t.Errorf("run: %d %s %s", code, planned, stderr)
	}
	for _, args := range [][]string{{"seed", "--dry-run", "--resume"}, {"seed", "--dry-run", "--sweep", "batch=1,2"}, {"run", "--dry-run", "-o", "json"}} {
		if code, _, stderr := s.run(append(args, "--uri", m.URI())...); code != exitUsage || !strings.Contains(stderr, "--dry-run") {
			t.Errorf("%v: %d %s", args, code, stderr)
		}
	}
}

func TestShellText(t *testing.T) {
	t.Parallel()
	body := bson.D{
		{Key: "find", Value: `a"b`},
		{Key: "filter", Value: bson.D{{Key: "x.y", Value: bson.D{{Key: "$gte", Value: int64(5)}}}, {Key: "r", Value: primitive.Regex{Pattern: "a/b", Options: "i"}}}},
		{Key: "list", Value: bson.A{nil, true, int32(1), 2.5, primitive.MinKey{}, primitive.DateTime(0)}},
		{Key: "stages", Value: []bson.D{{{Key: "$match", Value: bson.D{}}}}},
		{Key: "map", Value: primitive.JavaScript("function () {}")},
		{Key: "id", Value: primitive.ObjectID{}},
		{Key: "old", Value: primitive.Undefined{}},
	}
	want := `db.getSiblingDB("shop").runCommand({find: "a\"b", filter: {"x.y": {$gte: NumberLong("5")}, r: /a\/b/i}, ` +
		`list: [null, true, 1, 2.5, MinKey(), ISODate("1970-01-01T00:00:00.000Z")], stages: [{$match: {}}], ` +
		`map: Code("function () {}"), id: ObjectId("000000000000000000000000"), old: undefined})`
	if got := shellCommand("shop", body); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
