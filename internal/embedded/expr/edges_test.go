package expr

import (
	"testing"

	"mrbench/internal/embedded/mongoerr"
)

// TestEdges holds operators to what a 4.0 server answers where types, rounding and codes are easily got wrong.
func TestEdges(t *testing.T) {
	run(t, []exprCase{
		// A double's text has six digits.
		{expr: `{"$toString": {"$numberDouble": "1234567.891"}}`, want: `"1.23457e+06"`},
		{expr: `{"$toString": {"$numberDouble": "0.30000000000000004"}}`, want: `"0.3"`},
		{expr: `{"$toString": {"$numberDouble": "100000"}}`, want: `"100000"`},
		{expr: `{"$toString": {"$numberDouble": "Infinity"}}`, want: `"Infinity"`},
		{expr: `{"$toLower": {"$numberDouble": "Infinity"}}`, want: `"inf"`},
		{expr: `{"$toUpper": {"$numberDouble": "NaN"}}`, want: `"NAN"`},
		{expr: `{"$toUpper": {"$numberDouble": "-Infinity"}}`, want: `"-INF"`},
		// Whole doubles leave whole numbers whole under $mod.
		{expr: `{"$mod": ["$i", {"$numberDouble": "3.0"}]}`, want: `2`},
		{expr: `{"$mod": ["$l", {"$numberDouble": "4.0"}]}`, want: `{"$numberLong": "3"}`},
		{expr: `{"$mod": ["$i", {"$numberDouble": "1e10"}]}`, want: `{"$numberDouble": "5.0"}`},
		{expr: `{"$mod": [{"$numberDouble": "5.0"}, 3]}`, want: `{"$numberDouble": "2.0"}`},
		// Fractions of a millisecond.
		{expr: `{"$add": ["$t", {"$numberDouble": "1.5"}]}`, want: `{"$date": {"$numberLong": "1580702706124"}}`},
		{expr: `{"$add": ["$t", {"$numberDouble": "1.6"}]}`, want: `{"$date": {"$numberLong": "1580702706125"}}`},
		{expr: `{"$add": ["$t", {"$numberDecimal": "1.7"}]}`, want: `{"$date": {"$numberLong": "1580702706125"}}`},
		{expr: `{"$subtract": ["$t", {"$numberDouble": "1.9"}]}`, want: `{"$date": {"$numberLong": "1580702706122"}}`},
		{expr: `{"$subtract": ["$t", {"$numberDecimal": "1.9"}]}`, want: `{"$date": {"$numberLong": "1580702706121"}}`},
		{expr: `{"$subtract": ["$t", {"$numberDouble": "NaN"}]}`, code: 15},
		{expr: `{"$add": ["$t", {"$numberDouble": "1e30"}]}`, code: 15},
		{expr: `{"$add": ["$t", {"$numberDecimal": "1e30"}]}`, code: 15},
		{expr: `{"$multiply": ["$n", "$s"]}`, want: `null`},
		{expr: `{"$multiply": ["$s", "$n"]}`, code: 16555},
		// Decimals are written without an exponent, in full, or with half of it.
		{expr: `{"$ceil": {"$numberDecimal": "1E+3"}}`, want: `{"$numberDecimal": "1000"}`},
		{expr: `{"$floor": {"$numberDecimal": "1E+40"}}`, want: `{"$numberDecimal": "NaN"}`},
		{expr: `{"$trunc": {"$numberDecimal": "-Infinity"}}`, want: `{"$numberDecimal": "NaN"}`},
		{expr: `{"$trunc": {"$numberDecimal": "0E+3"}}`, want: `{"$numberDecimal": "0"}`},
		{expr: `{"$pow": [{"$numberDecimal": "2"}, 3]}`, want: `{"$numberDecimal": "8.000000000000000000000000000000000"}`},
		{expr: `{"$pow": [{"$numberDecimal": "0"}, 3]}`, want: `{"$numberDecimal": "0E-6176"}`},
		{expr: `{"$sqrt": {"$numberDecimal": "4.00"}}`, want: `{"$numberDecimal": "2.0"}`},
		{expr: `{"$sqrt": {"$numberDecimal": "1E+10"}}`, want: `{"$numberDecimal": "1E+5"}`},
		// Texts by code point: the match begins in the range and may end beyond.
		{expr: `{"$indexOfCP": ["hello", "ll", 0, 3]}`, want: `2`},
		{expr: `{"$indexOfBytes": ["hello", "ll", 0, 3]}`, want: `-1`},
		{expr: `{"$indexOfCP": ["hello", "", 5]}`, want: `-1`},
		{expr: `{"$indexOfCP": ["", "", 3]}`, want: `0`},
		{expr: `{"$indexOfCP": ["$u", "ö"]}`, want: `7`},
		{expr: `{"$substrBytes": ["$s", {"$numberDecimal": "1"}, 1]}`, code: 16034},
		{expr: `{"$substrBytes": ["$s", 1, {"$numberDecimal": "1"}]}`, code: 16035},
		// Sets: elements of the smaller one, codes of a constant one.
		{expr: `{"$setIntersection": [[1, {"$numberDouble": "2.0"}, 3], [2]]}`, want: `[2]`},
		{expr: `{"$setIsSubset": ["$s", "$a"]}`, code: 17046},
		{expr: `{"$setIsSubset": ["$a", "$s"]}`, code: 17042},
		{expr: `{"$setIsSubset": ["$a", [1, 2, 3]]}`, want: `true`},
		{expr: `{"$setIsSubset": ["$a", 5]}`, code: 17311},
		{expr: `{"$indexOfArray": ["x", "$i"]}`, code: 50809},
		{expr: `{"$indexOfArray": ["x", 1]}`, code: 40090},
		{expr: `{"$filter": {"input": "$a", "as": 5, "cond": true}}`, code: 16866},
		{expr: `"$$ROOT."`, code: 40353},
		{expr: `"$$ROOT..a"`, code: 15998},
		{expr: `{"$ifNull": ["$n"]}`, code: 16020},
		// Conversions.
		{expr: `{"$toInt": ["1", "2"]}`, code: 50723},
		{expr: `{"$toInt": {"$numberDouble": "-2147483648.9"}}`, code: 241},
		{expr: `{"$toInt": {"$numberDecimal": "-2147483648.9"}}`, want: `-2147483648`},
		{expr: `{"$convert": {"input": null, "to": "nope"}}`, code: 2},
		{expr: `{"$convert": {"input": "$i", "to": 20}}`, code: 9},
		{expr: `{"$convert": {"input": "$a", "to": "array"}}`, code: 241},
		{expr: `{"$convert": {"input": "$i", "to": 127, "onError": "no"}}`, want: `"no"`},
		// Dates.
		{expr: `{"$hour": {"date": "$t", "timezone": 5}}`, code: 40533},
		{expr: `{"$hour": {"date": null, "timezone": 5}}`, want: `null`},
		{expr: `{"$hour": {}}`, code: 40539},
		{expr: `{"$dateToString": {"date": "$t", "timezone": "America/New_York"}}`, want: `"2020-02-02T23:05:06.123Z"`},
		{expr: `{"$dateToString": {"date": null, "format": "%q"}}`, code: 18536},
		{expr: `{"$dateToString": {"date": null, "format": "%"}}`, code: 18535},
		{expr: `{"$dateToString": {"date": null, "timezone": "nowhere"}}`, code: 40485},
		{expr: `{"$dateToParts": {"date": null, "timezone": "nowhere"}}`, code: 40485},
		{expr: `{"$dateToParts": {"date": null, "iso8601": 1}}`, code: 40521},
		{expr: `{"$dateFromParts": {"year": 0}}`, want: `{"$date": {"$numberLong": "-62167219200000"}}`},
		{expr: `{"$dateFromParts": {"year": 2020, "isoWeek": 1}}`, code: 40489},
		{expr: `{"$dateFromParts": {"isoWeekYear": 2020, "day": 1}}`, code: 40525},
		{expr: `{"$dateFromString": {"dateString": "2020", "format": "%Y"}}`, code: 241},
		{expr: `{"$dateFromString": {"dateString": "2020", "format": "%Y", "onError": 1}}`, want: `1`},
		{expr: `{"$dateFromString": {"dateString": null, "format": 5}}`, code: 40684},
		{expr: `{"$dateFromString": {"dateString": null, "format": "%q"}}`, code: 18536},
		{expr: `{"$dateFromString": {"dateString": null, "timezone": "nowhere"}}`, code: 40485},
		{expr: `{"$dateFromString": {"dateString": "2020-02-03T00:00:00Z", "timezone": "UTC"}}`, want: `{"$date": {"$numberLong": "1580688000000"}}`},
	})
}

// TestConstantsFail: an operator on constants fails the pipeline though no document reaches it.
func TestConstantsFail(t *testing.T) {
	for text, code := range map[string]int{
		`{"$cond": ["$b", {"$divide": [1, 0]}, 1]}`: 16608,
		`{"$or": [true, {"$toInt": "x"}]}`:          241,
		`{"x": {"$strLenCP": 5}}`:                   34471,
	} {
		if _, err := Compile(value(t, text), nil); err == nil || int(mongoerr.CodeOf(err)) != code {
			t.Errorf("%s: %v, want code %d", text, err, code)
		}
	}
	if _, err := Compile(value(t, `{"$switch": {"branches": [{"case": false, "then": 1}]}}`), nil); err != nil {
		t.Errorf("a $switch without a match fails before a document comes: %v", err)
	}
}
