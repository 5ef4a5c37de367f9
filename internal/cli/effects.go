package cli

import (
	"mrbench/internal/bench"
	"mrbench/internal/target"
	"mrbench/mr"
)

// adds is the option that the row has and the one before it on the ladder has not, and what facts call it.
func (v variant) adds() (option, capability string) {
	switch {
	case v.aggregate:
	case v.js:
		return "jsMode", target.CapJSMode
	case v.ranges && v.layout == mr.SeparateDatabases:
		return "dbs", target.CapDatabases
	case v.ranges:
		return "ranges", target.CapRanges
	case v.sort:
		return "sort", target.CapSort
	}
	return "", ""
}

// effects are what the server does with the rows, known before any of them is run.
type effects struct {
	refused string // why mapReduce can't be run at all; "" it can
	none    map[string]*bench.NoEffect
}

// noEffects decides which rows a server refuses, and which option changes nothing there.
func noEffects(facts *target.Facts, ns target.Namespace, variants []variant, outDB string) effects {
	e := effects{none: map[string]*bench.NoEffect{}}
	caps := map[string]target.Capability{}
	for _, c := range facts.Capabilities(ns) {
		caps[c.Name] = c
	}
	if c := caps[target.CapMapReduce]; c.State == target.Refused {
		e.refused = "this server can't run mapReduce: " + c.Reason
		return e
	}
	if c := caps[target.CapWrites]; c.State == target.Refused {
		e.refused = c.Reason
		return e
	}
	if why := lacksOutput(facts, outDB); why != "" {
		e.refused = why
		return e
	}
	for _, v := range variants {
		option, name := v.adds()
		if option == "dbs" && outDB != "" {
			e.none[v.id] = &bench.NoEffect{Option: option, Reason: "--out-db keeps all outputs in one database"}
			continue
		}
		// What a server refuses beside a mapReduce that it runs is left out of the command.
		if c, known := caps[name]; known && (c.State == target.NoEffect || c.State == target.Refused) {
			e.none[v.id] = &bench.NoEffect{Option: option, Reason: c.Reason}
		}
	}
	return e
}

// skip is why a row can't be run, "" when it can.
func (m *measurement) skip(v variant) string {
	if why := m.job.skip(v, m.app.common.key); why != "" || v.aggregate {
		return why
	}
	return m.effects.refused
}

// foretell says what will have no effect, before anything runs.
func (m *measurement) foretell() {
	if why := m.effects.refused; why != "" {
		m.app.tell("rows of mapReduce are skipped: %s", why)
		return
	}
	for _, v := range m.variants {
		n := m.effects.none[v.id]
		if n == nil || m.skip(v) != "" {
			continue
		}
		m.app.tell("%s", n.Text(v.id))
	}
}

// noEffectNotes are the footnotes of the rows whose option changes nothing.
func noEffectNotes(rows []bench.Row) (notes []string) {
	for _, r := range rows {
		if r.NoEffect != nil && r.Seconds != nil {
			notes = append(notes, r.NoEffect.Text(r.ID))
		}
	}
	return notes
}
