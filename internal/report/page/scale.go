package page

import (
	"fmt"
	"math"
	"strconv"
)

// scale is an axis from 0.
type scale struct {
	end   float64
	ticks []tick
}

// tick is a mark on an axis. Side is where its text stands: start, middle or end.
type tick struct {
	At, Text, Side string
	value          float64
}

// newScale makes an axis to a little beyond most, with at most n ticks beside that of 0.
func newScale(most float64, n int, text func(float64) string) scale {
	if !(most > 0) || math.IsInf(most, 0) {
		most = 1
	}
	step := niceStep(most / float64(n))
	s := scale{end: most * 1.04}
	for i := 0; float64(i)*step <= s.end; i++ {
		v := float64(i) * step
		side := "middle"
		switch {
		case i == 0:
			side = "start"
		case v > s.end*0.95:
			side = "end"
		}
		s.ticks = append(s.ticks, tick{At: percent(v, s.end), Text: text(v), Side: side, value: v})
	}
	return s
}

// timeScale is an axis in seconds, or in milliseconds for short times.
func timeScale(seconds float64, n int) scale {
	factor, name := 1.0, " s"
	if seconds < 1 {
		factor, name = 1000, " ms"
	}
	return newScale(seconds, n, func(v float64) string { return short(tidy(v*factor)) + name })
}

// duration is a time in seconds for people.
func duration(seconds float64) string {
	switch {
	case seconds >= 10:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds >= 1:
		return fmt.Sprintf("%.2f s", seconds)
	case seconds >= 0.01:
		return fmt.Sprintf("%.0f ms", seconds*1000)
	default:
		return fmt.Sprintf("%.1f ms", seconds*1000)
	}
}

// niceStep is the smallest of 1, 2 and 5 times a power of ten that is not below x.
func niceStep(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*p >= x*0.999999 {
			return f * p
		}
	}
	return 10 * p
}

func short(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// tidy is a tick's value without the noise of its arithmetic.
func tidy(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return x
	}
	return y
}
