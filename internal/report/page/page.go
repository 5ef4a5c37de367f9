package page

import (
	_ "embed" // the templates
	"fmt"
	"html/template"
	"io"
	"strings"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// Page is what is shown.
type Page struct {
	Result *bench.Result
	// Findings are what the times themselves show, one a line.
	Findings []string
	// Tables are shown below the figures. Long ones are cut.
	Tables []*report.Table
	// Command makes such a result again, in one line or several; "" when that is not known.
	Command string
	// Source is the name of the result file.
	Source string
}

//go:embed page.tmpl
var pageText string

//go:embed style.css
var style string

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"css": func() template.CSS { return template.CSS(style) },
}).Parse(pageText))

// Write renders the page.
func Write(w io.Writer, p Page) error {
	r := p.Result
	v := view{
		Title: fmt.Sprintf("%s: %s documents %s", r.Dataset.NS, report.Thousands(r.Dataset.Documents), r.Dataset.What()),
		Lead:  lead(r), Tiles: tiles(r), Remarks: remarks(r), Findings: findings(p.Findings),
		Ladder: ladderOf(r), Timelines: timelines(r), Load: loadOf(r),
		Command: p.Command, Facts: facts(r), Source: p.Source, Mrbench: r.Context.Mrbench,
	}
	v.Speedups = speedupsOf(r)
	for i, t := range p.Tables {
		v.Tables = append(v.Tables, tableOf(i, t, v.Findings))
	}
	var b strings.Builder
	if err := pages.Execute(&b, v); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// view is what the template shows.
type view struct {
	Title, Lead string
	Tiles       []tile
	Remarks     []remark
	Findings    []string
	Ladder      *bars
	Speedups    *bars
	Timelines   []timeline
	Load        *load
	Tables      []table
	Command     string
	Facts       []factGroup
	Source      string
	Mrbench     string
}

// percent is a position or length as SVG has it. Three decimals are a hundredth of a pixel.
func percent(x, of float64) string {
	if of <= 0 {
		return "0%"
	}
	s := fmt.Sprintf("%.3f", x/of*100)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + "%"
}
