package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mrbench/internal/bench"
	"mrbench/internal/report"
)

// Pages are opened in a real browser, on a desktop and on a phone, light and dark.
func TestPagesInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts browsers")
	}
	pages := map[string]Page{"ladder": ladder(), "small": small(t), "hostile": hostile(t)}
	for name, p := range pages {
		page := render(t, p)
		background := map[bool]string{}
		for _, width := range []int{1280, 380} {
			for _, dark := range []bool{false, true} {
				if name == "hostile" && dark {
					continue
				}
				t.Run(fmt.Sprintf("%s %d dark=%v", name, width, dark), func(t *testing.T) {
					x := look(t, page, width, map[bool]string{true: "dark", false: "light"}[dark])
					background[dark] = x.Background
					if x.Dark != dark {
						t.Errorf("the browser's scheme is dark: %v", x.Dark)
					}
					x.readable(t, width)
					x.figures(t, p.Result)
					x.sameTables(t, p.Tables)
					if x.Pre != p.Command {
						t.Errorf("command %q, want %q", x.Pre, p.Command)
					}
				})
			}
		}
		if len(background) == 2 && background[true] == background[false] {
			t.Errorf("%s: dark and light are both %s", name, background[true])
		}
	}
}

// Printed on A4 nothing is cut off: its 182 mm between the margins are 688 pixels. The sheet's rules are tried on a screen.
func TestPrintedPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	page := strings.Replace(string(render(t, ladder())), "@media print{", "@media screen{", 1)
	page = strings.Replace(page, "@media (max-width:44rem)", "@media (max-width:1px)", 1)
	for _, scheme := range []string{"light", "dark"} {
		x := look(t, []byte(page), 688, scheme)
		for i, over := range x.Scrolls {
			if over > 0 {
				t.Errorf("table %d is %v pixels too wide", i+1, over)
			}
		}
		if len(x.Scrolls) != 2 || x.ScrollWidth > x.Width || len(x.Outside) > 0 {
			t.Errorf("%v wide, %v; outside: %q", x.ScrollWidth, x.Scrolls, x.Outside)
		}
		if x.Background != "rgb(255, 255, 255)" || len(x.Faint) > 0 {
			t.Errorf("%s: on %s, too little contrast: %.300q", scheme, x.Background, x.Faint)
		}
	}
}

// readable checks what makes a page readable for everybody.
func (x seen) readable(t *testing.T, width int) {
	t.Helper()
	if int(x.Width) != width || x.ScrollWidth > x.Width {
		t.Errorf("the page is %v wide and scrolls to %v", x.Width, x.ScrollWidth)
	}
	if len(x.Requests) > 0 {
		t.Errorf("it asked for %q", x.Requests)
	}
	if x.Scripts > 0 || x.Title == "owned" {
		t.Errorf("%d scripts, title %q", x.Scripts, x.Title)
	}
	if x.Texts < 50 {
		t.Errorf("only %d texts were looked at", x.Texts)
	}
	for what, texts := range map[string][]string{"below 11 px": x.Small, "too little contrast": x.Faint, "outside of the page": x.Outside, "on each other": x.Overlap} {
		if len(texts) > 0 {
			t.Errorf("%d texts are %s: %.300q", len(texts), what, texts)
		}
	}
	for _, alt := range x.Images {
		if len(alt) < 5 {
			t.Errorf("a figure's text is %q", alt)
		}
	}
	if len(x.Images) == 0 || len(x.Links) == 0 || slices.Contains(x.Links, false) {
		t.Errorf("%d figures, links lead somewhere: %v", len(x.Images), x.Links)
	}
	slices.Sort(x.IDs)
	if n := len(x.IDs); len(slices.Compact(x.IDs)) != n {
		t.Error("an id is used twice")
	}
}

// near says whether two shares of a figure are the same to about a pixel.
func near(a, b float64) bool { return math.Abs(a-b) < 0.006 }

