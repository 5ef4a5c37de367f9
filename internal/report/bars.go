package report

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"
)

// Bars are lengths to draw beside the rows of a text table. Other formats have the numbers alone.
type Bars struct {
	Title  string    // what the lengths are
	Values []float64 // one a row; NaN draws none
}

// How wide bars are, in characters: below the least they show too little, above the most they show no more.
const (
	leastBar = 6
	mostBar  = 40
)

// eighths of a character, growing from the left.
var eighths = []rune(" ▏▎▍▌▋▊▉█")

// bar is a length as blocks, to an eighth of a character. What is not nothing can be seen.
func bar(share float64, room int) string {
	n := int(math.Round(share * float64(room) * 8))
	if math.IsNaN(share) || share <= 0 {
		return ""
	}
	n = max(n, 1)
	s := strings.Repeat(string(eighths[8]), n/8)
	if n%8 > 0 {
		s += string(eighths[n%8])
	}
	return s
}

// addBars draws bars at the ends of the lines of a rendered table, a header, a rule and its rows, when width leaves room
// for them beside the table. No column is left out for their sake.
func addBars(table []byte, bars *Bars, width int) []byte {
	lines := strings.Split(strings.TrimRight(string(table), "\n"), "\n")
	if bars == nil || width <= 0 || len(lines) != len(bars.Values)+2 {
		return table
	}
	used, largest := 0, 0.0
	for _, l := range lines {
		used = max(used, utf8.RuneCountInString(l))
	}
	for _, v := range bars.Values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			largest = max(largest, v)
		}
	}
	room := min(mostBar, width-used-len(gap))
	if room < max(leastBar, utf8.RuneCountInString(bars.Title)) || largest <= 0 {
		return table
	}
	var b bytes.Buffer
	for i, l := range lines {
		var end string
		switch i {
		case 0:
			end = bars.Title
		case 1:
			end = strings.Repeat("-", room)
		default:
			end = bar(bars.Values[i-2]/largest, room)
		}
		b.WriteString(strings.TrimRight(l+strings.Repeat(" ", used-utf8.RuneCountInString(l))+gap+end, " ") + "\n")
	}
	return b.Bytes()
}
