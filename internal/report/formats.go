package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"
)

// Markdown writes tables as GitHub-flavoured Markdown: titles as bold
// paragraphs, notes as a list.
func Markdown(w io.Writer, tables ...*Table) error {
	var b bytes.Buffer
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		if t.Title != "" {
			fmt.Fprintf(&b, "**%s**\n\n", t.Title)
		}
		columns, _ := t.fit(0)
		escaped := &Table{Title: t.Title, Columns: t.Columns}
		for _, row := range t.Rows {
			line := make([]Cell, len(row))
			for c := range row {
				line[c] = Cell{Text: strings.ReplaceAll(t.text(row, c), "|", `\|`)}
			}
			escaped.Rows = append(escaped.Rows, line)
		}
		if len(t.Rows) > 0 {
			if err := grid(&b, escaped, columns, renderer.NewMarkdown()); err != nil {
				return err
			}
		}
		if len(t.Notes) > 0 {
			b.WriteByte('\n')
		}
		for _, n := range t.Notes {
			fmt.Fprintf(&b, "- %s\n", n)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// CSV writes one table with raw values; titles and notes are not part of it.
func CSV(w io.Writer, t *Table) error {
	c := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, col := range t.Columns {
		line[i] = col.Title
		if col.Name != "" {
			line[i] = col.Name
		}
	}
	if err := c.Write(line); err != nil {
		return err
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			line[i] = cell.Text
			switch cell.Raw {
			case "":
			case none:
				line[i] = ""
			default:
				line[i] = cell.Raw
			}
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// JSON writes v, indented, with a newline at the end and without escaping
// characters for HTML.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
