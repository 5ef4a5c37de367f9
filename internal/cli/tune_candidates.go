package cli

import (
	"context"
	"fmt"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/target"
	"mrbench/internal/tune"
	"mrbench/mr"
)

// tuneCandidate is a variant with its numbers of threads and ranges, both 1 for one that has no ranges.
type tuneCandidate struct {
	variant
	threads, ranges int
}

// text names a candidate in a sentence.
func (c tuneCandidate) text() string {
	if !c.variant.ranges {
		return c.name()
	}
	return fmt.Sprintf("%s (%s, %d ranges)", c.name(), counted(c.threads, "thread", "threads"), c.ranges)
}

func (c tuneCandidate) layoutWord() string {
	switch {
	case c.aggregate || !c.variant.ranges:
		return ""
	case c.layout == mr.SeparateDatabases:
		return layoutSeparate
	}
	return layoutOne
}

// tuneSkip is what is not tried, and why.
type tuneSkip struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// tuneVariants are what tune chooses from: the ladder, and jsMode where the ladder does not have it.
func tuneVariants() []variant {
	list := slices.Clone(ladder)
	for _, v := range []variant{{js: true}, {sort: true, js: true}, {sort: true, ranges: true, js: true}} {
		v.id = v.name()
		list = append(list, v)
	}
	return list
}

func tuneRows() (ids []string) {
	for _, v := range tuneVariants() {
		ids = append(ids, v.id)
	}
	return ids
}

// Options that variants have and others are the same without.
var tuneOptions = []struct {
	name    string
	without func(variant) (variant, bool)
}{
	{"jsMode", func(v variant) (variant, bool) { w := v; w.js = false; return w, v.js }},
	{"separate", func(v variant) (variant, bool) {
		w := v
		w.layout = mr.OneDatabase
		return w, v.layout == mr.SeparateDatabases
	}},
	{"covered", func(v variant) (variant, bool) { w := v; w.covered = false; return w, v.covered }},
}

// usableVariants are those of the list that this server and this job can run, and whose options have an effect there.
func usableVariants(list []variant, caps []target.Capability, job *runJob, key string) (usable []variant, skipped []tuneSkip) {
	known := map[string]target.Capability{}
	for _, c := range caps {
		known[c.Name] = c
	}
	without := func(name string, states ...target.State) string {
		if c := known[name]; slices.Contains(states, c.State) {
			return c.Reason
		}
		return ""
	}
	why := func(v variant) string {
		if reason := job.skip(v, key); reason != "" || v.aggregate {
			return reason
		}
		for _, name := range []string{target.CapMapReduce, target.CapOutput} {
			if reason := without(name, target.Refused); reason != "" {
				return reason
			}
		}
		switch {
		case v.js && job.name != "" && !job.emits(key):
			return "jsMode makes strings of keys, and what they were is known of the field that ranges are cut by alone"
		case v.js && without(target.CapJSMode, target.Refused, target.NoEffect) != "":
			return "jsMode: " + known[target.CapJSMode].Reason
		case v.layout == mr.SeparateDatabases && without(target.CapDatabases, target.Refused, target.NoEffect) != "":
			return "separate databases: " + known[target.CapDatabases].Reason
		case v.sort && !v.ranges && without(target.CapSort, target.Refused, target.NoEffect) != "":
			return "sort: " + known[target.CapSort].Reason
		}
		return ""
	}
	for _, v := range list {
		if reason := why(v); reason != "" {
			skipped = append(skipped, tuneSkip{v.id, reason})
		} else {
			usable = append(usable, v)
		}
	}
	return usable, skipped
}

// threadCounts are 1, 2, 4, … and the most itself.
func threadCounts(most int) (list []int) {
	for n := 1; n < most; n *= 2 {
		list = append(list, n)
	}
	return append(list, most)
}

// mostRanges is what the largest candidate has.
func mostRanges(mostThreads int) int { return 4 * mostThreads }

// candidates are the variants with each number of threads, and once, twice and four times as many ranges. pieces is how many
// ranges can be cut at most.
func candidates(variants []variant, mostThreads, pieces int) (list []tuneCandidate, skipped []tuneSkip) {
	tooMany := 0
	for _, v := range variants {
		if !v.ranges {
			list = append(list, tuneCandidate{v, 1, 1})
			continue
		}
		for _, threads := range threadCounts(mostThreads) {
			for _, times := range []int{1, 2, 4} {
				ranges := threads * times
				switch {
				case ranges == 1: // it would be no ranges at all
				case ranges > pieces:
					tooMany = max(tooMany, ranges)
				default:
					list = append(list, tuneCandidate{v, threads, ranges})
				}
			}
		}
	}
	if tooMany > 0 {
		skipped = append(skipped, tuneSkip{fmt.Sprintf("up to %d ranges", tooMany), fmt.Sprintf("no more than %d can be cut: the key has too few values", pieces)})
	}
	return list, skipped
}

// searched is the list as the search knows it.
func searched(list []tuneCandidate) []tune.Candidate {
	place := map[tuneCandidate]int{}
	for i, c := range list {
		c.id = ""
		place[c] = i
	}
	out := make([]tune.Candidate, len(list))
	for i, c := range list {
		out[i] = tune.Candidate{ID: c.text(), Options: map[string]int{}}
		for _, o := range tuneOptions {
			if w, has := o.without(c.variant); has {
				w.id = ""
				if base, ok := place[tuneCandidate{w, c.threads, c.ranges}]; ok {
					out[i].Options[o.name] = base
				}
			}
		}
	}
	return out
}

// serverCPUs is how many processors the server has; 0 when it does not say.
func serverCPUs(ctx context.Context, t *target.Target) int {
	raw, err := t.Client.Database("admin").RunCommand(ctx, bson.D{{Key: "hostInfo", Value: 1}}).Raw()
	if err != nil {
		return 0
	}
	n, err := raw.LookupErr("system", "numCores")
	if err != nil {
		return 0
	}
	cores, ok := n.AsInt64OK()
	if !ok || cores < 1 || cores > math.MaxInt32 {
		return 0
	}
	return int(cores)
}
