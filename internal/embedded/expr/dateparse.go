package expr

import (
	"strings"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

func dateFromString() op {
	o := named{
		notObject: 40540, unknown: 40541,
		params: []param{{"dateString", 40542}, {"format", 0}, {"timezone", 0}, {"onError", 0}, {"onNull", 0}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			if err := checkDateFormat(a[1]); err != nil {
				return missing, err
			}
			loc, ok, err := st.zone(a[2])
			if err != nil {
				return missing, err
			}
			if nullish(a[0]) {
				if a[4].Type != tAbsent {
					return a[4], nil
				}
				return null, nil
			}
			if !ok || a[1].Type != tAbsent && nullish(a[1]) {
				return null, nil
			}
			ms, err := stringToDate(a[0], a[1], a[2].Type != tAbsent && loc != time.UTC, loc)
			if err != nil {
				if a[3].Type != tAbsent && mongoerr.CodeOf(err) == mongoerr.ConversionFailure {
					return a[3], nil
				}
				return missing, err
			}
			return st.date(ms), nil
		},
	}
	return o.op()
}

// checkDateFormat refuses a format that could fit no text; null is for the caller.
func checkDateFormat(v bsonx.Value) error {
	if v.Type == tAbsent || nullish(v) {
		return nil
	}
	if v.Type != tString {
		return errf(40684, "$dateFromString requires that 'format' be a string, found: %s with value %s", typeName(v), v)
	}
	format := v.StrBytes()
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) {
			return errf(18535, "Unmatched '%%' at end of format string")
		}
		if strings.IndexByte("dGHjLmMSuUVYzZbB%", format[i]) < 0 {
			return errf(18536, "Invalid format character '%%%c' in format string", format[i])
		}
	}
	return nil
}

func stringToDate(s, format bsonx.Value, zoned bool, loc *time.Location) (int64, error) {
	if s.Type != tString {
		return 0, errf(mongoerr.ConversionFailure, "$dateFromString requires that 'dateString' be a string, found: %s with value %s", typeName(s), s)
	}
	f := ""
	if format.Type == tString {
		f = format.Str()
	}
	if !zoned {
		loc = nil
	}
	return parseDate(s.Str(), f, loc)
}

// parseDate reads a date: by a strptime-like format, or in the usual ISO forms. A zone in
// the text and a zone given (loc not nil) exclude each other.
func parseDate(s, format string, loc *time.Location) (int64, error) {
	var layouts []string
	if format != "" {
		return parseWithFormat(s, format, loc)
	}
	t := strings.TrimSpace(s)
	for _, date := range []string{
		"2006-01-02", "2006-1-2", "2006/01/02", "20060102", "Jan 2 2006", "Jan 2, 2006", "January 2, 2006",
		"January 2 2006", "2 Jan 2006", "2 January 2006", "01/02/2006", "Mon Jan 2 2006", "Mon, 2 Jan 2006", "Monday, 2 January 2006",
	} {
		layouts = append(layouts, date)
		for _, clock := range []string{"T15:04:05", " 15:04:05", "T15:04", " 15:04", "T150405", "T15", " 3:04:05PM", " 3:04PM", " 3:04 PM", " 3PM"} {
			layouts = append(layouts, date+clock)
		}
	}
	for _, l := range layouts {
		if r, err := time.ParseInLocation(l, t, orUTC(loc)); err == nil {
			return r.UnixMilli(), nil
		}
	}
	for _, l := range layouts {
		for _, z := range []string{"Z07:00", "Z0700", "Z07", " Z07:00", " Z0700", " Z07", " MST"} {
			r, err := time.Parse(l+z, t)
			if err != nil {
				continue
			}
			if loc != nil {
				return 0, failed("you cannot pass in a date/time string with time zone information ('%s') together with a timezone argument", s)
			}
			if z == " MST" {
				if name, _ := r.Zone(); name != "UTC" && name != "GMT" {
					continue
				}
			}
			return r.UnixMilli(), nil
		}
	}
	return 0, failed("Error parsing date string '%s'", s)
}

func orUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}

// dateFields collects what a format finds in a text.
type dateFields struct {
	n       map[byte]int
	zone    *time.Location
	hasZone bool
}

