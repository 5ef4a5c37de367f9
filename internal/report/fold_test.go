package report

import (
	"strings"
	"testing"
)

func TestFoldedColumn(t *testing.T) {
	table := &Table{
		Columns: []Column{{Title: "name", Left: true}, {Title: "why", Left: true, Fold: true}},
		Rows: [][]Cell{
			{Str("a"), Str("a reason that is longer than what is left of the line")},
			{Str("b"), Str("short")},
		},
	}
	for _, c := range []struct {
		width int
		want  string
	}{
		{100, "name  why\n----  -----------------------------------------------------\na     a reason that is longer than what is left of the line\nb     short\n"},
		{36, "name  why\n----  ----------------------------\na     a reason that is longer than\n      what is left of the line\nb     short\n"},
	} {
		var b strings.Builder
		if err := Text(&b, c.width, table); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, b.String(), c.want)
		}
	}
	var b strings.Builder
	if err := CSV(&b, table); err != nil || strings.Count(b.String(), "\n") != 3 {
		t.Errorf("%v\n%s", err, b.String())
	}
}
