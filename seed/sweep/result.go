package sweep

import "slices"

// Result is a point with what its samples come to.
type Result struct {
	Point
	Runs               int      `json:"runs"`
	Seconds            float64  `json:"seconds"` // median, as are the others; 0 when there is none
	MinSeconds         float64  `json:"min_seconds"`
	MaxSeconds         float64  `json:"max_seconds"`
	DocumentsPerSecond float64  `json:"documents_per_second"` // of the documents that are there afterwards
	MBPerSecond        float64  `json:"mb_per_second"`        // 10^6 bytes of BSON
	BatchP50MS         float64  `json:"batch_p50_ms"`
	BatchP99MS         float64  `json:"batch_p99_ms"`
	CPUSeconds         *float64 `json:"cpu_seconds"`
	BatchSent          float64  `json:"batch_sent"` // documents an insert on average: the server's limits may cut Batch down
	Missing            int64    `json:"missing"`    // the most in one run
	Error              string   `json:"error,omitempty"`
}

// Spread is (slowest - fastest) / median.
func (r Result) Spread() float64 {
	if r.Seconds == 0 {
		return 0
	}
	return (r.MaxSeconds - r.MinSeconds) / r.Seconds
}

// Complete says whether the point was measured and lost nothing.
func (r Result) Complete() bool { return r.Runs > 0 && r.Error == "" && r.Missing == 0 }

// Summarize puts the samples of each point together. Points without samples have zero runs.
func Summarize(points []Point, samples []Sample) []Result {
	results := make([]Result, len(points))
	of := map[Point][]Sample{}
	for _, s := range samples {
		of[s.Point] = append(of[s.Point], s)
	}
	for i, p := range points {
		results[i] = summarize(p, of[p])
	}
	return results
}

func summarize(p Point, samples []Sample) Result {
	r := Result{Point: p}
	var seconds, p50, p99, cpu, rate, mb []float64
	var documents, batches int64
	for _, s := range samples {
		if s.Error != "" {
			r.Error = s.Error
			continue
		}
		r.Runs++
		r.Missing = max(r.Missing, s.Missing)
		documents += s.Documents + s.Missing
		batches += s.Batches
		seconds, p50, p99 = append(seconds, s.Seconds), append(p50, s.BatchP50MS), append(p99, s.BatchP99MS)
		if s.Seconds > 0 {
			rate, mb = append(rate, float64(s.Documents)/s.Seconds), append(mb, float64(s.Bytes)/s.Seconds/1e6)
		}
		if s.CPUSeconds != nil {
			cpu = append(cpu, *s.CPUSeconds)
		}
	}
	if r.Runs == 0 {
		return r
	}
	r.Seconds, r.MinSeconds, r.MaxSeconds = median(seconds), slices.Min(seconds), slices.Max(seconds)
	r.DocumentsPerSecond, r.MBPerSecond = median(rate), median(mb)
	r.BatchP50MS, r.BatchP99MS = median(p50), median(p99)
	if len(cpu) == r.Runs {
		m := median(cpu)
		r.CPUSeconds = &m
	}
	if batches > 0 {
		r.BatchSent = float64(documents) / float64(batches)
	}
	return r
}

// Best is the index of the fastest complete point, -1 for none. Unacknowledged ones take part when asked for.
func Best(results []Result, unacknowledged bool) int {
	best := -1
	for i, r := range results {
		if !r.Complete() || !unacknowledged && r.WriteConcern == "0" {
			continue
		}
		if best < 0 || r.DocumentsPerSecond > results[best].DocumentsPerSecond {
			best = i
		}
	}
	return best
}

// median of a list; 0 of an empty one.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return x[n/2]
	}
	return (x[n/2-1] + x[n/2]) / 2
}
