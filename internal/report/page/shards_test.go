package page

import (
	"strings"
	"testing"

	"mrbench/internal/bench"
)

// The ranges of a cluster have their shard's colour, and words that say the same.
func TestTimelineOfShards(t *testing.T) {
	p := ladder()
	p.Result.Server.Shards, p.Result.Server.Balancer = []string{"s1", "s2"}, "off"
	for i := range p.Result.Rows {
		row := &p.Result.Rows[i]
		for k := range row.Parts {
			row.Parts[k].Shard = []string{"s2", "s1", "s1", ""}[k]
		}
		row.Shards = bench.ShardLoads(row.Parts, nil)
	}
	var b strings.Builder
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		`class="span shard0"`, `class="span shard1"`, `class="span shard6"`, "several shards: <span>1 range, busy ", "s1: <span>2 ranges, busy ",
		", on s2</title>", ", on several shards</title>", "Timeline of mr-ranges: 4 ranges", " s1: 2 ranges, busy ", "<dt>Shards</dt><dd>s1, s2</dd>", "<dt>Balancer</dt><dd>off</dd>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	b.Reset()
	if err := Write(&b, ladder()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), `class="span shard`) {
		t.Error("a server without shards has some on the page")
	}
}
