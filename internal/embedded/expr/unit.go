package expr

import (
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// Unit is a step of time in UTC, for stages that count in steps.
type Unit struct{ u unit }

// ParseUnit reads "day", "month" and so on; code 9 for others.
func ParseUnit(v bsonx.Value) (Unit, error) {
	u, err := parseUnit(v, int32(mongoerr.FailedToParse))
	return Unit{u}, err
}

// Add is n units after ms, milliseconds since 1970; the day of the month gives way where a month is too short.
func (u Unit) Add(ms, n int64) int64 { return u.u.add(ms, n, time.UTC) }

// Millis is the length in milliseconds of units that have one: weeks and less.
func (u Unit) Millis() (ms int64, ok bool) { return u.u.ms, u.u.months == 0 }
