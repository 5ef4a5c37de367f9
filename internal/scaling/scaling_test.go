package scaling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrbench/internal/bench"
)

// world is a machine whose rows cost what is written down here.
type world struct {
	cores                int
	fixed, document, key float64 // seconds
	sorting              float64 // for each document and doubling
	merged, opened       float64 // for each key, for each output
	imbalance, busy      float64
	noise                float64 // share of the time, of the standard deviation
	runs                 int
	random               *rand.Rand
	withoutCPU           bool
}

func plain() world {
	return world{cores: 2, fixed: 0.02, document: 2e-6, merged: 1e-6, imbalance: 1.1, busy: 1, runs: 3, random: rand.New(rand.NewPCG(1, 2))}
}

// measure is the ladder's rows mr-sort, mr-ranges, agg and agg-ranges in such a world; agg takes a fifth.
func (w world) measure(documents, keys int64, ranges, threads int) *bench.Result {
	r := &bench.Result{
		SchemaVersion: 1, Dataset: bench.Dataset{NS: "test.uniques", Documents: documents, Key: "dim0"}, Server: bench.Server{Kind: "embedded"},
		Context: bench.Context{RunID: fmt.Sprintf("r%d", documents), CPUs: w.cores}, Telemetry: &bench.Telemetry{Server: bench.SameProcess},
		Split: &bench.Split{Imbalance: w.imbalance, Seconds: 1, CountSeconds: 0.5},
	}
	for _, row := range []struct {
		id       string
		share    float64
		inRanges bool
	}{{"mr-sort", 1, false}, {"mr-ranges", 1, true}, {"agg", 0.2, false}, {"agg-ranges", 0.2, true}} {
		p := point{Setup: Setup{documents, keys, 1, w.cores, 1, 1}, inRanges: row.inRanges, imbalance: w.imbalance}
		if row.inRanges {
			p.Ranges, p.Threads = ranges, threads
		}
		if p.Ranges == 1 {
			p.imbalance = 1
		}
		n, k := float64(documents), float64(keys)
		work := row.share * (w.fixed*float64(p.Ranges) + w.document*n + w.key*k + w.sorting*n*math.Log2(n/float64(p.Ranges)))
		wall, merge := work*p.share(w.busy), 0.0
		b := bench.Row{ID: row.id, Threads: p.Threads, Ranges: p.Ranges, Answer: &bench.Answer{Keys: keys}}
		if row.id == "mr-ranges" {
			merge = w.merged*k*float64(ranges-1)/float64(ranges) + w.opened*float64(ranges)
			b.MergeSeconds = &merge
		}
		var all []float64
		for range w.runs {
			all = append(all, (wall+merge)*(1+w.noise*w.random.NormFloat64()))
		}
		b.Seconds = bench.Summarize(all)
		received := int64(40 * keys)
		b.Usage = &bench.Usage{ReceivedBytes: &received}
		if cpu := w.busy * work * b.Seconds.Median / (wall + merge); !w.withoutCPU {
			b.Usage.ProcessCPUSeconds = &cpu
		}
		r.Rows = append(r.Rows, b)
	}
	return r
}

func fit(t testing.TB, results ...*bench.Result) *Model {
	t.Helper()
	m, err := Fit(results, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) {
		t.Errorf("%s: %g, want %g (within %g)", what, got, want, relative)
	}
}

