package mr

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

func TestConfigRefusals(t *testing.T) {
	good := Config{Client: &mongo.Client{}, DB: "d", Coll: "c", Job: UniqueCount("f"), Prefix: "run"}
	if _, err := good.withDefaults(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"no client", func(c *Config) { c.Client = nil }, "no client"},
		{"no source", func(c *Config) { c.Coll = "" }, "no source"},
		{"no reduce", func(c *Config) { c.Job.Reduce = "" }, "map and a reduce"},
		{"threads", func(c *Config) { c.Threads = -1 }, "-1 threads"},
		{"no prefix", func(c *Config) { c.Prefix = "" }, "no prefix"},
		{"server's database", func(c *Config) { c.Prefix = "config" }, "belongs to the server"},
		{"bad name", func(c *Config) { c.Prefix = "a.b" }, "database name"},
		{"long name", func(c *Config) { c.Prefix = strings.Repeat("x", 62) }, "longer than 63"},
		{"source's database", func(c *Config) { c.Prefix = "d" }, "source's own"},
		{"limit in ranges", func(c *Config) { c.Job.Limit = 1; c.Ranges = make([]splitter.Range, 2) }, "limit"},
		{"two keys", func(c *Config) { c.Ranges = []splitter.Range{{Key: "a"}, {Key: "b"}} }, "a and b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := good
			tt.edit(&c)
			if _, err := c.withDefaults(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want something with %q", err, tt.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	c := Config{Prefix: "p", Ranges: make([]splitter.Range, 3)}
	if got := c.databases(); !slices.Equal(got, []string{"p"}) {
		t.Error(got)
	}
	c.Layout = SeparateDatabases
	if got := c.databases(); !slices.Equal(got, []string{"p_0", "p_1", "p_2"}) {
		t.Error(got)
	}
}

func TestReportSum(t *testing.T) {
	part := func(mode string, ms int64, known bool) Part {
		return Part{Mode: mode, ServerMS: ms, Counts: Counts{Input: 1, Emit: 2, Reduce: 3, Output: 4, Known: known}}
	}
	tests := []struct {
		name   string
		jsMode bool
		parts  []Part
		mode   string
		ms     int64
		input  int64
	}{
		{"not asked", false, []Part{part("mixed", 1, true)}, "", 1, 1},
		{"js", true, []Part{part("js", 1, true), part("js", 2, true)}, ModeJS, 3, 2},
		{"left it", true, []Part{part("js", 1, true), part("mixed", 2, true)}, ModeMixed, 3, 2},
		{"not said", true, []Part{part("", -1, false)}, ModeIgnored, -1, 0},
		{"counts of one part unknown", false, []Part{part("", 1, true), part("", -1, false)}, "", -1, 0},
	}
	for _, tt := range tests {
		r := Report{Parts: tt.parts}
		r.sum(tt.jsMode)
		if r.Mode != tt.mode || r.ServerMS != tt.ms || r.Counts.Input != tt.input {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}
