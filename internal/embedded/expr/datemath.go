package expr

import (
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// unit is a step of the calendar: a number of months or of milliseconds.
type unit struct {
	months int64
	ms     int64
	day    bool // counted on the wall clock
	week   bool
}

func parseUnit(v bsonx.Value, notString int32) (unit, error) {
	if v.Type != tString {
		return unit{}, errf(codeOf(notString), "requires 'unit' to be a string, but got %s", typeName(v))
	}
	switch v.Str() {
	case "year":
		return unit{months: 12}, nil
	case "quarter":
		return unit{months: 3}, nil
	case "month":
		return unit{months: 1}, nil
	case "week":
		return unit{ms: 7 * 86400000, day: true, week: true}, nil
	case "day":
		return unit{ms: 86400000, day: true}, nil
	case "hour":
		return unit{ms: 3600000}, nil
	case "minute":
		return unit{ms: 60000}, nil
	case "second":
		return unit{ms: 1000}, nil
	case "millisecond":
		return unit{ms: 1}, nil
	}
	return unit{}, errf(mongoerr.FailedToParse, "unknown time unit value: %s", v.Str())
}

func parseWeekday(v bsonx.Value, notString int32) (time.Weekday, error) {
	if v.Type != tString {
		return 0, errf(codeOf(notString), "requires 'startOfWeek' to be a string, but got %s", typeName(v))
	}
	s := v.Str()
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := d.String(); equalFold(s, name) || equalFold(s, name[:3]) {
			return d, nil
		}
	}
	return 0, errf(mongoerr.FailedToParse, "unknown day of week value: %s", s)
}

func equalFold(a, b string) bool { return upperASCII(a) == upperASCII(b) }

func dateShift(sign int64) op {
	return named{
		notObject: 5166400, unknown: 5166401,
		params: []param{{"startDate", 5166402}, {"unit", 5166402}, {"amount", 5166402}, {"timezone", 0}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			if nullish(a[0]) || nullish(a[1]) || nullish(a[2]) {
				return null, nil
			}
			ms, err := millis(a[0])
			if err != nil {
				return missing, errf(5166403, "%s requires startDate to be convertible to a date", name)
			}
			u, err := parseUnit(a[1], 5166404)
			if err != nil {
				return missing, err
			}
			n, ok := a[2].AsInt64()
			if !isNumber(a[2].Type) || !ok || n < -1<<40 || n > 1<<40 {
				return missing, errf(5166405, "%s expects integer amount of time units", name)
			}
			loc, ok, err := st.zone(a[3])
			if err != nil || !ok {
				return null, err
			}
			return st.date(u.add(ms, n*sign, loc)), nil
		},
	}.op()
}

func (u unit) add(ms, n int64, loc *time.Location) int64 {
	switch {
	case u.months != 0:
		t := time.UnixMilli(ms).In(loc)
		first := time.Date(t.Year(), t.Month()+time.Month(n*u.months), 1, 0, 0, 0, 0, time.UTC)
		day := min(t.Day(), daysIn(first.Year(), int(first.Month())))
		return time.Date(first.Year(), first.Month(), day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc).UnixMilli()
	case u.day:
		return inZone(wall(ms, loc)+n*u.ms, loc)
	}
	return ms + n*u.ms
}

