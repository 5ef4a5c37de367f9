package expr

import (
	"strconv"
	"time"
	_ "time/tzdata" // zones by name on machines without a zone database

	"mrbench/internal/embedded/bsonx"
)

// zone reads a timezone argument: absent is UTC; ok is false for null.
func (st *state) zone(v bsonx.Value) (loc *time.Location, ok bool, err error) {
	switch {
	case v.Type == tAbsent:
		return time.UTC, true, nil
	case nullish(v):
		return nil, false, nil
	case v.Type != tString:
		return nil, false, errf(40517, "timezone must evaluate to a string, found %s", typeName(v))
	}
	id := v.StrBytes()
	if loc, ok := st.zones[string(id)]; ok {
		return loc, true, nil
	}
	loc, err = parseZone(string(id))
	if err != nil {
		return nil, false, err
	}
	if st.zones == nil || len(st.zones) > 100 {
		st.zones = map[string]*time.Location{}
	}
	st.zones[string(id)] = loc
	return loc, true, nil
}

func parseZone(id string) (*time.Location, error) {
	if secs, ok := offsetSeconds(id); ok {
		return time.FixedZone("", secs), nil
	}
	if id == "UTC" || id == "GMT" || id == "Z" {
		return time.UTC, nil
	}
	if id != "" && id != "Local" {
		if loc, err := time.LoadLocation(id); err == nil {
			return loc, nil
		}
	}
	return nil, errf(40485, "unrecognized time zone identifier: %q", id)
}

// offsetSeconds reads +hh, +hhmm and +hh:mm.
func offsetSeconds(s string) (int, bool) {
	if len(s) < 3 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	digits := s[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if len(digits) != 2 && len(digits) != 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return 0, false
	}
	h, m := int(n), 0
	if len(digits) == 4 {
		h, m = int(n)/100, int(n)%100
	}
	secs := h*3600 + m*60
	if s[0] == '-' {
		secs = -secs
	}
	return secs, true
}

// millis reads a date, timestamp or ObjectId as milliseconds since 1970.
func millis(v bsonx.Value) (int64, error) {
	switch v.Type {
	case tDate:
		return v.Int64(), nil
	case tTime:
		return int64(uint64(v.Int64())>>32) * 1000, nil
	case tObjectID:
		return oidSeconds(v) * 1000, nil
	}
	return 0, errf(16006, "can't convert from BSON type %s to Date", typeName(v))
}
