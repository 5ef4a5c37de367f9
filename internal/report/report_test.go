package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

func ladder() *Table {
	u := UnitFor(14.7)
	t := &Table{
		Title: "unique values of dim0 in test.uniques",
		Columns: []Column{
			{Title: "row", Left: true},
			{Title: "what", Left: true, Drop: 3},
			{Title: "wall s", Name: "wall_seconds"},
			{Title: "input", Drop: 2},
			{Title: "speed-up", Name: "speedup"},
			{Title: "agrees", Left: true, Drop: 1},
		},
		Notes: []string{"speed-up is over row mr; every answer was compared with its answer by number of keys, sum and digest"},
	}
	t.Add(Str("mr"), Str("mapReduce as written"), u.Time(14.7), Int(1000000), Times(1), Missing())
	t.Add(Str("mr-sort"), Str("+ sort on dim0"), u.Time(7.25), Int(1000000), Times(2.0276), Str("yes"))
	t.Add(Str("agg-covered-ranges"), Str("a|b"), u.Time(0.68), IntOr(nil), Times(21.6), Str("yes"))
	return t
}

func TestTextGolden(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
	}{{"wide.txt", 100}, {"narrow.txt", 60}, {"tiny.txt", 38}} {
		var b bytes.Buffer
		if err := Text(&b, c.width, ladder(), &Table{Title: "second", Columns: []Column{{Title: "n"}}, Rows: [][]Cell{{Int(-1234567)}}}); err != nil {
			t.Fatal(err)
		}
		golden(t, c.name, b.Bytes())
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > c.width {
				t.Errorf("%s: line of %d characters: %q", c.name, n, line)
			}
		}
	}
}

func TestMarkdownGolden(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, ladder(), ladder()); err != nil {
		t.Fatal(err)
	}
	golden(t, "ladder.md", b.Bytes())
}

func TestCSVGolden(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, ladder()); err != nil {
		t.Fatal(err)
	}
	golden(t, "ladder.csv", b.Bytes())
}

func TestEmptyDroppableColumnIsNotShown(t *testing.T) {
	tab := &Table{Columns: []Column{{Title: "a"}, {Title: "b", Drop: 1}}}
	tab.Add(Int(1), Missing())
	var b bytes.Buffer
	if err := Text(&b, 0, tab); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "a\n-\n1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Thousands(0), "0"},
		{Thousands(999), "999"},
		{Thousands(1000), "1,000"},
		{Thousands(-1000), "-1,000"},
		{Thousands(-999), "-999"},
		{Thousands(10000000), "10,000,000"},
		{Times(0.5).Text, "0.50×"},
		{Times(36.2).Text, "36.2×"},
		{Times(1234).Text, "1,234×"},
		{Bytes(512).Text, "512 B"},
		{Bytes(360000000).Text, "343.3 MiB"},
		{Percent(0.1234, 1).Text, "12.3%"},
		{UnitFor(225.4, 3).Time(225.42).Text, "225.42"},
		{UnitFor(1161.96).Time(1161.96).Text, "1,161.96"},
		{UnitFor(25).Time(0.125).Text, "0.12"},
		{UnitFor(2.5).Time(0.0125).Text, "12"},
		{UnitFor(2.5).Time(2.5).Text, "2,500"},
		{UnitFor(0.5).Time(0.125).Text, "125"},
		{UnitFor(0.05).Time(0.0125).Text, "12.5"},
		{UnitFor(0.05).Name, "ms"},
		{Missing().Text, "-"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
