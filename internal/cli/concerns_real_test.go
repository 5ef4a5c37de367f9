package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readconcern"
	"go.mongodb.org/mongo-driver/mongo/readpref"

	"mrbench/internal/bench"
	"mrbench/internal/target"
)

// needsSet says why a server is no member of a replica set.
func needsSet(f *target.Facts) string {
	if f.Set == nil {
		return "it is no replica set"
	}
	return ""
}

// realConcerns reads pipelines from secondaries, where there are some, and what a majority has; outputs are confirmed by a majority.
func realConcerns(t *testing.T, uri string) {
	ns := ownDatabase(t, uri) + ".uniques"
	s := newSession(t)
	// A secondary that answers has to have the documents and the index, so a majority is not enough for the load.
	if code, _, stderr := s.run("seed", "--uri", uri, "--ns", ns, "--docs", "2000", "--keys", "50", "--index", "before", "--write-concern", everyMember(t, uri)); code != 0 {
		t.Fatal(stderr)
	}
	awaitCommitted(t, uri, ns, 2000)
	run := func(more ...string) (r bench.Result, code int, stderr string) {
		t.Helper()
		args := append([]string{"run", "--uri", uri, "--ns", ns, "--rows", "mr-ranges,agg,agg-ranges", "--threads", "2", "--ranges", "3", "--sample-every", "0", "-o", "json"}, more...)
		code, stdout, stderr := s.run(args...)
		if code == exitOK {
			if err := json.Unmarshal([]byte(stdout), &r); err != nil {
				t.Fatal(err)
			}
		}
		return r, code, stderr
	}
	r, code, stderr := run("--read-preference", "secondaryPreferred", "--read-concern", "majority", "--write-concern", "majority")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if c := r.Context; c.ReadPreference != "secondaryPreferred" || c.ReadConcern != "majority" || c.WriteConcern != "majority" {
		t.Errorf("kept: %q %q %q", c.ReadPreference, c.ReadConcern, c.WriteConcern)
	}
	for _, row := range r.Rows {
		if row.Skipped == "" && (row.Answer == nil || row.Answer.Keys != 50 || row.Agrees != nil && !*row.Agrees) {
			t.Errorf("%+v", row)
		}
	}
	// What no set can confirm is refused before anything is written.
	if _, code, stderr = run("--write-concern", "51"); code != exitFailed || !strings.Contains(stderr, "asks 51 members to confirm") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// awaitCommitted waits until secondaries know that documents they have are a majority's, which the primary tells them a moment after it.
func awaitCommitted(t *testing.T, uri, ns string, want int64) {
	t.Helper()
	db, coll, _ := strings.Cut(ns, ".")
	c := realClient(t, uri).Database(db).Collection(coll, options.Collection().SetReadConcern(readconcern.Majority()).SetReadPreference(readpref.SecondaryPreferred()))
	for right, tries := 0, 0; right < 10; tries++ {
		n, err := c.CountDocuments(t.Context(), bson.D{})
		if right++; err != nil || n != want {
			right = 0
			time.Sleep(50 * time.Millisecond)
		}
		if tries == 500 {
			t.Fatalf("secondaries have %d of %d documents: %v", n, want, err)
		}
	}
}

// everyMember is the write concern by which all members with data confirm.
func everyMember(t *testing.T, uri string) string {
	t.Helper()
	server, err := target.Open(t.Context(), target.Config{URI: uri, Version: "test", Timeout: target.DefaultTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	facts, err := server.Ask(t.Context(), target.Namespace{DB: "mrbench_compat", Coll: "none"})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(facts.Set.Members)
}
