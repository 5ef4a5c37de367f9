package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Column describes a column of a Table.
type Column struct {
	Title string
	// Name is the column in CSV, where units belong into the name
	// ("wall_seconds"). Empty: Title.
	Name string
	// Left aligns text; numbers stay at the right.
	Left bool
	// Drop says what goes first when the table is too wide: the highest Drop
	// is left out first, 0 never.
	Drop int
	// Max cuts longer texts, in characters; 0 does not.
	Max int
	// Fold breaks long texts over several lines where the table is too wide. One column of a table may have it.
	Fold bool
}

// Cell is a value with a text for people and, where that differs, a raw form
// for programs.
type Cell struct {
	Text string
	Raw  string // "" when Text is the raw form
}

// Table is rows under columns. Notes are printed below it, one a line.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]Cell
	Notes   []string
	Bars    *Bars // nil: none
}

// Add appends a row. A row shorter than the columns is filled with empty cells.
func (t *Table) Add(cells ...Cell) {
	for len(cells) < len(t.Columns) {
		cells = append(cells, Cell{})
	}
	t.Rows = append(t.Rows, cells)
}

// gap is what stands between two columns of a text table.
const gap = "  "

// fit returns the columns to show so that the table is at most width
// characters wide (0: no limit), and the titles of those left out.
func (t *Table) fit(width int) (keep []int, out []string) {
	for i := range t.Columns {
		if !t.emptyColumn(i) {
			keep = append(keep, i)
		}
	}
	for width > 0 && t.width(keep) > width {
		worst := -1
		for _, c := range keep {
			if t.Columns[c].Drop > 0 && (worst < 0 || t.Columns[c].Drop >= t.Columns[worst].Drop) {
				worst = c
			}
		}
		if worst < 0 {
			break
		}
		keep = slices.DeleteFunc(keep, func(c int) bool { return c == worst })
		out = append(out, t.Columns[worst].Title)
	}
	slices.Reverse(out)
	return keep, out
}

// emptyColumn reports whether a column that may be left out says nothing.
func (t *Table) emptyColumn(c int) bool {
	if t.Columns[c].Drop == 0 {
		return false
	}
	for _, row := range t.Rows {
		if strings.Trim(row[c].Text, " -") != "" {
			return false
		}
	}
	return true
}

func (t *Table) width(columns []int) int {
	total := len(gap) * max(0, len(columns)-1)
	for _, c := range columns {
		w := utf8.RuneCountInString(t.Columns[c].Title)
		for _, row := range t.Rows {
			w = max(w, utf8.RuneCountInString(t.text(row, c)))
		}
		total += w
	}
	return total
}

// text is the cell as shown: on one line and not longer than its column allows.
func (t *Table) text(row []Cell, c int) string {
	s := strings.Join(strings.Fields(row[c].Text), " ")
	if m := t.Columns[c].Max; m > 0 && utf8.RuneCountInString(s) > m {
		return string([]rune(s)[:m-1]) + "…"
	}
	return s
}

// Shown are the columns that say something: all but those that may be left out and are empty.
func (t *Table) Shown() []int {
	keep, _ := t.fit(0)
	return keep
}
