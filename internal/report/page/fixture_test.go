package page

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// ladder is a result of nine rows and ten runs with everything that a page can show, about as large as such results are.
func ladder() Page {
	rng := rand.New(rand.NewPCG(1, 2))
	const runs, threads = 10, 4
	r := &bench.Result{
		SchemaVersion: bench.SchemaVersion,
		Dataset:       bench.Dataset{NS: "shop.orders", Documents: 1_000_000, Key: "customer", UUID: "7e8b3c1e-55b1-4d0a-9a53-2f6f1f0f6f0e", Spec: &bench.DataSpec{Generator: "uniques", Seed: 1, Documents: 1_000_000, Keys: 100_000}},
		Server:        bench.Server{Kind: "mongodb", Version: "4.0.3", WireVersion: 7, Topology: "replica set rs0", Address: "db1.example.net:27017,db2.example.net:27017"},
		Split:         &bench.Split{Strategy: "splitVector", Imbalance: 1.1, Documents: 1_000_000, Pieces: make([]bench.Piece, threads)},
		Context: bench.Context{
			RunID: "20260102t030405a1b2c3", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Mrbench: "v1.2.3", Go: "go1.26", OS: "linux", Arch: "amd64", Host: "bench-host",
			CPU: "A processor with a long name @ 2.40GHz", CPUs: 4, MemoryBytes: 16 << 30, Load: &[3]float64{0.2, 0.3, 0.4},
			Options: map[string]any{"threads": "4", "runs": "10", "ladder": "true", "uri": "mongodb://reader:***@db1.example.net:27017,db2.example.net:27017/?replicaSet=rs0", "warmup": "1"},
		},
		Warnings:  []string{"the largest range holds 1.6 times the mean; it will hold the others up"},
		Telemetry: &bench.Telemetry{IntervalSeconds: 0.25, Server: bench.SameHost, PID: 1234, Notes: []string{"the disk of the server can't be read: its process belongs to another user"}},
	}
	rows := []struct {
		id, label      string
		seconds        float64
		ranges         int
		mapReduce, err bool
	}{
		{"mr", "mapReduce as written", 14.7, 1, true, false},
		{"mr-sort", "mapReduce, sort", 7.3, 1, true, false},
		{"mr-ranges", "sort, 4 ranges", 5.3, 4, true, false},
		{"mr-ranges-dbs", "sort, 4 ranges, 4 dbs", 5.9, 4, true, false},
		{"mr-ranges-dbs-js", "sort, 4 ranges, 4 dbs, jsMode", 4.2, 4, true, false},
		{"agg", "aggregation $group", 1.0, 1, false, false},
		{"agg-ranges", "$group, 4 ranges", 0.71, 4, false, false},
		{"agg-covered", "$group, index alone", 1.14, 1, false, false},
		{"agg-covered-ranges", "$group, index alone, 4 ranges", 0.68, 4, false, false},
	}
	now := 3.5
	times := make([][]float64, len(rows))
	for round := range runs {
		for i, x := range rows {
			s := x.seconds * (1 + 0.04*rng.NormFloat64())
			if round == 0 && i == 0 {
				s *= 1.3
			}
			times[i] = append(times[i], s)
			r.Samples = append(r.Samples, bench.Sample{Row: x.id, Round: round + 1, Start: now, Seconds: s})
			r.Telemetry.Runs = append(r.Telemetry.Runs, series(rng, x.id, round+1, now, s, x.ranges, x.mapReduce))
			now += s + 0.4
		}
	}
	truth := true
	for i, x := range rows {
		row := bench.Row{
			ID: x.id, Label: x.label, Threads: x.ranges, Ranges: x.ranges, Seconds: bench.Summarize(times[i]), Outliers: bench.Outliers(times[i]),
			Answer: &bench.Answer{Keys: 100_000, Sum: "1000000", Digest: "0c31c29b8d9a2f0e5b0a7f2f3d0c7a11"},
		}
		if i > 0 {
			row.Agrees = &truth
		}
		if x.ranges > 1 {
			merge := 0.05 * x.seconds
			row.MergeSeconds = &merge
			last := times[i][runs-1] - merge
			for k := range x.ranges {
				long := last * (1 - 0.09*float64(k))
				row.Parts = append(row.Parts, bench.Part{From: fmt.Sprint(k * 25000), To: fmt.Sprint((k + 1) * 25000), Thread: k, Start: 0.001, Seconds: long})
			}
		}
		r.Rows = append(r.Rows, row)
	}
	r.Annotate()
	return Page{
		Result: r, Findings: texts(r.Notes), Tables: []*report.Table{timesTable(r), wideTable(r)}, Source: "20260102t030405a1b2c3.ndjson",
		Command: "mrbench run --ladder --runs 10 --warmup 1 --uri 'mongodb://reader:***@db1.example.net:27017,db2.example.net:27017/?replicaSet=rs0' --ns shop.orders --key customer",
	}
}

