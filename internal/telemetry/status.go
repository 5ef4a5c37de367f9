package telemetry

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// command is serverStatus without its largest sections that are not used.
var command = bson.D{
	{Key: "serverStatus", Value: 1},
	{Key: "repl", Value: 0},
	{Key: "sharding", Value: 0},
	{Key: "shardingStatistics", Value: 0},
	{Key: "transactions", Value: 0},
	{Key: "tcmalloc", Value: 0},
	{Key: "oplogTruncation", Value: 0},
	{Key: "opLatencies", Value: 0},
	{Key: "asserts", Value: 0},
	{Key: "security", Value: 0},
	{Key: "flowControl", Value: 0},
	{Key: "latchAnalysis", Value: 0},
	{Key: "mirroredReads", Value: 0},
}

// status is what a server said of itself.
type status struct {
	host    string
	process string
	pid     int
	uptime  time.Duration
	values  [observables]float64 // NaN where it says nothing
}

// readStatus understands a reply of serverStatus. Numbers come as any of BSON's numeric types.
func readStatus(raw bson.Raw) *status {
	s := &status{host: text(raw, "host"), process: text(raw, "process"), pid: int(orZero(number(raw, "pid")))}
	ms := number(raw, "uptimeMillis")
	if math.IsNaN(ms) {
		ms = orZero(number(raw, "uptime")) * 1000
	}
	s.uptime = time.Duration(ms * float64(time.Millisecond))
	for i := range s.values {
		s.values[i] = math.NaN()
	}
	for i, o := range observed {
		for _, path := range o.paths {
			if v := number(raw, path...); !math.IsNaN(v) {
				s.values[i] = v * o.scale
				break
			}
		}
	}
	// Servers say the CPU time since 4.4.
	s.values[serverCPU] = (number(raw, "extra_info", "user_time_us") + number(raw, "extra_info", "system_time_us")) / 1e6
	s.values[lockWait] = lockWaits(raw) / 1e6
	return s
}

func text(raw bson.Raw, path ...string) string {
	v, err := raw.LookupErr(path...)
	if err != nil {
		return ""
	}
	s, _ := v.StringValueOK()
	return s
}

func number(raw bson.Raw, path ...string) float64 {
	v, err := raw.LookupErr(path...)
	if err != nil {
		return math.NaN()
	}
	return value(v)
}

func value(v bson.RawValue) float64 {
	if n, ok := v.AsInt64OK(); ok && v.Type != bson.TypeDouble {
		return float64(n)
	}
	if f, ok := v.DoubleOK(); ok {
		return f
	}
	return math.NaN()
}

func orZero(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}

// lockWaits sums locks.KIND.timeAcquiringMicros.MODE, microseconds that operations waited.
func lockWaits(raw bson.Raw) float64 {
	locks, ok := raw.Lookup("locks").DocumentOK()
	if !ok {
		return math.NaN()
	}
	kinds, err := locks.Elements()
	if err != nil {
		return math.NaN()
	}
	sum := 0.0
	for _, kind := range kinds {
		doc, ok := kind.Value().DocumentOK()
		if !ok {
			continue
		}
		modes, ok := doc.Lookup("timeAcquiringMicros").DocumentOK()
		if !ok {
			continue
		}
		waits, err := modes.Elements()
		if err != nil {
			continue
		}
		for _, w := range waits {
			sum += orZero(value(w.Value()))
		}
	}
	return sum
}
