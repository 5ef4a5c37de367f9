package bench

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Gobench writes every measured run as a line of the Go benchmark format (https://go.dev/design/14313-benchmark-format),
// which benchstat reads: one benchmark for each row, its conditions as configuration.
func (r *Result) Gobench(w io.Writer) error { return r.GobenchAs(w, "") }

// GobenchAs is Gobench with a configuration "result", by which several results in one stream are told apart
// (benchstat -col result). Without one there is nothing in the output that differs between two runs of the same kind, so
// that benchstat puts two files side by side.
func (r *Result) GobenchAs(w io.Writer, name string) error {
	var b bytes.Buffer
	config := func(key, value string) {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	config("goos", r.Context.OS)
	config("goarch", r.Context.Arch)
	config("cpu", r.Context.CPU)
	config("server", strings.TrimSpace(r.Server.Kind+" "+r.Server.Version))
	config("topology", r.Server.Topology)
	config("ns", r.Dataset.NS)
	config("key", r.Dataset.Key)
	config("documents", fmt.Sprint(r.Dataset.Documents))
	config("result", name)
	for _, row := range r.Rows {
		if row.Seconds == nil {
			continue
		}
		for _, s := range row.Seconds.All {
			fmt.Fprintf(&b, "BenchmarkRun/row=%s/threads=%d/ranges=%d 1 %.0f ns/op\n", word(row.ID), row.Threads, row.Ranges, s*1e9)
		}
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// word makes a part of a benchmark's name, which has neither spaces nor slashes.
func word(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || c == '/' || c == '=' || !unicode.IsPrint(c) {
			return '_'
		}
		return c
	}, s)
}
