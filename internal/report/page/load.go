package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// load is the load of server and host over the whole run: panels above each other on one time axis.
type load struct {
	Panels []panel
	Bands  []band
	Shade  string // path of every second row's runs in the inner view
	Top    string // where the line of a panel's highest value is
	Ticks  []tick
	Notes  []string
}

type panel struct {
	Title string
	Alt   string
	Lines []line
	Top   string // what the top line means
}

type line struct {
	Name    string
	N       int // which of the panel's strokes
	D       string
	Summary string
}

// band is one run of a row.
type band struct {
	X, Width, TextX, Text, Title string
	Odd, Warmup                  bool
}

const (
	innerWidth, innerHeight = 1000.0, 100.0
	mostSteps               = 600 // of a line
	mostBands               = 300
	leastStep               = 1.5   // width of what would be too short to see
	roomForDigit            = 0.024 // share of the width that a digit needs on a narrow page
	aboveTop                = 1.2   // height of a panel over its highest value
)

// quantity is a line that can be in a panel.
type quantity struct {
	name  string
	level bool // the highest of an interval counts, else the mean
	of    func(*bench.Series) []float64
}

type panelKind struct {
	title string
	text  func(float64) string
	lines []quantity
}

// panelKinds are the panels after that of the throughput, in their order. A line that is not known or nowhere above 0 is left out,
// and so is a panel without lines.
var panelKinds = []panelKind{
	{"Processors in use", func(v float64) string { return trimmed(v, 2) }, []quantity{
		{"server", false, func(s *bench.Series) []float64 { return s.ServerCPU }},
		{"mrbench", false, func(s *bench.Series) []float64 { return s.ClientCPU }},
		{"server and mrbench in one process", false, func(s *bench.Series) []float64 { return s.ProcessCPU }},
	}},
	{"Memory", bytesText, []quantity{
		{"server", true, func(s *bench.Series) []float64 { return s.ServerMemoryBytes }},
		{"mrbench", true, func(s *bench.Series) []float64 { return s.ClientMemoryBytes }},
		{"server and mrbench in one process", true, func(s *bench.Series) []float64 { return s.ProcessMemoryBytes }},
	}},
	{"Storage engine's cache", bytesText, []quantity{
		{"in use", true, func(s *bench.Series) []float64 { return s.CacheBytes }},
		{"not written yet", true, func(s *bench.Series) []float64 { return s.CacheDirtyBytes }},
	}},
	{"Network, as mrbench sees it", rate(bytesText), []quantity{
		{"received", false, func(s *bench.Series) []float64 { return s.ReceivedBytes }},
		{"sent", false, func(s *bench.Series) []float64 { return s.SentBytes }},
	}},
	{"Disk, the server's process", rate(bytesText), []quantity{
		{"written", false, func(s *bench.Series) []float64 { return s.DiskWrittenBytes }},
		{"read", false, func(s *bench.Series) []float64 { return s.DiskReadBytes }},
	}},
	{"Documents, by the server's counters", rate(countText), []quantity{
		{"returned", false, func(s *bench.Series) []float64 { return s.DocumentsReturned }},
		{"inserted", false, func(s *bench.Series) []float64 { return s.DocumentsInserted }},
	}},
	{"Operations", rate(countText), []quantity{
		{"commands", false, func(s *bench.Series) []float64 { return s.Commands }},
		{"getMores", false, func(s *bench.Series) []float64 { return s.GetMores }},
		{"inserts", false, func(s *bench.Series) []float64 { return s.Inserts }},
		{"queries", false, func(s *bench.Series) []float64 { return s.Queries }},
		{"updates", false, func(s *bench.Series) []float64 { return s.Updates }},
		{"deletes", false, func(s *bench.Series) []float64 { return s.Deletes }},
	}},
	{"Clients", countText, []quantity{
		{"connections", true, func(s *bench.Series) []float64 { return s.Connections }},
		{"at work", true, func(s *bench.Series) []float64 { return s.Active }},
		{"waiting for a lock", true, func(s *bench.Series) []float64 { return s.Queued }},
	}},
	{"Waiting for locks", func(v float64) string { return trimmed(v, 3) + " s/s" }, []quantity{
		{"all operations", false, func(s *bench.Series) []float64 { return s.LockWait }},
	}},
}

