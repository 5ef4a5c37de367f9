package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Text writes tables for a terminal of width columns (0: any width), with an
// empty line between them.
func Text(w io.Writer, width int, tables ...*Table) error {
	for i, t := range tables {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := text(w, width, t); err != nil {
			return err
		}
	}
	return nil
}

func text(w io.Writer, width int, t *Table) error {
	var b bytes.Buffer
	if t.Title != "" {
		wrap(&b, width, "", t.Title)
	}
	t = t.folded(width)
	keep, out := t.fit(width)
	if len(t.Rows) > 0 {
		var lines bytes.Buffer
		if err := grid(&lines, t, keep, plain()); err != nil {
			return err
		}
		b.Write(addBars(lines.Bytes(), t.Bars, width))
	}
	for _, n := range t.Notes {
		wrap(&b, width, "  ", n)
	}
	if len(out) > 0 {
		wrap(&b, width, "  ", fmt.Sprintf("left out to fit %d columns: %s (-o json has all)", width, strings.Join(out, ", ")))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// plain is a table without a frame: a header, a rule, and rows.
func plain() tw.Renderer {
	return renderer.NewBlueprint(tw.Rendition{
		Borders: tw.BorderNone,
		Symbols: tw.NewSymbolCustom("plain").WithColumn(gap).WithRow("-").WithCenter(gap).
			WithHeaderMid(gap).WithMidLeft("").WithMidRight(""),
		Settings: tw.Settings{
			Separators: tw.Separators{ShowHeader: tw.On, ShowFooter: tw.Off, BetweenRows: tw.Off, BetweenColumns: tw.On},
			Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
		},
	})
}

// grid renders the chosen columns and strips what the renderer leaves at line ends.
func grid(w *bytes.Buffer, t *Table, columns []int, r tw.Renderer) error {
	titles := make([]string, len(columns))
	align := make([]tw.Align, len(columns))
	for i, c := range columns {
		titles[i] = t.Columns[c].Title
		align[i] = tw.AlignRight
		if t.Columns[c].Left {
			align[i] = tw.AlignLeft
		}
	}
	padding := tw.CellPadding{Global: tw.Padding{Left: tw.Empty, Right: tw.Empty, Overwrite: true}}
	if _, markdown := r.(*renderer.Markdown); markdown {
		padding = tw.CellPadding{Global: tw.Padding{Left: tw.Space, Right: tw.Space, Overwrite: true}}
	}
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{Global: tw.AlignRight, PerColumn: align},
		Padding:    padding,
	}
	var b bytes.Buffer
	table := tablewriter.NewTable(&b, tablewriter.WithRenderer(r),
		tablewriter.WithConfig(tablewriter.Config{Header: cell, Row: cell}))
	table.Header(titles)
	for _, row := range t.Rows {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = t.text(row, c)
		}
		if err := table.Append(line); err != nil {
			return fmt.Errorf("table %q: %w", t.Title, err)
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("table %q: %w", t.Title, err)
	}
	for line := range strings.Lines(b.String()) {
		w.WriteString(strings.TrimRight(line, " \n"))
		w.WriteByte('\n')
	}
	return nil
}

// wrap writes s in lines of at most width characters, each with the indent;
// continuation lines get two more.
func wrap(w *bytes.Buffer, width int, indent, s string) {
	line := indent
	used := 0
	for _, word := range strings.Fields(s) {
		n := len([]rune(line))
		if used > 0 && width > 0 && n+1+len([]rune(word)) > width {
			w.WriteString(line + "\n")
			line, used = indent+"  ", 0
		}
		if used > 0 {
			line += " "
		}
		line += word
		used++
	}
	w.WriteString(line + "\n")
}