// Costs that are known come out again, and with them any other ladder.
func TestFitRecovers(t *testing.T) {
	t.Parallel()
	sorting, keys, opened, two, steep := plain(), plain(), plain(), plain(), plain()
	sorting.fixed, sorting.sorting = 0, 1e-7
	keys.key = 8e-6
	opened.opened = 0.01
	two.busy = 1.6
	steep.fixed = 0.5
	type size [2]int64
	for name, c := range map[string]struct {
		w     world
		sizes []size
	}{
		"document and fixed":   {plain(), []size{{1e5, 1e4}, {1e6, 1e5}}},
		"much of it fixed":     {steep, []size{{1e4, 1e3}, {1e6, 1e5}}},
		"sorting":              {sorting, []size{{1e5, 1e4}, {1e6, 1e5}}},
		"keys":                 {keys, []size{{1e5, 1e4}, {1e6, 1e5}, {1e6, 5e5}}},
		"outputs are opened":   {opened, []size{{1e5, 1e4}, {1e6, 1e5}}},
		"a command on 1.6":     {two, []size{{1e5, 1e4}, {1e6, 1e5}}},
		"four sizes of plenty": {plain(), []size{{1e5, 1e4}, {3e5, 3e4}, {1e6, 1e5}, {3e6, 3e5}}},
	} {
		var results []*bench.Result
		for _, s := range c.sizes {
			results = append(results, c.w.measure(s[0], s[1], 2, 2))
		}
		m := fit(t, results...)
		x := m.row("mr-sort").fits[0]
		near(t, name+": document", x[0], c.w.document, 0.01)
		near(t, name+": fixed", x[1], c.w.fixed, 0.05)
		near(t, name+": key", x[2], c.w.key, 0.01)
		near(t, name+": sorting", x[3], c.w.sorting, 0.01)
		near(t, name+": busy", m.row("mr-ranges").busy, c.w.busy, 0.001)
		big := c.w
		big.cores = 8
		got, err := m.Check(big.measure(2e7, 2e6, 8, 8), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range got.Rows {
			near(t, name+": "+row.ID+" on 8 cores", row.Ratio, 1, 0.01)
		}
		near(t, name+": mean factor", got.Error, 1, 0.01)
	}
}

// Noise ends in the band: most true times are inside it, and the costs are near.
func TestFitWithinNoise(t *testing.T) {
	t.Parallel()
	inside, all := 0, 0
	for seed := range 40 {
		w := plain()
		w.noise, w.runs, w.random = 0.05, 5, rand.New(rand.NewPCG(7, uint64(seed)))
		m := fit(t, w.measure(1e5, 1e4, 2, 2), w.measure(1e6, 1e5, 2, 2))
		true8 := plain()
		true8.cores = 8
		c, err := m.Check(true8.measure(1e7, 1e6, 8, 8), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range c.Rows {
			near(t, row.ID, row.Ratio, 1, 0.35)
			all++
			if row.Low <= row.Measured && row.Measured <= row.High {
				inside++
			}
			if !(row.Low < row.Seconds && row.Seconds < row.High) {
				t.Errorf("%s: %g is not inside of %g to %g", row.ID, row.Seconds, row.Low, row.High)
			}
		}
	}
	if inside < all*8/10 {
		t.Errorf("%d of %d true times are in the band", inside, all)
	}
}

// What was measured on two shards of one core is worth as much as on two cores of one, up to what one shard does afterwards.
func TestFitOnShards(t *testing.T) {
	t.Parallel()
	w := plain()
	w.merged, w.cores = 0, 1
	r := w.measure(1e6, 1e5, 2, 2)
	for i := range r.Rows {
		if r.Rows[i].Ranges > 1 {
			r.Rows[i].Shards = []bench.ShardLoad{{Shard: "a"}, {Shard: "b"}}
		}
	}
	f, err := fit(t, r).Predict(Setup{Shards: 2, Cores: 1, Ranges: 2}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range f.Rows {
		near(t, x.ID, x.Seconds, r.Rows[i].Seconds.Median, 1e-9)
	}
	if x := f.Rows[0]; x.Merge <= 0 || x.Merge > x.Seconds/5 {
		t.Errorf("%+v", x)
	}
}

// One size gives a cost of documents alone, and says so.
func TestFitOneSize(t *testing.T) {
	t.Parallel()
	m := fit(t, plain().measure(1e6, 1e5, 2, 2))
	f, err := m.Predict(Setup{Documents: 1e7, Ranges: 2}, 0)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "mr-sort", f.Rows[0].Seconds, 10*m.row("mr-sort").points[0].median, 1e-9)
	if f.Setup != (Setup{1e7, 1e6, 1, 2, 2, 2}) {
		t.Errorf("%+v", f.Setup)
	}
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "from one size: what each command costs once is taken for work on documents") {
		t.Error(notes)
	}
}

// A row that grew faster than sorting explains goes on from the largest size, and its band reaches up to going on like that.
func TestSteepGrowth(t *testing.T) {
	t.Parallel()
	w := plain()
	w.fixed = 0
	small := w.measure(1e6, 1e5, 2, 2)
	w.document *= 2 // memory ran short
	m := fit(t, small, w.measure(1e7, 1e6, 2, 2))
	f, err := m.Predict(Setup{Documents: 1e8}, 0)
	if err != nil {
		t.Fatal(err)
	}
	atLarge := 1e7 * w.document
	if x := f.Rows[0]; x.Seconds < 10*atLarge || x.Seconds > 13*atLarge || math.Abs(x.High-20*atLarge) > 0.01*atLarge {
		t.Errorf("%+v, %g at the largest size", x, atLarge)
	}
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "grew faster than sorting does") || !strings.Contains(notes, "mr-sort (documents to the power of 1.30)") {
		t.Error(notes)
	}
}