// figures compares what is drawn with the result.
func (x seen) figures(t *testing.T, r *bench.Result) {
	t.Helper()
	u := unitOf(r)
	bars := map[string][]seenBar{}
	for _, b := range x.Bars {
		bars[b.Section] = append(bars[b.Section], b)
	}
	for section, list := range bars {
		if len(list) != len(r.Rows) {
			t.Fatalf("%s: %d bars for %d rows", section, len(list), len(r.Rows))
		}
		scale := 0.0
		for i, row := range r.Rows {
			b := list[i]
			if b.ID != strings.ReplaceAll(row.ID, "\x00", "\ufffd") {
				t.Errorf("%s: bar %d is that of %q", section, i, b.ID)
			}
			if row.Seconds == nil {
				if b.Missing == "" || !strings.Contains(b.Missing, row.Skipped) || !strings.Contains(b.Missing, row.Error) {
					t.Errorf("%s: %s has no time, and its bar says %q", section, row.ID, b.Missing)
				}
				continue
			}
			value, text := row.Seconds.Median, u.Time(row.Seconds.Median).Text+" "+u.Name
			lo, hi, interval := 0.0, 0.0, row.Seconds.CI != nil
			if interval {
				lo, hi = row.Seconds.CI[0], row.Seconds.CI[1]
			}
			if section == "speedup" {
				value, text = *row.Speedup, report.Times(*row.Speedup).Text
				lo, hi, interval = speedupInterval(row)
			} else if b.Dots != len(row.Seconds.All) && len(row.Seconds.All) > 1 {
				t.Errorf("%s: %d dots for %d runs", row.ID, b.Dots, len(row.Seconds.All))
			}
			if b.Value != value || b.Shown != text {
				t.Errorf("%s: %s shows %v (%q), want %v (%q)", section, row.ID, b.Value, b.Shown, value, text)
			}
			if scale == 0 {
				scale = b.Share / value
			}
			if !near(b.Share, scale*value) || b.Share <= 0 || b.Share > 1 {
				t.Errorf("%s: the bar of %s is %v long, want %v", section, row.ID, b.Share, scale*value)
			}
			if interval && (!near(b.Low, scale*lo) || !near(b.High, scale*hi) || b.High <= b.Low) {
				t.Errorf("%s: the interval of %s goes from %v to %v, want %v to %v", section, row.ID, b.Low, b.High, scale*lo, scale*hi)
			}
		}
	}
	if len(bars["time"]) == 0 || len(bars["speedup"]) == 0 {
		t.Error("a figure is missing")
	}
	for _, row := range r.Rows {
		if len(row.Parts) < 2 || row.Seconds == nil {
			continue
		}
		spans := x.Spans[strings.ReplaceAll(row.ID, "\x00", "\ufffd")]
		if len(spans) != len(row.Parts) {
			t.Errorf("%s: %d ranges are drawn of %d", row.ID, len(spans), len(row.Parts))
			continue
		}
		parts := slices.Clone(row.Parts)
		slices.SortStableFunc(parts, func(a, b bench.Part) int { return a.Thread - b.Thread })
		scale := spans[0][1] / parts[0].Seconds
		for i, p := range parts {
			if !near(spans[i][0], scale*p.Start) || !near(spans[i][1], scale*p.Seconds) {
				t.Errorf("%s: range %d is drawn at %v, want start %v and length %v", row.ID, i, spans[i], scale*p.Start, scale*p.Seconds)
			}
		}
	}
	if !slices.Contains(x.Panels, "Processors in use") || !slices.Contains(x.Panels, "Throughput of each run") {
		t.Errorf("panels %q", x.Panels)
	}
}

func (x seen) sameTables(t *testing.T, tables []*report.Table) {
	t.Helper()
	if len(x.Tables) != len(tables) {
		t.Fatalf("%d tables, want %d", len(x.Tables), len(tables))
	}
	for i, want := range tables {
		for n, row := range want.Rows {
			var cells []string
			for _, c := range want.Shown() {
				cells = append(cells, strings.ReplaceAll(row[c].Text, "\x00", "\ufffd"))
			}
			if got := x.Tables[i][n+2]; got != strings.Join(cells, "\t") {
				t.Errorf("table %d, line %d: %q, want %q", i, n, got, cells)
			}
		}
	}
}
