//go:build unix

package store

import (
	"flag"
	"runtime"
	"syscall"
	"testing"
	"time"
)

var loadDocs = flag.Int("load-docs", 2_000_000, "documents of BenchmarkLoadIndexed")

// BenchmarkLoadIndexed loads into a collection that has an index in whose order the documents do not come. Beside the time
// it gives the CPU time of the whole process and what is written to tables, by flushes and by compactions: figures that tell on a busy machine
// how the cost of a document grows with -load-docs.
func BenchmarkLoadIndexed(b *testing.B) {
	n := *loadDocs
	for range b.N {
		db := openDir(b)
		if _, err := db.CreateIndex(ctx, testNS, jdoc(b, `{"key":{"dim0":1},"name":"dim0_1"}`)); err != nil {
			b.Fatal(err)
		}
		before := cpuTime()
		load(b, db, n, 4)
		cpu := cpuTime() - before
		m := db.p.Metrics()
		var flushed, compacted, read uint64
		for _, l := range m.Levels {
			flushed += l.TableBytesFlushed
			compacted += l.TableBytesCompacted
			read += l.TableBytesRead
		}
		per := func(x float64, unit string) { b.ReportMetric(x/float64(n), unit) }
		per(float64(cpu), "cpu-ns/doc")
		per(float64(flushed), "flushed-B/doc")
		per(float64(compacted), "compacted-B/doc")
		per(float64(m.Compact.Duration), "compact-ns/doc")
		per(float64(m.Compact.EstimatedDebt), "debt-B/doc")
		b.ReportMetric(float64(m.Levels[0].Sublevels), "sublevels")
		// What is merged afterwards, while nobody asks for anything, is a part of the cost too.
		began := time.Now()
		for db.p.Metrics().Compact.NumInProgress > 0 {
			time.Sleep(10 * time.Millisecond)
		}
		b.ReportMetric(time.Since(began).Seconds(), "merging-s")
		per(float64(cpuTime()-before), "cpu-merged-ns/doc")
	}
	perOp(b, n, "doc")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys>>20), "MiB-sys")
}

// cpuTime is what the process has used so far, user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
