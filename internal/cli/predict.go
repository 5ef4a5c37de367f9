package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/scaling"
)

type predictOptions struct {
	scaling.Setup
	measuredCores int
	network       int // megabits a second
	check         bool
}

func (a *app) newPredict() *cobra.Command {
	var o predictOptions
	c := &cobra.Command{
		Use:   "predict [flags] [RESULT...]",
		Short: "Predicts the ladder for more documents, cores and shards from saved results",
		Long: `predict works out what each row would take with other numbers of documents, keys, cores and shards, from
results that run saved, by a small model that docs/scaling.md describes. No server is asked. RESULT is as
for compare; without one it is the latest. One result gives what a document costs. A second one, of another size, tells
what every command costs once, whatever it reads; a third, with other keys for each document, what a key costs.

The band is what comes out when measured times are replaced by those of the fastest and the slowest
run. It knows how times vary, not how wrong the model is. --check shows that: all results but the
last are learnt from, the last is predicted as it was measured, and both are set side by side.

All that is not said stays as it was measured: keys in proportion to documents, one shard, and as many
cores as the measured machine had. There is a range for each core, and a thread for each range.`,
		Example: `  mrbench predict small.ndjson large.ndjson --docs 1e9 --shards 4 --cores 8
  mrbench predict latest --cores 16
  mrbench predict --check small.ndjson large.ndjson
  mrbench predict --docs 1e9 --shards 4 --cores 8 --network 1000 -o markdown`,
		Args: cobra.ArbitraryArgs,
		Annotations: map[string]string{exitAnnotation: `  0  done
  1  failed, or a result has nothing to predict from
  2  wrong flag, argument or setting`},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.check {
				for _, name := range []string{"docs", "keys", "shards", "cores", "ranges", "threads", "network"} {
					if cmd.Flags().Changed(name) {
						return usageError("--check predicts a result as it was measured, so --%s has no place beside it", name)
					}
				}
				return a.runPredictCheck(args, o)
			}
			return a.runPredict(args, o)
		},
	}
	countFlag(c, &o.Documents, "docs", 0, 0, "documents; 0 is as many as were measured")
	countFlag(c, &o.Keys, "keys", 0, 0, "different values of the key; 0 is in proportion to documents")
	intFlag(c, &o.Shards, "shards", 1, 1, 10_000, "shards of the cluster; 1 is a server without one")
	intFlag(c, &o.Cores, "cores", 0, 0, 10_000, "processors of each shard; 0 is as many as the measured machine has")
	intFlag(c, &o.Ranges, "ranges", 0, 0, 100_000, "ranges of the rows that have some; 0 is as many as threads, or one for each core")
	intFlag(c, &o.Threads, "threads", 0, 0, 100_000, "commands at a time; 0 is as many as ranges, up to one for each core")
	intFlag(c, &o.network, "network", 0, 0, 10_000_000, "megabits a second that the client can receive; 0 is no limit")
	intFlag(c, &o.measuredCores, "measured-cores", 0, 0, 10_000, "processors of the measured server; 0 is as many as the machine that measured has")
	c.Flags().BoolVar(&o.check, "check", false, "predict the last result from those before it, and show how far off that is")
	return c
}

// prediction is what -o json prints.
type prediction struct {
	From []predictedFrom `json:"from"`
	*scaling.Forecast
}

// predictionCheck is what --check -o json prints.
type predictionCheck struct {
	From []predictedFrom `json:"from"`
	Of   predictedFrom   `json:"of"`
	*scaling.Checks
}

// predictedFrom is a result that is used.
type predictedFrom struct {
	File      string `json:"file"`
	RunID     string `json:"run_id"`
	Documents int64  `json:"documents"`
	Server    string `json:"server"`
	Cores     int    `json:"cores"`
}

// learn fits the model to results.
func (a *app) learn(picks []picked, o predictOptions) (*scaling.Model, []predictedFrom, error) {
	var results []*bench.Result
	var from []predictedFrom
	for _, p := range picks {
		results = append(results, p.result())
		from = append(from, o.from(p))
	}
	m, err := scaling.Fit(results, o.measuredCores)
	return m, from, err
}

func (o predictOptions) from(p picked) predictedFrom {
	r := p.result()
	f := predictedFrom{p.name, r.Context.RunID, r.Dataset.Documents, serverName(r.Server), r.Context.CPUs}
	if o.measuredCores > 0 {
		f.Cores = o.measuredCores
	}
	return f
}

func (f predictedFrom) String() string {
	return fmt.Sprintf("%s: %s documents, %s, %s", f.File, report.Thousands(f.Documents), f.Server, plural(f.Cores, "core"))
}

func (a *app) runPredict(args []string, o predictOptions) error {
	if len(args) == 0 {
		args = []string{latest}
	}
	picks, err := a.pick(args)
	if err != nil {
		return err
	}
	m, from, err := a.learn(picks, o)
	if err != nil {
		return err
	}
	f, err := m.Predict(o.Setup, float64(o.network)*1e6/8)
	if err != nil {
		return usageError("%w", err)
	}
	x := prediction{from, f}
	return a.printAs(x, x.csv(), x.table(o.network))
}

func (a *app) runPredictCheck(args []string, o predictOptions) error {
	switch len(args) {
	case 0:
		args = []string{latest + "~1", latest}
	case 1:
		args = []string{args[0], latest}
	}
	picks, err := a.pick(args)
	if err != nil {
		return err
	}
	last := len(picks) - 1
	m, from, err := a.learn(picks[:last], o)
	if err != nil {
		return err
	}
	c, err := m.Check(picks[last].result(), o.measuredCores)
	if err != nil {
		return err
	}
	x := predictionCheck{from, o.from(picks[last]), c}
	return a.printAs(x, x.csv(), x.table())
}

