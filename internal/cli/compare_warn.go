package cli

import (
	"fmt"
	"slices"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// warn names what makes the times of a set not comparable.
func (c *comparison) warn(set *comparedSet) {
	base := -1
	for i, r := range set.results {
		if r == nil {
			continue
		}
		if base < 0 {
			base = i
		}
		c.warnEnd(i, r)
		if i != base {
			c.warnBetween(base, i, set.results[base], r)
		}
	}
}

func (c *comparison) warning(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(c.Warnings, w) {
		c.Warnings = append(c.Warnings, w)
	}
}

func (c *comparison) warnEnd(i int, r *bench.Result) {
	name := c.Results[i].Name
	switch r.ExitCode {
	case exitDiffer:
		c.warning("the answers of %s did not agree (exit code %d)", name, exitDiffer)
	case exitInterrupted, exitTerminated:
		c.warning("%s was interrupted", name)
	case -1:
		c.warning("%s did not come to its end", name)
	}
}

func (c *comparison) warnBetween(i, j int, old, new *bench.Result) {
	of := ""
	if len(c.Results) > 2 {
		of = fmt.Sprintf(" between %s and %s", c.Results[i].Name, c.Results[j].Name)
	}
	differ := func(what string, a, b any) {
		if a != b {
			c.warning("%s differs%s: %v and %v", what, of, orNone(a), orNone(b))
		}
	}
	differ("the collection", old.Dataset.NS, new.Dataset.NS)
	differ("the key", old.Dataset.Key, new.Dataset.Key)
	differ("the number of documents", report.Thousands(old.Dataset.Documents), report.Thousands(new.Dataset.Documents))
	if a, b := old.Dataset.Spec, new.Dataset.Spec; a != nil && b != nil {
		differ("the data's origin", specText(a), specText(b))
	}
	differ("the server", serverName(old.Server), serverName(new.Server))
	differ("the server's address", old.Server.Address, new.Server.Address)
	differ("the topology", old.Server.Topology, new.Server.Topology)
	differ("where pipelines read", orWord(old.Context.ReadPreference, "primary"), orWord(new.Context.ReadPreference, "primary"))
	differ("the read concern", orWord(old.Context.ReadConcern, "the server's"), orWord(new.Context.ReadConcern, "the server's"))
	differ("the write concern", orWord(old.Context.WriteConcern, "the server's"), orWord(new.Context.WriteConcern, "the server's"))
	differ("mrbench", old.Context.Mrbench, new.Context.Mrbench)
	differ("the version of Go", old.Context.Go, new.Context.Go)
	differ("the machine", old.Context.Host, new.Context.Host)
	differ("the processor", old.Context.CPU, new.Context.CPU)
	differ("the number of processors", old.Context.CPUs, new.Context.CPUs)
	differ("the memory", report.Bytes(old.Context.MemoryBytes).Text, report.Bytes(new.Context.MemoryBytes).Text)
	for _, n := range new.Rows {
		o := rowOf(old, n.ID)
		if o == nil || o.Seconds == nil || n.Seconds == nil {
			continue
		}
		if o.PausedRuns > 0 || n.PausedRuns > 0 {
			c.warning("times of %s hold pauses for the sake of others%s, %.3g s and %.3g s: they are not to be compared", n.ID, of, o.PausedSeconds, n.PausedSeconds)
		}
		differ("the number of ranges of "+n.ID, o.Ranges, n.Ranges)
		differ("the number of threads of "+n.ID, o.Threads, n.Threads)
		if a, b := o.Answer, n.Answer; a != nil && b != nil && *a != *b {
			what := fmt.Sprintf("%s keys with sum %s and %s keys with sum %s", report.Thousands(a.Keys), a.Sum, report.Thousands(b.Keys), b.Sum)
			if a.Keys == b.Keys && a.Sum == b.Sum {
				what = fmt.Sprintf("%s keys with sum %s and another digest", report.Thousands(a.Keys), a.Sum)
			}
			c.warning("the answers of %s differ%s: %s", n.ID, of, what)
		}
	}
}

func orNone(x any) any {
	if x == "" {
		return "none"
	}
	return x
}

func specText(s *bench.DataSpec) string {
	text := fmt.Sprintf("%s with seed %d, %s documents", s.Generator, s.Seed, report.Thousands(s.Documents))
	if s.Keys > 0 {
		text += fmt.Sprintf(" with %s values of %s", report.Thousands(s.Keys), s.Field)
	}
	if s.Digest != "" {
		text += " (" + s.Digest[:min(8, len(s.Digest))] + ")"
	}
	return text
}
