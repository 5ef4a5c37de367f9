package expr

import (
	"time"

	"mrbench/internal/embedded/bsonx"
)

func dateToParts() op {
	return named{
		notObject: 40524, unknown: 40520,
		params: []param{{"date", 40522}, {"timezone", 0}, {"iso8601", 0}},
		fn: func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
			loc, ok, err := st.zone(a[1])
			if err != nil || !ok {
				return null, err
			}
			iso := false
			if a[2].Type != tAbsent {
				if nullish(a[2]) {
					return null, nil
				}
				if a[2].Type != tBool {
					return missing, errf(40521, "iso8601 must evaluate to a bool, found %s", typeName(a[2]))
				}
				iso = a[2].Bool()
			}
			if nullish(a[0]) {
				return null, nil
			}
			ms, err := millis(a[0])
			if err != nil {
				return missing, err
			}
			t := time.UnixMilli(ms).In(loc)
			w := st.build(tDoc)
			put := func(name string, n int) { w.elem(name, st.i32(int32(n))) }
			if iso {
				put("isoWeekYear", isoYear(t))
				put("isoWeek", isoWeek(t))
				put("isoDayOfWeek", isoWeekday(t))
			} else {
				put("year", t.Year())
				put("month", int(t.Month()))
				put("day", t.Day())
			}
			put("hour", t.Hour())
			put("minute", t.Minute())
			put("second", t.Second())
			put("millisecond", milliOf(t))
			return w.done(), nil
		},
	}.op()
}

// The order of $dateFromParts' arguments.
const (
	partYear = iota
	partMonth
	partDay
	partISOYear
	partISOWeek
	partISODay
	partHour
	partMinute
	partSecond
	partMilli
	partZone
)

func dateFromParts() op {
	params := []param{
		{"year", 0},
		{"month", 0},
		{"day", 0},
		{"isoWeekYear", 0},
		{"isoWeek", 0},
		{"isoDayOfWeek", 0},
		{"hour", 0},
		{"minute", 0},
		{"second", 0},
		{"millisecond", 0},
		{"timezone", 0},
	}
	fn := func(st *state, _ string, a []bsonx.Value) (bsonx.Value, error) {
		n := make([]int64, partZone)
		for i := range n {
			switch v := a[i]; {
			case v.Type == tAbsent:
				if i < partHour {
					n[i] = 1
				}
				continue
			case nullish(v):
				return null, nil
			default:
				k, ok := v.AsInt64()
				if !isNumber(v.Type) || !ok {
					return missing, errf(40515, "'%s' must evaluate to an integer, found %s with value %s", params[i].name, typeName(v), v)
				}
				if (i == partYear || i == partISOYear) && (k < 0 || k > 9999) {
					return missing, errf(40523, "'%s' must evaluate to an integer in the range 0 to 9999, found %d", params[i].name, k)
				}
				if i < partHour && (k < -32768 || k > 32767) || k < -1<<40 || k > 1<<40 {
					return missing, errf(31034, "'%s' must evaluate to a value in the range [-32768, 32767]; value %d is not", params[i].name, k)
				}
				n[i] = k
			}
		}
		loc, ok, err := st.zone(a[partZone])
		if err != nil || !ok {
			return null, err
		}
		y, m, d := int(n[partYear]), time.Month(n[partMonth]), int(n[partDay])
		if a[partISOYear].Type != tAbsent {
			t := isoDate3(int(n[partISOYear]), int(n[partISOWeek]), int(n[partISODay]))
			y, m, d = t.Year(), t.Month(), t.Day()
		}
		day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		ms := day.UnixMilli() + n[partHour]*3600000 + n[partMinute]*60000 + n[partSecond]*1000 + n[partMilli]
		return st.date(inZone(ms, loc)), nil
	}
	return op{parse: func(c *compiler, name string, arg bsonx.Value) (node, error) {
		if arg.Type != tDoc {
			return nil, errf(40519, "$dateFromParts only supports an object as its argument")
		}
		args, err := c.named(name, arg, 40518, params)
		if err != nil {
			return nil, err
		}
		if args[partYear] == nil && args[partISOYear] == nil {
			return nil, errf(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present")
		}
		if args[partYear] != nil && (args[partISOYear] != nil || args[partISOWeek] != nil || args[partISODay] != nil) {
			return nil, errf(40489, "$dateFromParts does not allow mixing natural dates with ISO dates")
		}
		if args[partISOYear] != nil && (args[partMonth] != nil || args[partDay] != nil) {
			return nil, errf(40525, "$dateFromParts does not allow mixing ISO dates with natural dates")
		}
		return &callNode{name: name, fn: fn, args: args}, nil
	}}
}

// inZone takes milliseconds that were counted on a zone's wall clock to real ones.
func inZone(wall int64, loc *time.Location) int64 {
	t := time.UnixMilli(wall).UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc).UnixMilli()
}

// wall is the inverse: what the zone's wall clock shows, counted as if it were UTC.
func wall(ms int64, loc *time.Location) int64 {
	_, off := time.UnixMilli(ms).In(loc).Zone()
	return ms + int64(off)*1000
}