func setupText(s scaling.Setup) string {
	on := plural(s.Cores, "core")
	if s.Shards > 1 {
		on = fmt.Sprintf("%d shards of %s", s.Shards, on)
	}
	return fmt.Sprintf("%s, %s; %s, %s, %d at a time", some(s.Documents, "document"), some(s.Keys, "key"), on, plural(s.Ranges, "range"), s.Threads)
}

// timeColumn shows all times of a table alike. From a thousand seconds on, their fractions say nothing.
func timeColumn(largest float64) (unit string, cell func(seconds float64) report.Cell) {
	u := report.UnitFor(largest)
	if largest < 1000 {
		return u.Name, u.Time
	}
	return u.Name, func(s float64) report.Cell { return report.Fixed(s, 0) }
}

func (x prediction) table(network int) *report.Table {
	largest := 0.0
	for _, r := range x.Rows {
		largest = max(largest, r.High)
	}
	unit, time := timeColumn(largest)
	t := &report.Table{
		Title: "predicted: " + setupText(x.Setup),
		Columns: []report.Column{
			{Title: "row", Name: "id", Left: true}, {Title: "thr", Drop: 5}, {Title: "rng", Drop: 5}, {Title: unit}, {Title: "band"},
			{Title: "merge " + unit, Drop: 3}, {Title: "speed-up"}, {Title: "to client", Drop: 4}, {Title: "bound by", Left: true, Drop: 1},
		},
	}
	for _, r := range x.Rows {
		merge, bytes := report.Missing(), report.Missing()
		if r.Merge > 0 {
			merge = time(r.Merge)
		}
		if r.Bytes > 0 {
			bytes = report.Bytes(int64(r.Bytes))
		}
		t.Add(report.Str(r.ID), report.Int(int64(r.Threads)), report.Int(int64(r.Ranges)), time(r.Seconds), band(time, r), merge,
			report.Times(r.Speedup), bytes, report.Str(r.Bound))
	}
	if x.Setup.Shards > 1 {
		t.Notes = append(t.Notes, "1 a shard: the command runs once on each shard, and then one shard puts the parts together")
	}
	if network > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("the client receives at most %s Mbit/s", report.Thousands(int64(network))))
	}
	for _, f := range x.From {
		t.Notes = append(t.Notes, "from "+f.String())
	}
	t.Notes = append(t.Notes, x.Notes...)
	return t
}

func band(time func(float64) report.Cell, r scaling.Prediction) report.Cell {
	if r.Low == r.High {
		return report.Missing()
	}
	return report.Str(time(r.Low).Text + " to " + time(r.High).Text)
}

func (x predictionCheck) table() *report.Table {
	largest := 0.0
	for _, r := range x.Rows {
		largest = max(largest, r.High, r.Measured)
	}
	unit, time := timeColumn(largest)
	t := &report.Table{
		Title: "checked: " + setupText(x.Setup),
		Columns: []report.Column{
			{Title: "row", Name: "id", Left: true}, {Title: "thr", Drop: 2}, {Title: "rng", Drop: 3}, {Title: "predicted " + unit}, {Title: "band", Drop: 1},
			{Title: "measured " + unit}, {Title: "ratio"}, {Title: "in band", Left: true},
		},
	}
	for _, r := range x.Rows {
		inside := report.Str("no")
		switch {
		case r.Inside:
			inside = report.Str("yes")
		case r.Low == r.High:
			inside = report.Missing()
		}
		t.Add(report.Str(r.ID), report.Int(int64(r.Threads)), report.Int(int64(r.Ranges)), time(r.Seconds), band(time, r.Prediction), time(r.Measured),
			report.Fixed(r.Ratio, 2), inside)
	}
	t.Notes = append(t.Notes, fmt.Sprintf("ratio is predicted over measured; on the average they are a factor of %.2f apart", x.Error))
	for _, f := range x.From {
		t.Notes = append(t.Notes, "from "+f.String())
	}
	t.Notes = append(t.Notes, "measured in "+x.Of.String())
	t.Notes = append(t.Notes, x.Notes...)
	return t
}

// predictColumns are those of a prediction and of a check in CSV.
const predictColumns = "id,threads,ranges,seconds,low_seconds,high_seconds,merge_seconds,speedup,client_bytes,bound,documents,keys,shards,cores"

func predictTable(more ...string) *report.Table {
	t := &report.Table{}
	for _, name := range append(strings.Split(predictColumns, ","), more...) {
		t.Columns = append(t.Columns, report.Column{Title: name})
	}
	return t
}

func predictCells(r scaling.Prediction, s scaling.Setup) []report.Cell {
	return []report.Cell{
		report.Str(r.ID), report.Int(int64(r.Threads)), report.Int(int64(r.Ranges)), report.Fixed(r.Seconds, 6), report.Fixed(r.Low, 6), report.Fixed(r.High, 6),
		report.Fixed(r.Merge, 6), report.Fixed(r.Speedup, 6), report.Int(int64(r.Bytes)), report.Str(r.Bound),
		report.Int(s.Documents), report.Int(s.Keys), report.Int(int64(s.Shards)), report.Int(int64(s.Cores)),
	}
}

func (x prediction) csv() *report.Table {
	t := predictTable()
	for _, r := range x.Rows {
		t.Add(predictCells(r, x.Setup)...)
	}
	return t
}

func (x predictionCheck) csv() *report.Table {
	t := predictTable("measured_seconds", "ratio", "inside_band")
	for _, r := range x.Rows {
		t.Add(append(predictCells(r.Prediction, x.Setup), report.Fixed(r.Measured, 6), report.Fixed(r.Ratio, 6), report.Str(fmt.Sprint(r.Inside)))...)
	}
	return t
}
