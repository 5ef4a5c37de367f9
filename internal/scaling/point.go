package scaling

import (
	"math"
	"slices"
	"strings"

	"mrbench/internal/bench"
)

// Setup is what rows run on, and how.
type Setup struct {
	Documents int64 `json:"documents"`
	Keys      int64 `json:"keys"`    // different values of the key
	Shards    int   `json:"shards"`  // 1: no cluster
	Cores     int   `json:"cores"`   // of one shard
	Ranges    int   `json:"ranges"`  // of the rows in ranges
	Threads   int   `json:"threads"` // commands at a time of the rows in ranges
}

// point is a row of one result.
type point struct {
	Setup
	inRanges  bool
	imbalance float64
	restores  bool // the merge turns keys back, so that it moves all of them

	low, median, high float64 // seconds of the fastest, middle and slowest run
	merge             float64 // seconds, inside of them
	cpu               float64 // cores kept busy on the average; 0 not known
	received          float64 // bytes by the client
}

// pointOf is nil when the row has no time.
func pointOf(r *bench.Result, row bench.Row, cores int) *point {
	if row.Seconds == nil || row.Seconds.Median <= 0 {
		return nil
	}
	p := &point{
		Setup:     Setup{Documents: r.Dataset.Documents, Keys: keysOf(row), Shards: shardsOf(r), Cores: cores, Ranges: max(row.Ranges, 1), Threads: max(row.Threads, 1)},
		imbalance: 1, low: row.Seconds.Min, median: row.Seconds.Median, high: row.Seconds.Max,
		restores: row.Mode == "js" || row.Mode == "mixed",
	}
	p.inRanges = strings.Contains(row.ID, "ranges")
	if p.inRanges && r.Split != nil {
		p.imbalance = max(r.Split.Imbalance, 1)
	}
	if row.MergeSeconds != nil {
		p.merge = min(*row.MergeSeconds, 0.9*p.low)
	}
	if u := row.Usage; u != nil {
		p.cpu = cpuSeconds(r, u) / p.median
		if u.ReceivedBytes != nil {
			p.received = float64(*u.ReceivedBytes)
		}
	}
	return p
}

// shardsOf is how many shards did the work, as far as the rows tell.
func shardsOf(r *bench.Result) int {
	n := 1
	for _, row := range r.Rows {
		named := 0
		for _, s := range row.Shards {
			if s.Shard != "" {
				named++
			}
		}
		n = max(n, named)
	}
	return n
}

func keysOf(row bench.Row) int64 {
	switch {
	case row.Answer != nil:
		return row.Answer.Keys
	case row.Counts.Output != nil:
		return *row.Counts.Output
	}
	return 0
}

// cpuSeconds is the processor time on the server's host, as far as it is known.
func cpuSeconds(r *bench.Result, u *bench.Usage) (sum float64) {
	all := []*float64{u.ProcessCPUSeconds, u.ServerCPUSeconds}
	if r.Telemetry != nil && r.Telemetry.Server == bench.SameHost && u.ServerCPUSeconds != nil {
		all = append(all, u.ClientCPUSeconds)
	}
	for _, s := range all {
		if s != nil {
			sum += *s
		}
	}
	return sum
}

// lone is the row of one command that a row in ranges is made of.
func lone(id string) string {
	switch {
	case strings.HasPrefix(id, "agg-covered"):
		return "agg-covered"
	case strings.HasPrefix(id, "agg"):
		return "agg"
	case strings.Contains(id, "unsorted"):
		return "mr"
	}
	return "mr-sort"
}

// share is the wall time of a row's commands, over the time that they take one after another; u is the cores that one keeps busy.
func (p *point) share(u float64) float64 {
	cores := float64(p.Shards * p.Cores)
	if !p.inRanges {
		return max(1, u/float64(p.Cores)) / float64(p.Shards)
	}
	return max(p.waves(), u/cores)
}

// waves is share as far as the number of ranges and threads goes.
func (p *point) waves() float64 {
	r, at := float64(p.Ranges), float64(min(p.Ranges, p.Threads))
	return (math.Ceil(r/at) + p.imbalance - 1) / r
}

// perDocument is keys for each document.
func (p *point) perDocument() float64 { return float64(p.Keys) / float64(p.Documents) }

// commands is how many a row sends.
func (p *point) commands() float64 {
	if p.inRanges {
		return float64(p.Ranges)
	}
	return float64(p.Shards)
}

// columns are what the four costs of a row are multiplied by to give its time without the merge of ranges: those of
// documents, commands, keys, and documents times the logarithm.
func (p *point) columns(u float64) []float64 {
	share := p.share(u)
	documents := share*float64(p.Documents) + p.parts()
	return []float64{documents, share * p.commands(), share * float64(p.Keys), documents * p.doubled()}
}

// doubled is how often one document has to be doubled to be those of a command: what sorting costs each.
func (p *point) doubled() float64 { return math.Log2(max(2, float64(p.Documents)/p.commands())) }

// parts is how many parts of keys one shard puts together for a row of one command.
func (p *point) parts() float64 {
	if p.inRanges || p.Shards == 1 {
		return 0
	}
	return float64(p.Keys)
}

// moved are what the costs of the merge are multiplied by: keys that are written once more, and outputs.
func (p *point) moved() []float64 {
	k, r := float64(p.Keys), float64(p.Ranges)
	if p.Shards == 1 && !p.restores {
		k *= (r - 1) / r
	}
	return []float64{k, r}
}

// sizes counts different numbers of documents and keys. spread says that documents per key differ.
func sizes(points []*point) (documents, both int, spread bool) {
	var n [][2]int64
	var docs []int64
	least, most := math.Inf(1), 0.0
	for _, p := range points {
		if size := [2]int64{p.Documents, p.Keys}; !slices.Contains(n, size) {
			n = append(n, size)
		}
		if !slices.Contains(docs, p.Documents) {
			docs = append(docs, p.Documents)
		}
		least, most = min(least, p.perDocument()), max(most, p.perDocument())
	}
	return len(docs), len(n), most > 1.1*least
}
