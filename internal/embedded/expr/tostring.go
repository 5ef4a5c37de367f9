package expr

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"mrbench/internal/embedded/bsonx"
)

// formatFloat prints a double as $toString does: with six digits, Infinity in full.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}

// plainString gives the text of scalars; ok is false for types without one.
func plainString(v bsonx.Value) (s string, ok bool) {
	switch v.Type {
	case tString, tSymbol, tCode:
		return v.Str(), true
	case tInt32, tInt64:
		return strconv.FormatInt(integer(v), 10), true
	case tDouble:
		return formatFloat(v.Double()), true
	case tDecimal, tTime:
		return v.String(), true
	case tDate:
		return isoDate(v.Int64()), true
	case tObjectID:
		return hex.EncodeToString(v.Data), true
	case tBool:
		return strconv.FormatBool(v.Bool()), true
	}
	return "", false
}

func isoDate(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// coerceString is what string operators make of their argument: text, "" for null, or 16007.
func coerceString(v bsonx.Value) (string, error) {
	if nullish(v) {
		return "", nil
	}
	if v.Type == tDouble {
		switch f := v.Double(); {
		case math.IsNaN(f):
			return "nan", nil
		case math.IsInf(f, 1):
			return "inf", nil
		case math.IsInf(f, -1):
			return "-inf", nil
		}
	}
	if v.Type != tBool && v.Type != tObjectID {
		if s, ok := plainString(v); ok {
			return s, nil
		}
	}
	return "", errf(16007, "can't convert from BSON type %s to String", typeName(v))
}