func parseWithFormat(s, format string, loc *time.Location) (int64, error) {
	f := dateFields{n: map[byte]int{}}
	rest := s
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			if rest == "" || rest[0] != format[i] {
				return 0, failed("Error parsing date string '%s'; format literal not found", s)
			}
			rest = rest[1:]
			continue
		}
		i++ // checkDateFormat has seen that there is one
		ok := false
		if rest, ok = f.take(format[i], rest); !ok {
			return 0, failed("Error parsing date string '%s' with format '%s'", s, format)
		}
	}
	if rest != "" {
		return 0, failed("Error parsing date string '%s'; trailing data '%s'", s, rest)
	}
	if f.hasZone {
		if loc != nil {
			return 0, failed("you cannot pass in a date/time string with time zone information ('%s') together with a timezone argument", s)
		}
		loc = f.zone
	}
	return f.date(s, orUTC(loc))
}

func (f *dateFields) take(c byte, rest string) (string, bool) {
	width := map[byte]int{'Y': 4, 'G': 4, 'm': 2, 'd': 2, 'H': 2, 'M': 2, 'S': 2, 'L': 3, 'j': 3, 'u': 1, 'V': 2, 'U': 2}[c]
	switch c {
	case '%':
		return strings.CutPrefix(rest, "%")
	case 'b', 'B':
		for m := time.January; m <= time.December; m++ {
			name := m.String()
			if c == 'b' {
				name = name[:3]
			}
			if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
				f.n['m'] = int(m)
				return rest[len(name):], true
			}
		}
		return rest, false
	case 'z':
		for _, n := range []int{6, 5, 3} {
			if len(rest) >= n {
				if secs, ok := offsetSeconds(rest[:n]); ok {
					f.zone, f.hasZone = time.FixedZone("", secs), true
					return rest[n:], true
				}
			}
		}
		if r, ok := strings.CutPrefix(rest, "Z"); ok {
			f.zone, f.hasZone = time.UTC, true
			return r, true
		}
		return rest, false
	case 'Z': // minutes
		sign := 1
		r := rest
		if r != "" && (r[0] == '+' || r[0] == '-') {
			if r[0] == '-' {
				sign = -1
			}
			r = r[1:]
		}
		n, w := digits(r, 4)
		f.zone, f.hasZone = time.FixedZone("", sign*n*60), true
		return r[w:], w > 0
	}
	n, w := digits(rest, width)
	if w == 0 || (c == 'Y' || c == 'G') && w != 4 {
		return rest, false
	}
	f.n[c] = n
	return rest[w:], true
}

func digits(s string, limit int) (n, w int) {
	for w < limit && w < len(s) && s[w] >= '0' && s[w] <= '9' {
		n = n*10 + int(s[w]-'0')
		w++
	}
	return n, w
}

func (f *dateFields) or(c byte, dflt int) int {
	if n, ok := f.n[c]; ok {
		return n
	}
	return dflt
}

func (f *dateFields) date(s string, loc *time.Location) (int64, error) {
	h, m, sec, ms := f.or('H', 0), f.or('M', 0), f.or('S', 0), f.or('L', 0)
	if h > 24 || m > 59 || sec > 59 {
		return 0, failed("Error parsing date string '%s'; out of range", s)
	}
	if y, ok := f.n['G']; ok {
		d := isoDate3(y, f.or('V', 1), f.or('u', 1))
		return time.Date(d.Year(), d.Month(), d.Day(), h, m, sec, ms*1e6, loc).UnixMilli(), nil
	}
	y, ok := f.n['Y']
	if !ok {
		return 0, failed("an incomplete date/time string has been found, with elements missing: \"%s\"", s)
	}
	if j, ok := f.n['j']; ok {
		return time.Date(y, 1, j, h, m, sec, ms*1e6, loc).UnixMilli(), nil
	}
	month, hasMonth := f.n['m']
	day, hasDay := f.n['d']
	if !hasMonth || !hasDay {
		return 0, failed("an incomplete date/time string has been found, with elements missing: \"%s\"", s)
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(y, month) {
		return 0, failed("Error parsing date string '%s'; invalid date", s)
	}
	return time.Date(y, time.Month(month), day, h, m, sec, ms*1e6, loc).UnixMilli(), nil
}

// isoDate3 is the day of an ISO year, week and weekday.
func isoDate3(year, week, day int) time.Time {
	jan4 := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	return jan4.AddDate(0, 0, (week-1)*7+day-isoWeekday(jan4))
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
