package expr

import (
	"fmt"
	"strconv"
	"time"

	"mrbench/internal/embedded/bsonx"
)

// formatUTC is what $dateToString prints when no format is given, for every zone.
const formatUTC = "%Y-%m-%dT%H:%M:%S.%LZ"

func dateToString() op {
	o := named{
		notObject: 18629, unknown: 18534,
		params: []param{{"date", 18628}, {"format", 0}, {"timezone", 0}, {"onNull", 0}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			if a[1].Type == tString {
				if _, err := formatDate(a[1].Str(), time.Unix(0, 0).UTC()); err != nil {
					return missing, err
				}
			} else if a[1].Type != tAbsent && !nullish(a[1]) {
				return missing, errf(18533, "$dateToString requires that 'format' be a string, found: %s", typeName(a[1]))
			}
			loc, ok, err := st.zone(a[2])
			if err != nil {
				return missing, err
			}
			if nullish(a[0]) {
				if a[3].Type == tAbsent {
					return null, nil
				}
				return a[3], nil
			}
			if !ok || a[1].Type != tAbsent && nullish(a[1]) {
				return null, nil
			}
			ms, err := millis(a[0])
			if err != nil {
				return missing, err
			}
			format := formatUTC
			if a[1].Type == tString {
				format = a[1].Str()
			}
			s, err := formatDate(format, time.UnixMilli(ms).In(loc))
			if err != nil {
				return missing, err
			}
			return st.str(s), nil
		},
	}
	return o.op()
}

func formatDate(format string, t time.Time) (string, error) {
	if y := t.Year(); y < 0 || y > 9999 {
		return "", errf(18537, "$dateToString is only defined on year 0-9999, tried to use year %d", y)
	}
	var b []byte
	pad := func(n, w int) {
		s := strconv.Itoa(n)
		for range w - len(s) {
			b = append(b, '0')
		}
		b = append(b, s...)
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b = append(b, format[i])
			continue
		}
		if i++; i == len(format) {
			return "", errf(18535, "Unmatched '%%' at end of format string")
		}
		_, off := t.Zone()
		switch format[i] {
		case '%':
			b = append(b, '%')
		case 'Y':
			pad(t.Year(), 4)
		case 'm':
			pad(int(t.Month()), 2)
		case 'd':
			pad(t.Day(), 2)
		case 'H':
			pad(t.Hour(), 2)
		case 'M':
			pad(t.Minute(), 2)
		case 'S':
			pad(t.Second(), 2)
		case 'L':
			pad(milliOf(t), 3)
		case 'j':
			pad(t.YearDay(), 3)
		case 'w':
			pad(int(t.Weekday())+1, 1)
		case 'U':
			pad(weekOfYear(t), 2)
		case 'u':
			pad(isoWeekday(t), 1)
		case 'V':
			pad(isoWeek(t), 2)
		case 'G':
			pad(isoYear(t), 4)
		case 'b':
			b = append(b, t.Month().String()[:3]...)
		case 'B':
			b = append(b, t.Month().String()...)
		case 'z':
			sign := byte('+')
			if off < 0 {
				sign, off = '-', -off
			}
			b = fmt.Appendf(b, "%c%02d%02d", sign, off/3600, off/60%60)
		case 'Z':
			b = fmt.Appendf(b, "%+d", off/60)
		default:
			return "", errf(18536, "Invalid format character '%%%c' in format string", format[i])
		}
	}
	return string(b), nil
}
