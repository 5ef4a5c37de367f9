package report

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// minFold is how narrow a folded column may become, in characters.
const minFold = 20

// folded returns the table with its column of long texts broken over several lines, so that it fits width; t itself when
// there is nothing to fold.
func (t *Table) folded(width int) *Table {
	c := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Fold })
	if c < 0 || width <= 0 {
		return t
	}
	all := make([]int, len(t.Columns))
	for i := range all {
		all[i] = i
	}
	over := t.width(all) - width
	if over <= 0 {
		return t
	}
	longest := utf8.RuneCountInString(t.Columns[c].Title)
	for _, row := range t.Rows {
		longest = max(longest, utf8.RuneCountInString(t.text(row, c)))
	}
	room := max(minFold, longest-over)
	f := *t
	f.Rows = nil
	for _, row := range t.Rows {
		var b bytes.Buffer
		wrap(&b, room, "", t.text(row, c))
		for i, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
			part := make([]Cell, len(row))
			if i == 0 {
				copy(part, row)
			}
			part[c] = Cell{Text: strings.TrimSpace(line)}
			f.Rows = append(f.Rows, part)
		}
	}
	return &f
}