// series is a load that looks like one.
func series(rng *rand.Rand, id string, round int, start, seconds float64, threads int, mapReduce bool) bench.Series {
	s := bench.Series{Row: id, Round: round, Start: start}
	every := max(0.25, seconds/64)
	for at := every; ; at += every {
		at = min(at, seconds)
		s.At = append(s.At, float64(int(at*1000))/1000)
		if at >= seconds {
			break
		}
	}
	column := func(base, noise float64) []float64 {
		c := make([]float64, len(s.At))
		for i := range c {
			c[i] = float64(int(1000*max(0, base+noise*rng.NormFloat64()))) / 1000
		}
		return c
	}
	docs := 2000.0
	if !mapReduce {
		docs = 90_000
	}
	s.ServerCPU, s.ClientCPU = column(0.9*float64(threads), 0.1), column(0.15, 0.05)
	s.ServerMemoryBytes, s.ClientMemoryBytes = column(1.2e9, 3e7), column(4e7, 1e6)
	s.SentBytes, s.ReceivedBytes = column(900, 100), column(docs*40, docs)
	s.NetworkInBytes, s.NetworkOutBytes = column(1000, 100), column(docs*41, docs)
	s.Inserts, s.Queries, s.GetMores, s.Commands = column(3, 1), column(1, 0.5), column(12, 3), column(20, 4)
	s.DocumentsInserted, s.DocumentsReturned = column(5000, 300), column(docs, docs/10)
	s.Connections, s.Active, s.Queued, s.LockWait = column(12, 0), column(float64(threads), 0.5), column(0.3, 0.3), column(0.02, 0.01)
	s.CacheBytes, s.CacheDirtyBytes = column(6e8, 1e7), column(4e7, 5e6)
	return s
}

// small is the result of a real run, of two rows with an answer that differs and one that was skipped.
func small(t testing.TB) Page {
	t.Helper()
	rs, err := bench.Load("testdata/small.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return Page{Result: rs[0], Findings: texts(rs[0].Notes), Tables: []*report.Table{timesTable(rs[0])}, Command: "mrbench run --rows mr,mr-ranges,agg --threads 2", Source: "small.ndjson"}
}

func texts(notes []bench.Note) (all []string) {
	for _, n := range notes {
		all = append(all, n.Text)
	}
	return all
}

// wideTable is as wide as tables of results get.
func wideTable(r *bench.Result) *report.Table {
	t := &report.Table{Title: "what each row used, and a title that is long enough to need more than a single line of a narrow page or of a sheet of paper"}
	for i, title := range []string{"row", "server CPU ms", "cores", "client CPU ms", "server mem", "client mem", "disk read", "written", "sent", "received", "agrees", "effect"} {
		t.Columns = append(t.Columns, report.Column{Title: title, Left: i == 0 || i > 9})
	}
	for _, row := range r.Rows {
		t.Add(report.Str(row.ID), report.Int(13_000), report.Fixed(0.97, 2), report.Int(4_000), report.Bytes(2e9), report.Bytes(5e7), report.Bytes(1e6), report.Bytes(7e8), report.Bytes(3e5), report.Bytes(3e8), report.Str("yes"), report.Str("index, js mixed"))
	}
	return t
}

// timesTable stands for the tables that a terminal shows.
func timesTable(r *bench.Result) *report.Table {
	u := report.UnitFor(1)
	t := &report.Table{
		Title:   "times",
		Columns: []report.Column{{Title: "row", Left: true}, {Title: "thr"}, {Title: "rng"}, {Title: "wall ms"}, {Title: "fastest ms"}, {Title: "slowest ms"}, {Title: "merge ms", Drop: 1}, {Title: "what", Left: true}},
		Notes:   append(texts(r.Notes), "times are medians"),
	}
	for _, row := range r.Rows {
		if row.Seconds == nil {
			t.Add(report.Str(row.ID))
			continue
		}
		t.Add(report.Str(row.ID), report.Int(int64(row.Threads)), report.Int(int64(row.Ranges)), u.Time(row.Seconds.Median), u.Time(row.Seconds.Min), u.Time(row.Seconds.Max), u.TimeOr(row.MergeSeconds), report.Str(row.Label))
	}
	return t
}
