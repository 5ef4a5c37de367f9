package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// Bars stand where there is room, and never cost a column.
func TestBarsGolden(t *testing.T) {
	for _, width := range []int{80, 100, 140} {
		table := ladder()
		table.Add(Str("agg-ranges"), Str("it failed"), Missing(), Missing(), Missing(), Str("-"))
		table.Bars = &Bars{Title: "wall", Values: []float64{14.7, 7.25, 0.68, math.NaN()}}
		var with, without bytes.Buffer
		if err := Text(&with, width, table); err != nil {
			t.Fatal(err)
		}
		golden(t, fmt.Sprintf("bars-%d.txt", width), with.Bytes())
		table.Bars = nil
		if err := Text(&without, width, table); err != nil {
			t.Fatal(err)
		}
		plain := strings.Split(without.String(), "\n")
		for i, line := range strings.Split(with.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("line of %d characters at %d columns: %s", n, width, line)
			}
			if !strings.HasPrefix(line, plain[i]) {
				t.Errorf("bars change %q to %q", plain[i], line)
			}
		}
	}
}

func TestBarsNeedRoomAndValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		width  int
		values []float64
	}{
		{"no room", 8, []float64{1, 2}},
		{"any width", 0, []float64{1, 2}},
		{"nothing measured", 80, []float64{math.NaN(), math.NaN()}},
		{"all of them nothing", 80, []float64{0, 0}},
		{"not the rows' number", 80, []float64{1}},
	} {
		tab := &Table{Columns: []Column{{Title: "n"}}, Bars: &Bars{Title: "wall", Values: c.values}}
		tab.Add(Int(1))
		tab.Add(Int(2))
		var b bytes.Buffer
		if err := Text(&b, c.width, tab); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), "n\n-\n1\n2\n"; got != want {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

func TestBarLengths(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{
		{0, ""}, {math.NaN(), ""}, {1, "██████████"}, {0.5, "█████"}, {0.55, "█████▌"}, {1.0 / 80, "▏"}, {1e-9, "▏"}, {0.9999, "██████████"},
	} {
		if got := bar(c.share, 10); got != c.want {
			t.Errorf("bar of %v is %q, want %q", c.share, got, c.want)
		}
	}
}
