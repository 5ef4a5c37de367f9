package expr

import (
	"time"

	"mrbench/internal/embedded/bsonx"
)

// datePart makes an operator that reads one part of a date; it takes a date or
// {date, timezone}.
func datePart(part func(st *state, t time.Time) bsonx.Value) op {
	fn := func(st *state, name string, a []bsonx.Value) (bsonx.Value, error) {
		if nullish(a[0]) {
			return null, nil
		}
		ms, err := millis(a[0])
		if err != nil {
			return missing, err
		}
		if t := a[1].Type; t != tAbsent && t != tString && !nullish(a[1]) {
			return missing, errf(40533, "%s requires a string for the timezone argument, but was given a %s", name, typeName(a[1]))
		}
		loc, ok, err := st.zone(a[1])
		if err != nil || !ok {
			return null, err
		}
		return part(st, time.UnixMilli(ms).In(loc)), nil
	}
	return op{parse: func(c *compiler, name string, arg bsonx.Value) (node, error) {
		if arg.Type == tDoc {
			if it := arg.Elems(); !it.Next() || len(it.Name()) == 0 || it.Name()[0] != '$' {
				args, err := c.named(name, arg, 40535, []param{{"date", 40539}, {"timezone", 0}})
				if err != nil {
					return nil, err
				}
				return &callNode{name: name, fn: fn, args: args}, nil
			}
		}
		if arg.Type == tArray && bsonx.Doc(arg.Data).Len() != 1 {
			return nil, errf(40536, "%s accepts exactly one argument if given an array, but was given %d", name, bsonx.Doc(arg.Data).Len())
		}
		args, err := c.args(name, arg, 1, 1)
		if err != nil {
			return nil, err
		}
		return &callNode{name: name, fn: fn, args: append(args, nil)}, nil
	}}
}

func intPart(f func(t time.Time) int) op {
	return datePart(func(st *state, t time.Time) bsonx.Value { return st.i32(int32(f(t))) })
}

func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// weekOfYear counts from 0; weeks begin on Sunday and the days before the first one are week 0.
func weekOfYear(t time.Time) int { return (t.YearDay() + 6 - int(t.Weekday())) / 7 }

func milliOf(t time.Time) int { return t.Nanosecond() / 1e6 }

func isoWeek(t time.Time) int { _, w := t.ISOWeek(); return w }

func isoYear(t time.Time) int { y, _ := t.ISOWeek(); return y }

func dateOps() map[string]op {
	return map[string]op{
		"$year": intPart(time.Time.Year), "$month": intPart(func(t time.Time) int { return int(t.Month()) }),
		"$dayOfMonth": intPart(time.Time.Day), "$hour": intPart(time.Time.Hour), "$minute": intPart(time.Time.Minute),
		"$second": intPart(time.Time.Second), "$millisecond": intPart(milliOf),
		"$dayOfYear": intPart(time.Time.YearDay), "$dayOfWeek": intPart(func(t time.Time) int { return int(t.Weekday()) + 1 }),
		"$week": intPart(weekOfYear), "$isoDayOfWeek": intPart(isoWeekday), "$isoWeek": intPart(isoWeek),
		"$isoWeekYear": datePart(func(st *state, t time.Time) bsonx.Value { return st.i64(int64(isoYear(t))) }),

		"$dateToString": dateToString(), "$dateFromString": dateFromString(),
		"$dateToParts": dateToParts(), "$dateFromParts": dateFromParts(),
		"$dateTrunc": dateTrunc(), "$dateAdd": dateShift(1), "$dateSubtract": dateShift(-1), "$dateDiff": dateDiff(),
	}
}
