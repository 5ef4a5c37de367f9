package bench

import (
	"bytes"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// The lines are read by the library that benchstat reads with: every run, its time and its conditions.
func TestGobenchIsRead(t *testing.T) {
	r := result()
	r.Context.CPU, r.Context.OS, r.Context.Arch = "A  CPU", "linux", "amd64"
	r.Rows[1].ID = "odd name/x=1"
	r.Rows = append(r.Rows, Row{ID: "failed", Error: "boom"})
	for name, want := range map[string]int{"": 8, "old": 9} {
		var b bytes.Buffer
		if err := r.GobenchAs(&b, name); err != nil {
			t.Fatal(err)
		}
		var names []string
		var seconds []float64
		in := benchfmt.NewReader(&b, "test")
		for in.Scan() {
			switch rec := in.Result().(type) {
			case *benchfmt.Result:
				names = append(names, rec.Name.String())
				x, ok := rec.Value("sec/op")
				if !ok {
					t.Errorf("%s has no time", rec.Name)
				}
				seconds = append(seconds, x)
				for key, want := range map[string]string{"cpu": "A CPU", "ns": "test.uniques", "documents": "20000", "server": "embedded 1", "result": name} {
					if got := rec.GetConfig(key); got != want {
						t.Errorf("%s: %q, want %q", key, got, want)
					}
				}
				if len(rec.Config) != want {
					t.Errorf("%d keys of configuration: %+v", len(rec.Config), rec.Config)
				}
			case *benchfmt.SyntaxError:
				t.Error(rec)
			}
		}
		if in.Err() != nil || len(names) != 3 {
			t.Fatalf("%v, %v", names, in.Err())
		}
		near(t, "first", seconds[0], 2, 1e-9)
		near(t, "second", seconds[1], 3, 1e-9)
		if names[0] != "Run/row=mr/threads=0/ranges=0" || names[2] != "Run/row=odd_name_x_1/threads=0/ranges=0" {
			t.Errorf("%v", names)
		}
	}
}
