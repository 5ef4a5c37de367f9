package extjson

import "time"

// Date reads an ISO 8601 time with a zone as milliseconds since 1970. The usual
// form, in UTC and with milliseconds at most, is read by hand: files are full of it.
func Date(s []byte) (int64, bool) {
	if ms, ok := utcDate(s); ok {
		return ms, true
	}
	t, err := time.Parse("2006-01-02T15:04:05.999Z07:00", str(s))
	if err != nil {
		if t, err = time.Parse("2006-01-02T15:04:05.999Z0700", str(s)); err != nil {
			return 0, false
		}
	}
	return t.UnixMilli(), true
}

// utcDate reads 2006-01-02T15:04:05Z, with up to three digits of a fraction.
// Whatever else there is, even if it is right, it leaves to others.
func utcDate(s []byte) (int64, bool) {
	if len(s) < 20 || len(s) > 24 || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[len(s)-1] != 'Z' {
		return 0, false
	}
	digits := true
	number := func(from, to int) int64 {
		n := int64(0)
		for _, c := range s[from:to] {
			if c-'0' > 9 {
				digits = false
			}
			n = n*10 + int64(c-'0')
		}
		return n
	}
	y, m, d := number(0, 4), number(5, 7), number(8, 10)
	h, min, sec := number(11, 13), number(14, 16), number(17, 19)
	ms := int64(0)
	if f := s[19 : len(s)-1]; len(f) > 0 {
		if len(f) == 1 || f[0] != '.' {
			return 0, false
		}
		ms = number(20, len(s)-1)
		for range 4 - len(f) {
			ms *= 10
		}
	}
	if !digits || m < 1 || m > 12 || d < 1 || d > 28 && d > daysIn(y, m) || h > 23 || min > 59 || sec > 59 {
		return 0, false
	}
	// Days since 1970, in years that begin in March so that a leap day is the last one.
	if m <= 2 {
		y--
		m += 12
	}
	days := 365*y + floor(y, 4) - floor(y, 100) + floor(y, 400) + (153*(m-3)+2)/5 + d - 1 - 719468
	return ((days*24+h)*60+min)*60_000 + sec*1000 + ms, true
}

func daysIn(y, m int64) int64 {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// floor divides, rounding down.
func floor(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}
