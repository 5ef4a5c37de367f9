package scaling

import (
	"errors"
	"fmt"
	"math"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// Checked is a row that was predicted and measured.
type Checked struct {
	Prediction
	Measured float64 `json:"measured_seconds"` // median
	Ratio    float64 `json:"ratio"`            // predicted over measured
	// Inside says that the predicted band and the measured runs have a time in common.
	Inside bool `json:"inside_band"`
}

// Checks is what Check finds.
type Checks struct {
	Setup Setup     `json:"setup"`
	Rows  []Checked `json:"rows"`
	// Error is the mean factor between predicted and measured, at least 1 (geometric mean over the rows, whichever is larger above).
	Error float64  `json:"mean_factor"`
	Notes []string `json:"notes"`
}

// Check predicts a result that the model does not know, row by row, as it was measured: documents, keys, ranges, threads. cores is as
// for Fit. Rows that either side lacks are named in the notes. It is an error when nothing differs.
func (m *Model) Check(r *bench.Result, cores int) (*Checks, error) {
	if err := usable(r, m.results[0]); err != nil {
		return nil, err
	}
	cores = coresOf(r, cores)
	c := &Checks{}
	logs, other := 0.0, false
	for _, row := range r.Rows {
		at, of := pointOf(r, row, cores), m.row(row.ID)
		switch {
		case at == nil:
			c.Notes = append(c.Notes, row.ID+" was not measured")
			continue
		case of == nil:
			c.Notes = append(c.Notes, row.ID+" is not in what was measured before")
			continue
		}
		for _, p := range of.points {
			other = other || p.Setup != at.Setup
		}
		x := of.predict(at.Setup, at.imbalance, 0) // how even ranges are, split tells beforehand
		k := Checked{Prediction: x, Measured: at.median, Ratio: x.Seconds / at.median, Inside: x.Low <= at.high && at.low <= x.High}
		c.Rows = append(c.Rows, k)
		logs += math.Abs(math.Log(k.Ratio))
		if at.inRanges || c.Setup.Documents == 0 {
			c.Setup = at.Setup
		}
	}
	switch {
	case len(c.Rows) == 0:
		return nil, fmt.Errorf("run %s has no row in common with %s that was measured in both", r.Context.RunID, names(m.results))
	case !other:
		return nil, errors.New("both have " + report.Thousands(r.Dataset.Documents) + " documents in the same ranges and threads: there is nothing to predict; measure another size")
	}
	for i := range c.Rows {
		c.Rows[i].Speedup = c.Rows[0].Seconds / c.Rows[i].Seconds
	}
	c.Error = math.Exp(logs / float64(len(c.Rows)))
	c.Notes = append(c.Notes, m.notes...)
	return c, nil
}
