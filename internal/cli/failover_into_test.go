package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// A fail-over while a kept result is filled is outlived: ranges that are in stay, the others are computed, and nothing counts twice.
func TestFailOverOfAKeptResult(t *testing.T) {
	t.Parallel()
	part := func(n string) func(mongofake.Command) bool {
		return func(c mongofake.Command) bool { return strings.Contains(c.Body.Lookup("out").String(), n) }
	}
	notes := func(c mongofake.Command) bool { return strings.HasSuffix(namespaceOf(c), ".mrbench_parts") }
	for _, c := range []struct {
		name   string
		config mimic.Config
		job    bool // whose keys come out of several ranges
		fault  mimic.Fault
	}{
		{"at a range", mimic.Config{Topology: mimic.ReplicaSet}, false, mimic.Fault{Command: "mapReduce", Nth: 3, Code: mimic.NotPrimary}},
		{"behind a range", mimic.Config{Topology: mimic.ReplicaSet}, false, mimic.Fault{Command: "mapReduce", Nth: 3, HangUp: true, After: true}},
		{"at a part", mimic.Config{Topology: mimic.ReplicaSet}, true, mimic.Fault{Command: "mapReduce", Match: part("_part_3"), Code: 11602}},
		{"while the parts are put together", mimic.Config{Topology: mimic.ReplicaSet}, true, mimic.Fault{Command: "mapReduce", Nth: 5, Code: 189, After: true}},
		{"when a range is noted", mimic.Config{}, false, mimic.Fault{Command: "insert", Match: notes, Nth: 4, HangUp: true, After: true}}, // range 2's answer is lost
		{"a shard", mimic.Config{Topology: mimic.Mongos}, false, mimic.Fault{Command: "mapReduce", Nth: 2, Code: 133}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c.config)
			uniques(t, m, 400)
			s := newSession(t)
			args := []string{"--uri", m.URI(), "--plan", savePlan(t, s, m.URI()), "--rows", "mr-ranges", "--threads", "1", "--into", "kept.r"}
			want := countsOf(t, m.Inside().Database("test").Collection("uniques"), false)
			if c.job {
				s.file("job.js", overlapping)
				args = append(args, "--job", "job.js")
			}
			m.Inject(c.fault)
			r := runJSON(t, s, args...)
			computed := []int{1, 2, 3, 4}
			if c.fault.Command == "insert" {
				computed = []int{1, 3, 4}
			}
			if x := r.Into; x == nil || x.In != 4 || !slices.Equal(x.Computed, computed) || x.Check == nil || !x.Check.Agrees {
				t.Errorf("%+v", r.Into)
			}
			if r.Samples[0].Retried == "" || !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "mr-ranges went on with the ranges that were missing") }) {
				t.Errorf("nothing failed: %v", r.Warnings)
			}
			kept := m.Inside().Database("kept").Collection("r")
			if c.job {
				n, err := kept.CountDocuments(t.Context(), bson.D{})
				sum := 0.0
				for _, v := range countsOf(t, kept, true) {
					sum += v
				}
				if n != 7 || sum != 4000 || err != nil {
					t.Errorf("%d keys that come to %v, %v", n, sum, err)
				}
			} else if got := countsOf(t, kept, true); !maps.Equal(got, want) {
				t.Errorf("%v, not %v", got, want)
			}
			if got := collections(t, m, "kept"); !slices.Equal(got, []string{"r", "r.mrbench_parts"}) {
				t.Errorf("in kept: %v", got)
			}
		})
	}
}
