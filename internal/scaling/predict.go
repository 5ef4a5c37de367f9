package scaling

import (
	"errors"
	"fmt"
	"math"

	"mrbench/internal/report"
)

// Prediction is a row somewhere else.
type Prediction struct {
	ID      string  `json:"id"`
	Threads int     `json:"threads"`
	Ranges  int     `json:"ranges"`
	Seconds float64 `json:"seconds"`
	Low     float64 `json:"low_seconds"` // the band: see the package's comment
	High    float64 `json:"high_seconds"`
	Merge   float64 `json:"merge_seconds"` // inside Seconds: what is done after the ranges or shards, one after another
	Speedup float64 `json:"speedup"`       // over the first row
	Bound   string  `json:"bound"`         // what most of the time goes into
	Bytes   float64 `json:"client_bytes"`  // that the client receives; 0 when that was not measured
}

// Forecast is what Predict finds.
type Forecast struct {
	Setup Setup        `json:"setup"`
	Rows  []Prediction `json:"rows"`
	Notes []string     `json:"notes"`
}

// Predict tells the rows' times for a setup. Zeros in it are filled: documents and keys as in the largest result, 1 shard,
// as many cores as were measured, a range for each core, a thread for each range. bytesPerSecond is what the client can receive; 0 is
// no limit. It is an error to ask for more keys than documents, or for more than SenselessFar times the measured documents.
func (m *Model) Predict(s Setup, bytesPerSecond float64) (*Forecast, error) {
	s, err := m.fill(s)
	if err != nil {
		return nil, err
	}
	f := &Forecast{Setup: s}
	for _, c := range m.rows {
		f.Rows = append(f.Rows, c.predict(s, c.last().imbalance, bytesPerSecond))
	}
	for i := range f.Rows {
		f.Rows[i].Speedup = f.Rows[0].Seconds / f.Rows[i].Seconds
	}
	f.Notes = append(m.warnings(s), m.notes...)
	return f, nil
}

func (m *Model) fill(s Setup) (Setup, error) {
	d := m.largest.Dataset
	measured := int64(0)
	for _, c := range m.rows {
		if p := c.last(); p.Documents == d.Documents {
			measured = max(measured, p.Keys)
		}
	}
	if s.Documents == 0 {
		s.Documents = d.Documents
	}
	if s.Keys == 0 {
		s.Keys = max(1, int64(math.Round(float64(s.Documents)*float64(measured)/float64(d.Documents))))
	}
	s.Shards = max(s.Shards, 1)
	if s.Cores == 0 {
		s.Cores = m.cores
	}
	switch {
	case s.Ranges == 0 && s.Threads == 0:
		s.Ranges = s.Shards * s.Cores
		s.Threads = s.Ranges
	case s.Ranges == 0:
		s.Ranges = s.Threads
	case s.Threads == 0:
		s.Threads = min(s.Ranges, s.Shards*s.Cores)
	}
	switch {
	case s.Documents < 0 || s.Keys < 0 || s.Cores < 0 || s.Ranges < 0 || s.Threads < 0:
		return s, errors.New("numbers below 0 can't be predicted")
	case s.Keys > s.Documents:
		return s, fmt.Errorf("%s keys are more than the %s documents: each has one", report.Thousands(s.Keys), report.Thousands(s.Documents))
	case s.Documents/SenselessFar > d.Documents:
		return s, fmt.Errorf("%s documents are more than %s times the %s that were measured: measure at least %s",
			report.Thousands(s.Documents), report.Thousands(SenselessFar), report.Thousands(d.Documents), report.Thousands(s.Documents/FarTimes))
	}
	return s, nil
}

// predict is one row's time.
func (c *costs) predict(s Setup, imbalance, bytesPerSecond float64) Prediction {
	last := c.last()
	p := *last
	p.Setup, p.imbalance = s, imbalance
	if !p.inRanges {
		p.Ranges, p.Threads = 1, 1
	}
	if p.Ranges == 1 {
		p.imbalance = 1
	}
	merge := 0.0
	if p.inRanges && p.Ranges > 1 {
		merge = dot(p.moved(), c.merge)
	}
	times := make([]float64, 0, len(c.fits)+1)
	for _, costs := range c.fits {
		times = append(times, dot(p.columns(c.busy), costs)+merge)
	}
	if more := float64(p.Documents) / float64(last.Documents); c.growth > 0 && more > 1 { // it may go on like that on each shard
		work := (last.high - last.merge) / last.share(c.busy) * more
		steeper := math.Pow(more*float64(last.Shards)/float64(p.Shards), c.growth-1)
		times = append(times, p.share(c.busy)*work*max(1, steeper)+merge)
	}
	x := Prediction{ID: c.id, Threads: p.Threads, Ranges: p.Ranges, Seconds: times[0], Low: times[0], High: times[0], Merge: merge}
	for _, t := range times {
		x.Low, x.High = min(x.Low, t), max(x.High, t)
	}
	if !p.inRanges {
		x.Merge = p.parts() * (c.fits[0][0] + c.fits[0][3]*p.doubled())
	}
	if last.Keys > 0 && last.received > float64(last.Keys) { // less is no answer: that stays on the server
		x.Bytes = last.received / float64(last.Keys) * float64(p.Keys)
	}
	x.Bound = c.bound(&p, x)
	if bytesPerSecond > 0 && x.Bytes/bytesPerSecond > x.Seconds {
		x.Bound = "network"
		for _, t := range []*float64{&x.Seconds, &x.Low, &x.High} {
			*t = max(*t, x.Bytes/bytesPerSecond)
		}
	}
	return x
}

// bound says what most of the time goes into.
func (c *costs) bound(p *point, x Prediction) string {
	fixed := c.fits[0][1] * p.commands() * p.share(c.busy)
	cores, at := float64(p.Shards*p.Cores), float64(min(p.Ranges, p.Threads))
	work := "JavaScript"
	switch lone(c.id) {
	case "agg":
		work = "grouping"
	case "agg-covered":
		work = "index"
	}
	full := p.inRanges && (c.busy/cores >= p.waves() || at*c.busy >= 0.9*cores) || !p.inRanges && c.busy > 0.9*float64(p.Cores)
	switch {
	case x.Merge > x.Seconds/2:
		return "merge on one shard"
	case fixed > x.Seconds/2:
		return "fixed costs"
	case p.inRanges && (p.imbalance-1)/float64(p.Ranges) > max(p.waves(), c.busy/cores)/4:
		return "the largest range"
	case full && cores > 1:
		return fmt.Sprintf("%s, all %.0f cores", work, cores)
	case full:
		return work + ", the only core"
	case p.inRanges:
		return fmt.Sprintf("%s, %.0f at a time", work, at)
	case p.Shards > 1:
		return work + ", 1 a shard"
	}
	return work + ", 1 command"
}