// Laws of every model: more documents take no less; more cores, shards or threads no more; and cores do not mind which
// shard they are of, up to what is serial.
func TestPredictLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := plain()
		w.fixed = rapid.Float64Range(0, 0.1).Draw(t, "fixed")
		w.key = rapid.Float64Range(0, 1e-5).Draw(t, "key")
		w.sorting = rapid.Float64Range(0, 1e-7).Draw(t, "sorting")
		w.imbalance = rapid.Float64Range(1, 2).Draw(t, "imbalance")
		w.busy = rapid.Float64Range(0.3, 2).Draw(t, "busy")
		w.noise = rapid.Float64Range(0, 0.1).Draw(t, "noise")
		w.withoutCPU = rapid.Bool().Draw(t, "no CPU times")
		measured := rapid.IntRange(1, 4).Draw(t, "measured ranges")
		m, err := Fit([]*bench.Result{w.measure(1e5, 1e4, measured, 2), w.measure(1e6, 2e5, measured, 2)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := Setup{
			Documents: rapid.Int64Range(1e5, 1e8).Draw(t, "documents"), Shards: rapid.IntRange(1, 8).Draw(t, "shards"), Cores: rapid.IntRange(1, 16).Draw(t, "cores"),
			Ranges: rapid.IntRange(1, 64).Draw(t, "ranges"), Threads: rapid.IntRange(1, 64).Draw(t, "threads"),
		}
		s.Keys = rapid.Int64Range(1, s.Documents).Draw(t, "keys")
		predict := func(s Setup) []Prediction {
			f, err := m.Predict(s, 0)
			if err != nil {
				t.Fatal(err)
			}
			return f.Rows
		}
		no := func(what string, less, more []Prediction, of func(Prediction) float64) {
			for i := range less {
				if a, b := of(less[i]), of(more[i]); a > b*(1+1e-9) {
					t.Fatalf("%s: %s takes %g, and %g", what, less[i].ID, a, b)
				}
			}
		}
		seconds := func(p Prediction) float64 { return p.Seconds }
		commands := func(p Prediction) float64 { return p.Seconds - p.Merge }
		x := predict(s)
		more, cores, threads := s, s, s
		more.Documents += more.Documents / 3
		no("fewer documents", x, predict(more), seconds)
		cores.Cores++
		no("one core more", predict(cores), x, seconds)
		threads.Threads++
		if s.Ranges%threads.Threads == 0 || threads.Threads > s.Ranges {
			no("one thread more", predict(threads), x, seconds)
		}
		one := s
		one.Shards, one.Cores = 1, s.Shards*s.Cores
		for i, p := range predict(one) {
			if strings.Contains(p.ID, "ranges") && math.Abs(commands(p)-commands(x[i])) > 1e-9*p.Seconds {
				t.Fatalf("%s: %g on %d shards of %d cores, %g on as many cores of one", p.ID, commands(x[i]), s.Shards, s.Cores, commands(p))
			}
		}
		for _, p := range x {
			if !(p.Low <= p.Seconds && p.Seconds <= p.High && p.Seconds > 0) || math.IsInf(p.High, 0) {
				t.Fatalf("%+v", p)
			}
		}
	})
}

