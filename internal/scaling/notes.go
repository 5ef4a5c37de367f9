package scaling

import (
	"fmt"
	"slices"
	"strings"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// What servers can hold in a command.
const (
	jsModeKeys = 500_000 // of a mapReduce in jsMode, up to 4.2; beyond them it goes on as if without
	groupKeys  = 500_000 // that about fill the 100 MB of $group, at 200 bytes each; beyond them it writes to disk
)

// remark notes what the results lack.
func (m *Model) remark(documents int) {
	switch {
	case m.oneSize:
		m.notes = append(m.notes, "from one size: what each command costs once is taken for work on documents; a second size tells them apart")
	case documents == 1:
		m.notes = append(m.notes, "the results have equally many documents: what each command costs once is not known")
	}
	var once, steep, some, whole []string
	for _, c := range m.rows {
		if p := c.last(); strings.HasPrefix(c.id, "mr") && p.inRanges && p.Ranges > 1 && p.merge == 0 {
			whole = append(whole, c.id)
		}
		if !slices.ContainsFunc(c.points, func(p *point) bool { return p.low < p.high }) {
			once = append(once, c.id)
		}
		if c.growth > 0 {
			steep = append(steep, fmt.Sprintf("%s (documents to the power of %.2f)", c.id, c.growth))
		}
		if _, both, _ := sizes(c.points); !m.oneSize && both == 1 {
			some = append(some, c.id)
		}
	}
	if len(once) == len(m.rows) {
		m.notes = append(m.notes, "one run of each row: there is no band; measure with --runs 3 or more")
	} else if len(once) > 0 {
		m.notes = append(m.notes, "no band, as they were run once: "+strings.Join(once, ", "))
	}
	if len(some) > 0 {
		m.notes = append(m.notes, "measured at one size only, so in proportion: "+strings.Join(some, ", "))
	}
	if len(whole) > 0 {
		m.notes = append(m.notes, "the results do not tell the merge from the rest, so it is taken for work that all cores share: "+strings.Join(whole, ", "))
	}
	if len(steep) > 0 {
		m.notes = append(m.notes, "grew faster than sorting does, as when memory runs short; the band's upper end goes on like that: "+strings.Join(steep, ", "))
	}
	if waited := m.waited(); len(waited) > 0 {
		m.notes = append(m.notes, "waited for something (storage, or other work on the machine), which is taken to be so elsewhere; cores kept busy: "+strings.Join(waited, ", "))
	}
	for _, r := range m.results {
		if t := r.Telemetry; t == nil || t.Server == bench.Elsewhere || t.Server == bench.Unknown {
			m.notes = append(m.notes, fmt.Sprintf("the server's processors were not seen: it is taken to have %d, one for each command", m.cores))
			break
		}
	}
}

// waited names rows of one command that did not keep one core busy.
func (m *Model) waited() (rows []string) {
	for _, c := range m.rows {
		if p := c.last(); !p.inRanges && p.Shards == 1 && p.cpu > 0 && p.cpu < 0.8 {
			rows = append(rows, fmt.Sprintf("%s %.2f", c.id, p.cpu))
		}
	}
	return rows
}

// warnings are about what is asked for.
func (m *Model) warnings(s Setup) (notes []string) {
	d := m.largest.Dataset
	if s.Documents > FarTimes*d.Documents {
		notes = append(notes, fmt.Sprintf("warning: %s documents are %s times as many as were measured; past %d times caches and storage decide, which nobody measured here",
			report.Thousands(s.Documents), report.Thousands(s.Documents/d.Documents), FarTimes))
	}
	p := point{Setup: s}
	for _, c := range m.rows {
		last := c.last()
		if ratio := p.perDocument() / last.perDocument(); last.Keys > 0 && !m.keysDiff && (ratio > 1.1 || ratio < 0.9) {
			notes = append(notes, fmt.Sprintf("warning: %.3g keys for each document, %.3g when measured: what a key costs is not known; measure another seed --keys too", p.perDocument(), last.perDocument()))
			break
		}
	}
	inRanges := func(c *costs, per int64) int64 {
		if c.last().inRanges {
			return per / int64(s.Ranges)
		}
		return per / int64(s.Shards)
	}
	var full []string
	for _, c := range m.rows {
		last := c.last()
		held, before := inRanges(c, s.Keys), last.Keys/int64(max(last.Ranges, 1))
		if last.restores && held > jsModeKeys && before <= jsModeKeys {
			notes = append(notes, fmt.Sprintf("warning: %s holds %s keys in a range and leaves jsMode at %s: from %s ranges on it does not",
				c.id, report.Thousands(held), report.Thousands(jsModeKeys), report.Thousands(s.Keys/jsModeKeys+1)))
		}
		if lone(c.id) == "agg" && held > groupKeys && before <= groupKeys && m.largest.Server.Kind == "mongodb" {
			full = append(full, c.id)
		}
	}
	if len(full) > 0 {
		notes = append(notes, fmt.Sprintf("warning: more keys in a command than the 100 MB of $group hold (about %s), so it goes to disk, which was not measured: %s",
			report.Thousands(groupKeys), strings.Join(full, ", ")))
	}
	if x := m.largest.Split; x != nil && d.Documents > 0 {
		notes = append(notes, fmt.Sprintf("finding the ranges and proving them comes before the rows: about %s in proportion",
			seconds((x.Seconds+x.CountSeconds)*float64(s.Documents)/float64(d.Documents))))
	}
	return notes
}

func seconds(s float64) string {
	switch {
	case s >= 7200:
		return fmt.Sprintf("%.1f h", s/3600)
	case s >= 120:
		return fmt.Sprintf("%.0f min", s/60)
	case s >= 1:
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f ms", s*1000)
}
