package scaling

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mrbench/internal/bench"
)

// Limits of what is said.
const (
	FarTimes     = 100    // more documents than this many times the measured ones: with a warning
	SenselessFar = 10_000 // not at all
)

// Model is what the rows of some results cost.
type Model struct {
	rows     []*costs // in the ladder's order
	results  []*bench.Result
	largest  *bench.Result // by documents; of those with equally many the last
	cores    int           // of the machine that was measured
	notes    []string
	oneSize  bool
	keysDiff bool
}

// costs are a row's.
type costs struct {
	id     string
	points []*point
	busy   float64     // cores that one command keeps busy
	fits   [][]float64 // of columns; the first is of the medians, the others of fast and slow runs
	merge  []float64   // of moved
	growth float64     // exponent between the two largest sizes, when it is more than sorting explains; else 0
}

// Fit learns what rows cost from results of one job. cores is how many the measured server has; 0 is as many as the
// result's context says. Errors say which result can't be used.
func Fit(results []*bench.Result, cores int) (*Model, error) {
	if len(results) == 0 {
		return nil, errors.New("no result to predict from")
	}
	m := &Model{results: results}
	for _, r := range results {
		if err := usable(r, results[0]); err != nil {
			return nil, err
		}
		if m.largest == nil || r.Dataset.Documents >= m.largest.Dataset.Documents {
			m.largest = r
		}
	}
	m.cores = coresOf(m.largest, cores)
	for _, r := range results {
		for _, row := range r.Rows {
			m.add(r, row, coresOf(r, cores))
		}
	}
	var all []*point
	for _, c := range m.rows {
		all = append(all, c.points...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no row of %s has a time: measure some with mrbench run --ladder", names(results))
	}
	documents, both, spread := sizes(all)
	m.oneSize, m.keysDiff = both == 1, spread
	for _, c := range m.rows {
		c.busy = m.busy(c)
		c.fit()
	}
	m.remark(documents)
	return m, nil
}

// coresOf is how many processors a result was measured on, unless somebody knows better.
func coresOf(r *bench.Result, known int) int {
	if known > 0 {
		return known
	}
	return max(r.Context.CPUs, 1)
}

func usable(r, first *bench.Result) error {
	d := r.Dataset
	switch {
	case d.Documents <= 0:
		return fmt.Errorf("run %s: %s had no documents", r.Context.RunID, d.NS)
	case d.Job != first.Dataset.Job:
		return fmt.Errorf("run %s is of %s and run %s of %s: costs are of one job", first.Context.RunID, first.Dataset.What(), r.Context.RunID, d.What())
	case r.Server.Kind != first.Server.Kind:
		return fmt.Errorf("run %s is of %s and run %s of %s: costs are of one server", first.Context.RunID, first.Server.Kind, r.Context.RunID, r.Server.Kind)
	}
	return nil
}

func names(results []*bench.Result) string {
	text := "run " + results[0].Context.RunID
	for _, r := range results[1:] {
		text += " and run " + r.Context.RunID
	}
	return text
}

func (m *Model) add(r *bench.Result, row bench.Row, cores int) {
	p := pointOf(r, row, cores)
	if p == nil || p.Keys > p.Documents {
		return
	}
	i := slices.IndexFunc(m.rows, func(c *costs) bool { return c.id == row.ID })
	if i < 0 {
		i = len(m.rows)
		m.rows = append(m.rows, &costs{id: row.ID})
	}
	m.rows[i].points = append(m.rows[i].points, p)
}

func (m *Model) row(id string) *costs {
	for _, c := range m.rows {
		if c.id == id {
			return c
		}
	}
	return nil
}

// busy is how many cores one command of a row keeps at work, from the largest run that shows it.
func (m *Model) busy(c *costs) float64 {
	for _, of := range []*costs{c, m.row(lone(c.id))} {
		if of == nil {
			continue
		}
		u, n := 0.0, int64(0)
		for _, p := range of.points {
			if p.cpu > 0 && p.Shards == 1 && (!p.inRanges || min(p.Ranges, p.Threads) == 1) && p.Documents >= n {
				u, n = p.cpu, p.Documents
			}
		}
		if u > 0 {
			return u
		}
	}
	if p := c.last(); p.cpu > 0 && p.Shards == 1 {
		return p.cpu / float64(min(p.Ranges, p.Threads))
	}
	return 1
}

// last is the point with most documents.
func (c *costs) last() *point {
	best := c.points[0]
	for _, p := range c.points {
		if p.Documents >= best.Documents {
			best = p
		}
	}
	return best
}

// fit finds the costs for the medians, and for fast and slow runs.
func (c *costs) fit() {
	n := len(c.points)
	at := func(of func(i int) float64) { c.fits = append(c.fits, c.fitOnce(of)) }
	median := func(i int) float64 { return c.points[i].median }
	low := func(i int) float64 { return c.points[i].low }
	high := func(i int) float64 { return c.points[i].high }
	at(median)
	at(low)
	at(high)
	for odd := range n {
		if n == 1 {
			break
		}
		at(func(i int) float64 {
			if i == odd {
				return high(i)
			}
			return low(i)
		})
		at(func(i int) float64 {
			if i == odd {
				return low(i)
			}
			return high(i)
		})
	}
	var a [][]float64
	var y []float64
	for _, p := range c.points {
		if p.merge > 0 && p.Keys > 0 {
			a, y = append(a, p.moved()), append(y, p.merge)
		}
	}
	c.merge = make([]float64, 2)
	if len(y) > 0 {
		_, both, _ := sizes(c.points)
		c.merge = leastSquares(a, y, both)
	}
	c.steep()
}

// fitOnce takes seconds for the points' times. The costs meet the points with most documents.
func (c *costs) fitOnce(seconds func(i int) float64) []float64 {
	documents, both, spread := sizes(c.points)
	use := []int{0}
	if spread {
		use = append(use, 2)
	}
	if documents > 1 {
		use = append(use, 1, 3)
	}
	var a [][]float64
	var y []float64
	for i, p := range c.points {
		all := p.columns(c.busy)
		var line []float64
		for _, j := range use {
			line = append(line, all[j])
		}
		a, y = append(a, line), append(y, seconds(i)-p.merge)
	}
	x := make([]float64, 4)
	for j, v := range leastSquares(a, y, both) {
		x[use[j]] = v
	}
	sum, n := 0.0, 0.0
	for i, p := range c.points {
		if fitted := dot(p.columns(c.busy), x); p.Documents == c.last().Documents && fitted > 0 {
			sum += math.Log(y[i] / fitted)
			n++
		}
	}
	for j := range x {
		x[j] *= math.Exp(sum / n)
	}
	return x
}

// steep notes growth between the two largest sizes that not even sorting explains.
func (c *costs) steep() {
	big := c.last()
	var small *point
	for _, p := range c.points {
		if p.Documents < big.Documents && (small == nil || p.Documents >= small.Documents) {
			small = p
		}
	}
	if small == nil {
		return
	}
	work := func(p *point) float64 { return (p.median - p.merge) / p.share(c.busy) }
	times := float64(big.Documents) / float64(small.Documents)
	if grown := work(big) / work(small); grown > 1.1*times*big.doubled()/small.doubled() {
		c.growth = math.Log(grown) / math.Log(times)
	}
}