// What bounds a row is named.
func TestBound(t *testing.T) {
	t.Parallel()
	w := plain()
	m := fit(t, w.measure(1e5, 1e4, 2, 2), w.measure(1e6, 1e5, 2, 2))
	uneven := plain()
	uneven.imbalance = 3
	mu := fit(t, uneven.measure(1e5, 1e4, 2, 2), uneven.measure(1e6, 1e5, 2, 2))
	for _, c := range []struct {
		name    string
		m       *Model
		s       Setup
		network float64
		row     int
		want    string
	}{
		{"one command", m, Setup{}, 0, 0, "JavaScript, 1 command"},
		{"one command a shard", m, Setup{Shards: 4, Cores: 8}, 0, 2, "grouping, 1 a shard"},
		{"merging what shards give", m, Setup{Shards: 40, Cores: 8, Keys: 9e5}, 0, 0, "merge on one shard"},
		{"all cores", m, Setup{Documents: 1e7, Cores: 8}, 0, 1, "JavaScript, all 8 cores"},
		{"few threads", m, Setup{Documents: 1e7, Cores: 8, Threads: 2, Ranges: 8}, 0, 3, "grouping, 2 at a time"},
		{"merge of ranges", m, Setup{Documents: 1e7, Shards: 8, Cores: 8}, 0, 1, "merge on one shard"},
		{"small data", m, Setup{Documents: 1000, Keys: 10, Ranges: 64}, 0, 1, "fixed costs"},
		{"a machine of one core", m, Setup{Cores: 1}, 0, 0, "JavaScript, the only core"},
		{"uneven", mu, Setup{Documents: 1e7, Cores: 16, Ranges: 16, Threads: 16}, 0, 3, "the largest range"},
		{"network", m, Setup{Documents: 1e7, Cores: 64}, 1e6, 3, "network"},
	} {
		f, err := c.m.Predict(c.s, c.network)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Rows[c.row]; got.Bound != c.want {
			t.Errorf("%s: %q, want %q: %+v", c.name, got.Bound, c.want, got)
		}
	}
	f, _ := m.Predict(Setup{Documents: 1e7, Cores: 64}, 1e6)
	near(t, "seconds for 40 MB at 1 MB/s", f.Rows[3].Seconds, 40, 0.01)
}

