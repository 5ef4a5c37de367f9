package cli

import (
	"strings"
	"testing"

	"mrbench/internal/bench"
)

// Results whose documents were read, or whose outputs were confirmed, in another way are not of the same work.
func TestCompareWarnsOfConcerns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		old, new bench.Context
		want     string
	}{
		{"nothing said", bench.Context{}, bench.Context{}, ""},
		{"the default by its name", bench.Context{ReadPreference: "primary"}, bench.Context{}, ""},
		{"the same", bench.Context{ReadConcern: "majority", WriteConcern: "majority"}, bench.Context{ReadConcern: "majority", WriteConcern: "majority"}, ""},
		{"read preference", bench.Context{}, bench.Context{ReadPreference: "secondary"}, "where pipelines read differs: primary and secondary"},
		{"read concern", bench.Context{ReadConcern: "snapshot"}, bench.Context{}, "the read concern differs: snapshot and the server's"},
		{"write concern", bench.Context{WriteConcern: "majority"}, bench.Context{WriteConcern: "1"}, "the write concern differs: majority and 1"},
	} {
		with := func(x bench.Context) *bench.Result {
			r := before()
			r.Context.ReadPreference, r.Context.ReadConcern, r.Context.WriteConcern = x.ReadPreference, x.ReadConcern, x.WriteConcern
			return r
		}
		if got := strings.Join(compared(with(c.old), with(c.new)).Warnings, "; "); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}
