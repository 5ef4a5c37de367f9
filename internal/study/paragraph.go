package study

import (
	"fmt"
	"strings"
)

// Tolerance is how much a ratio may be away from 1 and still count as no difference.
const Tolerance = 0.15

// finding is a published ratio between two steps beside the measured one. Above 1 means that the second is faster.
type finding struct {
	subject        string // "Five inserts at a time instead of one"
	published      float64
	atLeast        bool // published as "more than"
	measured       float64
	known          bool   // it was measured
	faster, slower string // how a ratio is told: "%s times as fast"
}

// tell puts a ratio into words.
func (f finding) tell(ratio float64) string {
	switch {
	case ratio > 1-Tolerance && ratio < 1+Tolerance:
		return "no difference"
	case ratio >= 1:
		return fmt.Sprintf(f.faster, number(ratio))
	default:
		return fmt.Sprintf(f.slower, number(1/ratio))
	}
}

func side(ratio float64) int {
	switch {
	case ratio >= 1+Tolerance:
		return 1
	case ratio <= 1-Tolerance:
		return -1
	}
	return 0
}

// holds says whether the measured ratio is on the same side as the published one.
func (f finding) holds() bool { return side(f.published) == side(f.measured) }

func (f finding) String() string {
	published := f.tell(f.published)
	if f.atLeast {
		published = "more than " + published
	}
	if !f.known {
		return fmt.Sprintf("%s: published %s; not measured here.", f.subject, published)
	}
	verdict := "that holds"
	switch {
	case !f.holds() && side(f.measured) == 0:
		verdict = "that no longer holds"
	case !f.holds() && side(f.published) == 0:
		verdict = "that no longer holds"
	case !f.holds():
		verdict = "that no longer holds, it is the other way round"
	case side(f.published) != 0 && weaker(f.published, f.measured):
		verdict = "that holds, by less"
	case side(f.published) != 0 && weaker(f.measured, f.published):
		verdict = "that holds, by more"
	}
	return fmt.Sprintf("%s: published %s, here %s: %s.", f.subject, published, f.tell(f.measured), verdict)
}

// weaker says whether b is much nearer to 1 than a, on the same side.
func weaker(a, b float64) bool {
	if a < 1 {
		a, b = 1/a, 1/b
	}
	return b-1 < (a-1)/1.5
}

// number writes a ratio with two or three digits.
func number(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return thousands(int64(x + 0.5))
}

// compare makes a finding of the rates of two steps.
func (r *Result) compare(subject, from, to string) finding {
	f := finding{subject: subject, faster: "%s times as fast", slower: "%s times as slow"}
	a, b := r.Row(from), r.Row(to)
	if a == nil || b == nil {
		return f
	}
	if a.Published != nil && b.Published != nil && a.Published.Rate != nil && b.Published.Rate != nil {
		f.published = *b.Published.Rate / *a.Published.Rate
	}
	if a.Measured != nil && b.Measured != nil && a.Measured.Rate > 0 {
		f.measured, f.known = b.Measured.Rate/a.Measured.Rate, true
	}
	return f
}

// join makes a paragraph that begins with what it is about.
func join(sentences []string) string { return strings.Join(sentences, " ") }