func trimmed(v float64, decimals int) string {
	s := fmt.Sprintf("%.*f", decimals, v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

func bytesText(v float64) string { return report.Bytes(int64(v)).Text }

func countText(v float64) string {
	if v < 10 {
		return trimmed(v, 1)
	}
	return report.Thousands(int64(v + 0.5))
}

func rate(text func(float64) string) func(float64) string {
	return func(v float64) string { return text(v) + "/s" }
}

// observedRuns are the runs in the order of their time, with what was observed; without telemetry, with their time alone.
func observedRuns(r *bench.Result) []bench.Series {
	var runs []bench.Series
	if r.Telemetry != nil {
		for _, s := range r.Telemetry.Runs {
			if len(s.At) > 0 {
				runs = append(runs, s)
			}
		}
	}
	if len(runs) > 0 {
		return runs
	}
	for _, s := range r.Samples {
		if s.Seconds > 0 {
			runs = append(runs, bench.Series{Row: s.Row, Round: s.Round, Warmup: s.Warmup, Start: s.Start, At: []float64{s.Seconds}})
		}
	}
	return runs
}

// throughput is how many documents of the collection a run got through in a second, on average over its time.
func throughput(r *bench.Result) panelKind {
	type run struct {
		row   string
		round int
	}
	perSecond := map[run]float64{}
	for _, s := range r.Samples {
		if s.Seconds > 0 {
			perSecond[run{s.Row, s.Round}] = float64(r.Dataset.Documents) / s.Seconds
		}
	}
	return panelKind{"Throughput of each run", rate(countText), []quantity{{"documents of the collection", false, func(s *bench.Series) []float64 {
		x, ok := perSecond[run{s.Row, s.Round}]
		if !ok {
			return nil
		}
		return slices.Repeat([]float64{x}, len(s.At))
	}}}}
}

func peak(runs []bench.Series, q quantity) (most float64) {
	for i := range runs {
		for _, v := range q.of(&runs[i]) {
			most = max(most, v)
		}
	}
	return most
}

// step is a value from one moment to another, in seconds on the time axis.
type step struct {
	from, to, value float64
	run             int
}

func loadOf(r *bench.Result) *load {
	runs := observedRuns(r)
	if len(runs) == 0 {
		return nil
	}
	slices.SortStableFunc(runs, func(a, b bench.Series) int { return cmp.Compare(a.Start, b.Start) })
	begin, end := runs[0].Start, 0.0
	for _, s := range runs {
		end = max(end, s.Start+s.At[len(s.At)-1])
	}
	axis := timeScale(end-begin, 5)
	axis.end = max(end-begin, 1e-6)
	for i := range axis.ticks {
		t := &axis.ticks[i]
		t.At = percent(t.value, axis.end)
		if t.value > axis.end*0.95 {
			t.Side = "end"
		}
	}
	axis.ticks = slices.DeleteFunc(axis.ticks, func(t tick) bool { return t.value > axis.end })
	l := &load{Ticks: axis.ticks, Top: percent(aboveTop-1, aboveTop)}
	l.bands(r, runs, begin, axis.end)
	if r.Telemetry != nil {
		l.Notes = r.Telemetry.Notes
	}
	for _, k := range append([]panelKind{throughput(r)}, panelKinds...) {
		p := panel{Title: k.title}
		top := 0.0
		var all [][]step
		for _, q := range k.lines {
			steps := stepsOf(runs, q, begin, axis.end)
			most := peak(runs, q)
			if most == 0 || len(steps) == 0 {
				continue
			}
			top = max(top, most)
			all = append(all, steps)
			p.Lines = append(p.Lines, line{Name: q.name, N: len(p.Lines), Summary: summary(runs, q, k.text)})
		}
		if len(all) == 0 {
			continue
		}
		height := top * aboveTop
		for i, steps := range all {
			p.Lines[i].D = path(steps, axis.end, height)
		}
		p.Top = k.text(top)
		p.Alt = k.title + " over time. "
		for _, x := range p.Lines {
			p.Alt += fmt.Sprintf("%s: %s. ", x.Name, x.Summary)
		}
		l.Panels = append(l.Panels, p)
	}
	if len(l.Panels) == 0 {
		return nil
	}
	return l
}

// bands are the runs behind the lines, numbered as the rows are where there is room.
func (l *load) bands(r *bench.Result, runs []bench.Series, begin, length float64) {
	if len(runs) > mostBands {
		return
	}
	var shade strings.Builder
	for _, s := range runs {
		row := slices.IndexFunc(r.Rows, func(row bench.Row) bool { return row.ID == s.Row })
		from, long := s.Start-begin, s.At[len(s.At)-1]
		b := band{
			X: percent(from, length), Width: percent(long, length), Odd: row%2 == 1, Warmup: s.Warmup,
			Title: fmt.Sprintf("%s, run %d", s.Row, s.Round),
		}
		if s.Warmup {
			b.Title = s.Row + ", warm-up"
		}
		if number := fmt.Sprint(row + 1); row >= 0 && long > roomForDigit*float64(len(number))*length {
			b.Text, b.TextX = number, percent(from+long/2, length)
		}
		l.Bands = append(l.Bands, b)
		if b.Odd {
			fmt.Fprintf(&shade, "M%s 0V%gH%sV0z", short1(from/length*innerWidth), innerHeight, short1((from+long)/length*innerWidth))
		}
	}
	l.Shade = shade.String()
}

// stepsOf is a quantity over all runs, in at most about mostSteps steps.
func stepsOf(runs []bench.Series, q quantity, begin, length float64) []step {
	least := length / mostSteps
	across := len(runs) > mostSteps // runs are so many that they have to be joined
	var out []step
	for n := range runs {
		s := &runs[n]
		values := q.of(s)
		if len(values) != len(s.At) {
			continue
		}
		before := 0.0
		for i, at := range s.At {
			x := step{s.Start - begin + before, s.Start - begin + at, values[i], n}
			before = at
			if m := len(out) - 1; m >= 0 && (across || out[m].run == n) && x.to-out[m].from <= least {
				out[m] = joined(out[m], x, q.level)
				continue
			}
			out = append(out, x)
		}
	}
	return out
}

func joined(a, b step, level bool) step {
	value := max(a.value, b.value)
	if long := (a.to - a.from) + (b.to - b.from); !level && long > 0 {
		value = (a.value*(a.to-a.from) + b.value*(b.to-b.from)) / long
	}
	return step{a.from, b.to, value, b.run}
}

// path draws steps in the inner view. Between runs there is a gap: nothing was observed.
func path(steps []step, length, height float64) string {
	var b strings.Builder
	for i, s := range steps {
		from, to := s.from/length*innerWidth, s.to/length*innerWidth
		x0, x1 := short1(from), short1(max(to, from+leastStep))
		y := short1(innerHeight - s.value/height*innerHeight)
		if i > 0 && steps[i-1].run == s.run {
			fmt.Fprintf(&b, "V%sH%s", y, x1)
		} else {
			fmt.Fprintf(&b, "M%s %sH%s", x0, y, x1)
		}
	}
	return b.String()
}

// short1 has one decimal, which is finer than a pixel.
func short1(x float64) string { return trimmed(x, 1) }

// summary is the peak, and for amounts the mean over the time that was observed.
func summary(runs []bench.Series, q quantity, text func(float64) string) string {
	most, sum, long := peak(runs, q), 0.0, 0.0
	for i := range runs {
		values := q.of(&runs[i])
		before := 0.0
		for k, v := range values {
			if k < len(runs[i].At) {
				sum += v * (runs[i].At[k] - before)
				long += runs[i].At[k] - before
				before = runs[i].At[k]
			}
		}
	}
	if q.level || long == 0 {
		return "peak " + text(most)
	}
	return fmt.Sprintf("mean %s, peak %s", text(sum/long), text(most))
}
