package pipeline

import (
	"slices"
	"strings"

	"mrbench/internal/embedded/expr"
)

// deps collects what a pipeline reads of its first input.
type deps struct {
	paths  []string
	whole  bool
	hidden []string // made by earlier stages: not of the input
}

func (d *deps) add(path string) {
	if expr.Prefixed(path, d.hidden) {
		return
	}
	d.paths = append(d.paths, path)
}

func (d *deps) expr(e *expr.Expr) {
	if e != nil && e.Deps(d.add) {
		d.whole = true
	}
}

// needs is for query.Request: nil for everything, else the paths, without those below another.
func needs(stages []parsed) []string {
	d := &deps{}
	stop := false
	for _, s := range stages {
		if stop = s.deps(d); stop || d.whole {
			break
		}
	}
	if !stop || d.whole {
		return nil
	}
	slices.Sort(d.paths)
	out := []string{}
	for _, p := range slices.Compact(d.paths) {
		if !expr.Prefixed(p, out) {
			out = append(out, p)
		}
	}
	return out
}

// overlap: one path is the other or lies inside of it.
func overlap(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == '.')
}