// monthsSince0 counts months of the calendar.
func monthsSince0(wallMS int64) int64 {
	t := time.UnixMilli(wallMS).UTC()
	return int64(t.Year())*12 + int64(t.Month()) - 1
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// 1970-01-04 was a Sunday.
func weekOrigin(start time.Weekday) int64 { return (3 + int64(start)) * 86400000 }

func dateDiff() op {
	return named{
		notObject: 5166301, unknown: 5166302,
		params: []param{{"startDate", 5166303}, {"endDate", 5166304}, {"unit", 5166305}, {"timezone", 0}, {"startOfWeek", 0}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			if nullish(a[0]) || nullish(a[1]) || nullish(a[2]) {
				return null, nil
			}
			from, e1 := millis(a[0])
			to, e2 := millis(a[1])
			if e1 != nil || e2 != nil {
				return missing, errf(5166307, "$dateDiff requires 'startDate' and 'endDate' to be dates")
			}
			u, err := parseUnit(a[2], 5166306)
			if err != nil {
				return missing, err
			}
			loc, ok, err := st.zone(a[3])
			if err != nil || !ok {
				return null, err
			}
			start := time.Sunday
			if u.week && a[4].Type != tAbsent {
				if nullish(a[4]) {
					return null, nil
				}
				if start, err = parseWeekday(a[4], 5439015); err != nil {
					return missing, err
				}
			}
			return st.i64(u.between(wall(from, loc), wall(to, loc), start)), nil
		},
	}.op()
}

// between counts the unit's borders passed from one wall time to another.
func (u unit) between(from, to int64, start time.Weekday) int64 {
	if u.months != 0 {
		return floorDiv(monthsSince0(to), u.months) - floorDiv(monthsSince0(from), u.months)
	}
	o := int64(0)
	if u.week {
		o = weekOrigin(start)
	}
	return floorDiv(to-o, u.ms) - floorDiv(from-o, u.ms)
}

func dateTrunc() op {
	return named{
		notObject: 5439007, unknown: 5439008,
		params: []param{{"date", 5439009}, {"unit", 5439010}, {"binSize", 0}, {"timezone", 0}, {"startOfWeek", 0}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			if nullish(a[0]) || nullish(a[1]) {
				return null, nil
			}
			ms, err := millis(a[0])
			if err != nil {
				return missing, errf(5439012, "$dateTrunc requires 'date' to be a date, but got %s", typeName(a[0]))
			}
			u, err := parseUnit(a[1], 5439013)
			if err != nil {
				return missing, err
			}
			size := int64(1)
			if a[2].Type != tAbsent {
				if nullish(a[2]) {
					return null, nil
				}
				var ok bool
				if size, ok = a[2].AsInt64(); !isNumber(a[2].Type) || !ok {
					return missing, errf(5439017, "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '%s' of type %s", a[2], typeName(a[2]))
				}
				if size <= 0 || size > 1e11 {
					return missing, errf(5439018, "$dateTrunc requires 'binSize' to be greater than 0, but got value %d", size)
				}
			}
			loc, ok, err := st.zone(a[3])
			if err != nil || !ok {
				return null, err
			}
			start := time.Sunday
			if u.week && a[4].Type != tAbsent {
				if nullish(a[4]) {
					return null, nil
				}
				if start, err = parseWeekday(a[4], 5439015); err != nil {
					return missing, err
				}
			}
			return st.date(u.trunc(ms, size, loc, start)), nil
		},
	}.op()
}

// trunc finds the start of ms's bin; bins are counted from 2000-01-01 on the zone's wall clock
// (weeks from the first start of a week in that year).
func (u unit) trunc(ms, size int64, loc *time.Location, start time.Weekday) int64 {
	y2k := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	w := wall(ms, loc)
	if u.months != 0 {
		n := u.months * size
		m := floorDiv(monthsSince0(w)-2000*12, n)*n + 2000*12
		return time.Date(int(floorDiv(m, 12)), time.Month(m-floorDiv(m, 12)*12+1), 1, 0, 0, 0, 0, loc).UnixMilli()
	}
	origin := y2k.UnixMilli()
	if u.week {
		origin += int64((start-y2k.Weekday()+7)%7) * 86400000
	}
	step := u.ms * size
	if u.day {
		return inZone(floorDiv(w-origin, step)*step+origin, loc)
	}
	// Hours and less are counted in real time from the zone's 2000-01-01.
	origin = inZone(origin, loc)
	return floorDiv(ms-origin, step)*step + origin
}