// What a MongoDB 4.0.3 took on two cores for the ladder at 1,000,000 documents, in four threads, and at 10,000,000: rows in
// ranges and those that read the index alone grow as documents do. The others outgrew memory, which one size can't tell.
func TestMongoDB403(t *testing.T) {
	t.Parallel()
	rows := []struct {
		id           string
		small, large float64 // seconds
		least, most  float64 // of predicted over measured
	}{
		{"mr", 14.7, 225, 0.6, 0.7}, {"mr-sort", 7.3, 87, 0.8, 0.9}, {"mr-ranges", 5.3, 66, 0.75, 0.85}, {"mr-ranges-dbs", 5.9, 67, 0.85, 0.95},
		{"mr-ranges-dbs-js", 4.2, 58, 0.65, 0.75}, {"agg", 1, 20.1, 0.45, 0.55}, {"agg-ranges", 0.71, 7, 0.95, 1.05},
		{"agg-covered", 1.14, 12.3, 0.9, 1}, {"agg-covered-ranges", 0.68, 6.3, 1, 1.1},
	}
	result := func(documents int64, seconds func(i int) float64) *bench.Result {
		r := &bench.Result{Dataset: bench.Dataset{NS: "test.uniques", Documents: documents, Key: "dim0"}, Server: bench.Server{Kind: "mongodb", Version: "4.0.3"}, Context: bench.Context{CPUs: 2}}
		for i, x := range rows {
			row := bench.Row{ID: x.id, Threads: 1, Ranges: 1, Answer: &bench.Answer{Keys: documents / 10}, Seconds: bench.Summarize([]float64{seconds(i)})}
			if strings.Contains(x.id, "ranges") {
				row.Threads, row.Ranges = 4, 4
			}
			r.Rows = append(r.Rows, row)
		}
		return r
	}
	small := result(1e6, func(i int) float64 { return rows[i].small })
	large := result(1e7, func(i int) float64 { return rows[i].large })
	c, err := fit(t, small).Check(large, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range c.Rows {
		if x.Ratio < rows[i].least || x.Ratio > rows[i].most {
			t.Errorf("%s: predicted %.1f s, measured %.1f s", x.ID, x.Seconds, x.Measured)
		}
	}
	f, err := fit(t, small, large).Predict(Setup{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "mr (documents to the power of 1.18)") || !strings.Contains(notes, "agg (documents to the power of 1.30)") {
		t.Error(notes)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	w := plain()
	small := w.measure(1e5, 1e4, 2, 2)
	empty := w.measure(1e5, 1e4, 2, 2)
	empty.Dataset.Documents = 0
	none := w.measure(1e5, 1e4, 2, 2)
	for i := range none.Rows {
		none.Rows[i].Seconds = nil
	}
	job := w.measure(1e5, 1e4, 2, 2)
	job.Dataset.Job = "sales"
	mongodb := w.measure(1e5, 1e4, 2, 2)
	mongodb.Server.Kind = "mongodb"
	other := w.measure(1e6, 1e5, 2, 2)
	for i := range other.Rows {
		other.Rows[i].ID = "x" + other.Rows[i].ID
	}
	for _, c := range []struct {
		name  string
		learn []*bench.Result
		check *bench.Result
		s     Setup
		want  string
	}{
		{"nothing", nil, nil, Setup{}, "no result to predict from"},
		{"no documents", []*bench.Result{empty}, nil, Setup{}, "run r100000: test.uniques had no documents"},
		{"no row", []*bench.Result{none, none}, nil, Setup{}, "no row of run r100000 and run r100000 has a time: measure some with mrbench run --ladder"},
		{"two jobs", []*bench.Result{small, job}, nil, Setup{}, "run r100000 is of counted by dim0 and run r100000 of by job sales: costs are of one job"},
		{"two servers", []*bench.Result{small, mongodb}, nil, Setup{}, "costs are of one server"},
		{"too far", []*bench.Result{small}, nil, Setup{Documents: 1e10}, "more than 10,000 times the 100,000 that were measured: measure at least 100,000,000"},
		{"too many keys", []*bench.Result{small}, nil, Setup{Documents: 10, Keys: 11}, "11 keys are more than the 10 documents"},
		{"negative", []*bench.Result{small}, nil, Setup{Cores: -1}, "below 0"},
		{"the same", []*bench.Result{small}, small, Setup{}, "both have 100,000 documents in the same ranges and threads: there is nothing to predict"},
		{"no common row", []*bench.Result{small}, other, Setup{}, "run r1000000 has no row in common with run r100000 that was measured in both"},
		{"check of another job", []*bench.Result{small}, job, Setup{}, "costs are of one job"},
	} {
		m, err := Fit(c.learn, 0)
		if err == nil && c.check == nil {
			_, err = m.Predict(c.s, 0)
		} else if err == nil {
			_, err = m.Check(c.check, 0)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	w := plain()
	js := func(documents, keys int64) *bench.Result {
		r := w.measure(documents, keys, 2, 2)
		r.Server.Kind = "mongodb"
		r.Rows[1].Mode = "js"
		return r
	}
	m := fit(t, js(1e5, 1e4), js(1e6, 1e5))
	far, err := m.Predict(Setup{Documents: 2e8, Ranges: 8}, 0)
	if err != nil {
		t.Fatal(err)
	}
	denser, _ := m.Predict(Setup{Documents: 1e6, Keys: 5e5}, 0)
	w.runs = 1
	once, _ := fit(t, w.measure(1e6, 1e5, 2, 2)).Predict(Setup{}, 0)
	w.runs, w.withoutCPU = 3, true
	unseen := w.measure(1e6, 1e5, 2, 2)
	unseen.Telemetry.Server = bench.Elsewhere
	blind, _ := fit(t, unseen).Predict(Setup{}, 0)
	for _, c := range []struct {
		f    *Forecast
		want string
	}{
		{far, "200,000,000 documents are 200 times as many as were measured"},
		{far, "mr-ranges holds 2,500,000 keys in a range and leaves jsMode at 500,000: from 41 ranges on it does not"},
		{far, "the 100 MB of $group hold (about 500,000), so it goes to disk, which was not measured: agg, agg-ranges"},
		{far, "finding the ranges and proving them comes before the rows: about 5 min in proportion"},
		{denser, "0.5 keys for each document, 0.1 when measured"},
		{once, "one run of each row: there is no band"},
		{blind, "it is taken to have 2, one for each command"},
	} {
		if notes := strings.Join(c.f.Notes, "\n"); !strings.Contains(notes, c.want) {
			t.Errorf("no %q in\n%s", c.want, notes)
		}
	}
	calm, _ := m.Predict(Setup{}, 0)
	if notes := strings.Join(calm.Notes, "\n"); strings.Contains(notes, "warning") {
		t.Errorf("nothing is asked for that was not measured:\n%s", notes)
	}
}
