package report

import (
	"fmt"
	"math"
	"strconv"
)

// Str is a cell that reads the same for people and programs.
func Str(s string) Cell { return Cell{Text: s} }

// Int is a whole number with thousands separators.
func Int(n int64) Cell {
	return Cell{Text: Thousands(n), Raw: strconv.FormatInt(n, 10)}
}

// IntOr is Int, or "-" when there is no number.
func IntOr(n *int64) Cell {
	if n == nil {
		return Missing()
	}
	return Int(*n)
}

// none marks a raw value that is written as an empty field.
const none = "\x00"

// Missing is a cell for a value that does not exist; programs get an empty field.
func Missing() Cell { return Cell{Text: "-", Raw: none} }

// Thousands writes n as 10,000,000.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Unit is the unit that all times of a column share.
type Unit struct {
	Name     string // "s" or "ms"
	scale    float64
	decimals int
}

// UnitFor chooses seconds or milliseconds for times in seconds, so that the fastest of a column still says something
// beside the slowest.
func UnitFor(seconds ...float64) Unit {
	largest := 0.0
	for _, s := range seconds {
		largest = math.Max(largest, s)
	}
	switch {
	case largest >= 10:
		return Unit{"s", 1, 2}
	case largest >= 0.1:
		return Unit{"ms", 1000, 0}
	default:
		return Unit{"ms", 1000, 1}
	}
}

// Time is a cell for a time in seconds, shown in the unit; raw it stays in seconds.
func (u Unit) Time(seconds float64) Cell {
	return Cell{
		Text: grouped(seconds*u.scale, u.decimals),
		Raw:  strconv.FormatFloat(seconds, 'f', 6, 64),
	}
}

// TimeOr is Time, or "-" when there is none.
func (u Unit) TimeOr(seconds *float64) Cell {
	if seconds == nil {
		return Missing()
	}
	return u.Time(*seconds)
}

func grouped(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	whole, frac := s, ""
	for i := range s {
		if s[i] == '.' {
			whole, frac = s[:i], s[i:]
			break
		}
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n == 0 {
		return s
	}
	return Thousands(n) + frac
}

// Percent is a share, given as a fraction of one.
func Percent(fraction float64, decimals int) Cell {
	return Cell{
		Text: strconv.FormatFloat(fraction*100, 'f', decimals, 64) + "%",
		Raw:  strconv.FormatFloat(fraction, 'f', 6, 64),
	}
}

// Times is a factor: "12.5×".
func Times(factor float64) Cell {
	decimals := 2
	if factor >= 100 {
		decimals = 0
	} else if factor >= 10 {
		decimals = 1
	}
	return Cell{Text: grouped(factor, decimals) + "×", Raw: strconv.FormatFloat(factor, 'f', 4, 64)}
}

// Bytes is a size for people, in powers of 1024.
func Bytes(n int64) Cell {
	raw := strconv.FormatInt(n, 10)
	f, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if i == 0 {
		return Cell{Text: fmt.Sprintf("%d B", n), Raw: raw}
	}
	return Cell{Text: fmt.Sprintf("%.1f %s", f, units[i]), Raw: raw}
}

// Fixed is a number with a fixed count of decimals.
func Fixed(x float64, decimals int) Cell {
	return Cell{Text: grouped(x, decimals), Raw: strconv.FormatFloat(x, 'f', max(3, decimals), 64)}
}

// Change is a relative difference, given as a fraction of one, with its sign.
func Change(fraction float64) Cell {
	c := Percent(fraction, 1)
	if fraction > 0 {
		c.Text = "+" + c.Text
	}
	return c
}
