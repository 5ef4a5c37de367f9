package telemetry

import (
	"math"
	"strconv"
	"time"

	"mrbench/internal/bench"
)

// mostIntervals is how many intervals of a run are kept. One more joins neighbours.
const mostIntervals = 64

// point is one sample.
type point struct {
	at     time.Duration // since the run's start
	values [observables]float64
}

// record is a run's samples, in bounded space.
type record struct {
	base   point
	end    point   // the last sample, also when it is not complete
	points []point // ends of intervals
	every  int     // samples in an interval
	inLast int     // samples in the last interval
	peaks  [observables]float64
}

func newRecord(base point) *record {
	return &record{base: base, end: base, every: 1, peaks: base.values}
}

// add takes the next sample; withLast joins it to the interval before it.
func (r *record) add(p point, withLast bool) {
	for i, v := range p.values {
		r.peaks[i] = highest(r.peaks[i], v)
	}
	if n := len(r.points); n > 0 && (withLast || r.inLast < r.every) {
		r.points[n-1] = join(r.points[n-1], p)
		r.inLast++
		return
	}
	if len(r.points) == mostIntervals {
		for i := range mostIntervals / 2 {
			r.points[i] = join(r.points[2*i], r.points[2*i+1])
		}
		r.points = r.points[:mostIntervals/2]
		r.every *= 2
	}
	r.points = append(r.points, p)
	r.inLast = 1
}

// join makes one interval of two neighbours: totals are those at its end, levels the highest.
func join(a, b point) point {
	for i, o := range observed {
		if o.gauge {
			b.values[i] = highest(a.values[i], b.values[i])
		}
	}
	return b
}

// highest ignores what is not known.
func highest(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// series makes columns of the samples; those that are not known throughout are left out.
func (r *record) series() *bench.Series {
	s := &bench.Series{At: make([]float64, 0, len(r.points))}
	for _, p := range r.points {
		s.At = append(s.At, math.Round(p.at.Seconds()*1000)/1000)
	}
	for i, o := range observed {
		column := make([]float64, 0, len(r.points))
		before := r.base
		for _, p := range r.points {
			v := p.values[i]
			if !o.gauge {
				v = 0
				if d := (p.at - before.at).Seconds(); d > 0 {
					// A server that was started anew counts from 0.
					v = max(0, p.values[i]-before.values[i]) / d
				}
				if math.IsNaN(p.values[i]) || math.IsNaN(before.values[i]) {
					v = math.NaN()
				}
			}
			if math.IsNaN(v) {
				break
			}
			column = append(column, rounded(v))
			before = p
		}
		if len(column) == len(r.points) && len(column) > 0 {
			*o.column(s) = column
		}
	}
	return s
}

// rounded keeps four digits, which is more than samples are worth.
func rounded(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// usage is what the run used from the first sample to the last.
func (r *record) usage() *bench.Usage {
	growth := func(i int) float64 { return r.end.values[i] - r.base.values[i] }
	seconds := func(i int) *float64 {
		x := growth(i)
		if math.IsNaN(x) || x < 0 {
			return nil
		}
		x = math.Round(x*1e6) / 1e6
		return &x
	}
	whole := func(x float64) *int64 {
		if math.IsNaN(x) || x < 0 {
			return nil
		}
		n := int64(x)
		return &n
	}
	return &bench.Usage{
		ServerCPUSeconds: seconds(serverCPU), ClientCPUSeconds: seconds(clientCPU), ProcessCPUSeconds: seconds(processCPU),
		ServerPeakBytes: whole(r.peaks[serverMemory]), ClientPeakBytes: whole(r.peaks[clientMemory]), ProcessPeakBytes: whole(r.peaks[processMemory]),
		DiskReadBytes: whole(growth(diskRead)), DiskWrittenBytes: whole(growth(diskWritten)),
		SentBytes: whole(growth(sent)), ReceivedBytes: whole(growth(received)),
	}
}
