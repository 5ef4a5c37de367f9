package page

import (
	"cmp"
	"fmt"
	"slices"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// timeline shows which thread worked on which range when, in a row's last run.
type timeline struct {
	N         int
	ID, Label string
	Lanes     []lane
	Height    int // of all lanes, pixels
	Ticks     []tick
	Merge     *span // making one answer of the parts
	Summary   string
	Alt       string
	Notes     []string
	Shards    []shardKey // what the colours mean; nil where nothing is known of shards
}

// shardKey is a shard in a timeline's legend.
type shardKey struct {
	Name, Summary string
	N             int // which of the colours
}

type lane struct {
	Name  string
	Y     int // pixels
	Text  int // baseline of its text
	Spans []span
}

type span struct {
	X, Width string
	Text     string // "" when there is no room for it
	TextX    string
	Title    string
	Odd      bool
	Shard    string // class of its colour, "" none
}

const (
	laneHeight = 26
	// mostLanes is how many threads are drawn.
	mostLanes = 16
	// mostSpans is how many ranges of a row are drawn one by one; of more, short ones are joined with their neighbours.
	mostSpans = 128
	// roomForText is the share of the width that a range's number needs on a narrow page.
	roomForText = 0.09
)

func timelines(r *bench.Result) []timeline {
	var all []timeline
	for i, row := range r.Rows {
		if len(row.Parts) > 1 && row.Seconds != nil && len(row.Seconds.All) > 0 {
			all = append(all, timelineOf(i, row))
		}
	}
	return all
}

func timelineOf(i int, row bench.Row) timeline {
	end, busy, longest, threads := 0.0, 0.0, 0.0, 0
	for _, p := range row.Parts {
		end = max(end, p.Start+p.Seconds)
		busy += p.Seconds
		longest = max(longest, p.Seconds)
		threads = max(threads, p.Thread+1)
	}
	wall := max(end, row.Seconds.All[len(row.Seconds.All)-1])
	axis := timeScale(wall, 4)
	at := func(seconds float64) string { return percent(seconds, axis.end) }
	t := timeline{N: i + 1, ID: row.ID, Label: row.Label, Ticks: axis.ticks}
	drawn := min(threads, mostLanes)
	t.Height = drawn * laneHeight
	least := 0.0 // narrower ranges are joined to the one before
	if len(row.Parts) > mostSpans {
		least = axis.end / float64(max(10, mostSpans/max(1, drawn)))
		t.Notes = append(t.Notes, fmt.Sprintf("%s ranges: short ones are drawn as one with their neighbours", report.Thousands(int64(len(row.Parts)))))
	}
	if drawn < threads {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d threads are drawn", drawn, threads))
	}
	shards := shardKeys(row)
	t.Shards = shards
	for n := range drawn {
		l := lane{Name: fmt.Sprintf("thread %d", n+1), Y: n * laneHeight, Text: n*laneHeight + 17}
		type piece struct {
			from, to    float64
			first, last int
		}
		of := func(k int) int { return shardOf(shards, row.Parts[k].Shard) }
		var pieces []piece
		for _, k := range ofThread(row.Parts, n) {
			p := row.Parts[k]
			if m := len(pieces) - 1; m >= 0 && least > 0 && (p.Seconds < least || pieces[m].to-pieces[m].from < least) && of(pieces[m].last) == of(k) {
				pieces[m].to, pieces[m].last = p.Start+p.Seconds, k
				continue
			}
			pieces = append(pieces, piece{p.Start, p.Start + p.Seconds, k, k})
		}
		for j, p := range pieces {
			s := span{X: at(p.from), Width: at(p.to - p.from), Odd: j%2 == 1}
			name := fmt.Sprintf("%d", p.first+1)
			s.Title = fmt.Sprintf("range %d, from %s to %s: %s", p.first+1, row.Parts[p.first].From, row.Parts[p.first].To, duration(p.to-p.from))
			if p.last != p.first {
				name, s.Title = "", ""
			}
			if c := of(p.first); c >= 0 {
				s.Shard = fmt.Sprintf("shard%d", c)
				if s.Title != "" {
					s.Title += ", on " + cmp.Or(row.Parts[p.first].Shard, "several shards")
				}
			}
			if p.to-p.from > roomForText*axis.end {
				s.Text, s.TextX = name, at((p.from+p.to)/2)
			}
			l.Spans = append(l.Spans, s)
		}
		t.Lanes = append(t.Lanes, l)
	}
	if m := row.MergeSeconds; m != nil && wall > end && *m > 0 {
		t.Merge = &span{X: at(end), Width: at(wall - end), Title: fmt.Sprintf("the %s after it, mostly the merge", duration(wall-end))}
	}
	share := 0.0
	if end > 0 && threads > 0 {
		share = busy / (end * float64(threads))
	}
	mean := busy / float64(len(row.Parts))
	t.Summary = fmt.Sprintf("%s ranges, %d threads, at work %.0f %% of the time until the last range was done. Longest range: %.2f times the mean.",
		report.Thousands(int64(len(row.Parts))), threads, share*100, ratio(longest, mean))
	t.Alt = fmt.Sprintf("Timeline of %s: %s", row.ID, t.Summary)
	for _, k := range shards {
		t.Alt += fmt.Sprintf(" %s: %s.", k.Name, k.Summary)
	}
	return t
}

// shardColours is how many shards are told apart by colour; more take turns.
const shardColours = 6

// shardKeys are the shards of a row's ranges, in order of their names; the ranges on several come last.
func shardKeys(row bench.Row) (keys []shardKey) {
	for _, s := range row.Shards {
		if s.Shard == "" {
			continue
		}
		keys = append(keys, shardKey{Name: s.Shard, Summary: shardSummary(s), N: len(keys) % shardColours})
	}
	if len(keys) == 0 {
		return nil
	}
	for _, s := range row.Shards {
		if s.Shard == "" && s.Ranges > 0 {
			keys = append(keys, shardKey{Name: "several shards", Summary: shardSummary(s), N: shardColours})
		}
	}
	return keys
}

func shardSummary(s bench.ShardLoad) string {
	text := fmt.Sprintf("%s ranges", report.Thousands(int64(s.Ranges)))
	if s.Ranges == 1 {
		text = "1 range"
	}
	if s.Documents > 0 {
		text += ", " + report.Thousands(s.Documents) + " documents"
	}
	return text + ", busy " + duration(s.Seconds)
}

// shardOf is a shard's colour, -1 none.
func shardOf(keys []shardKey, name string) int {
	for _, k := range keys {
		if k.Name == name || name == "" && k.N == shardColours {
			return k.N
		}
	}
	return -1
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 1
	}
	return a / b
}

// ofThread are the indexes of a thread's parts in the order they were begun.
func ofThread(parts []bench.Part, thread int) []int {
	var of []int
	for i, p := range parts {
		if p.Thread == thread {
			of = append(of, i)
		}
	}
	slices.SortStableFunc(of, func(a, b int) int {
		switch {
		case parts[a].Start < parts[b].Start:
			return -1
		case parts[a].Start > parts[b].Start:
			return 1
		}
		return 0
	})
	return of
}
