package extjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/bson"
)

// seeds are valid texts of every kind of value.
var seeds = []string{
	`{}`,
	`{"a":1,"b":-2147483649,"c":2147483648,"d":9007199254740993,"e":9223372036854775808,"f":-0,"g":1.0,"h":1e3,"i":-1.25E-7}`,
	`{"a":0.1,"b":123456789.123456789,"c":1e308,"d":5e-324,"e":0.30000000000000004,"f":9007199254740993.0}`,
	`{"s":"plain","e":"a\"b\\c\/d\b\f\n\r\té😀","u":"grüße 日本語","n":"a\u0000b","":""}`,
	`{"a":[],"b":[1,[2,[3]],{"c":[{}]}],"t":true,"f":false,"n":null, "d":{"x":{"y":{}}}}`,
	` { "a" : [ 1 , 2 ] , "b" : { } } `,
	`{"a":1,"a":2}`,
	`{"_id":{"$oid":"5f0000000000000000000001"},"l":{"$numberLong":"-5"},"i":{"$numberInt":"7"},"d":{"$numberDouble":"-Infinity"}}`,
	`{"d":{"$numberDouble":"1.5"},"n":{"$numberDecimal":"1.2E+10"},"t":{"$date":{"$numberLong":"-1"}},"u":{"$date":"2020-01-02T03:04:05.678Z"}}`,
	`{"t":{"$date":"2020-01-02T03:04:05+02:00"},"z":{"$date":"2020-01-02T03:04:05.1+0200"}}`,
	`{"b":{"$binary":{"base64":"AQID","subType":"00"}},"c":{"$binary":{"subType":"80","base64":""}},"l":{"$binary":"AQID","$type":"5"}}`,
	`{"b":{"$binary":{"base64":"AQID","subType":"02"}}}`,
	`{"u":{"$uuid":"73ffd264-44b3-4c69-90e8-e7d1dfc035d4"},"ts":{"$timestamp":{"t":4294967295,"i":1}}}`,
	`{"r":{"$regularExpression":{"pattern":"^a","options":"mi"}},"m":{"$minKey":1},"M":{"$maxKey":1},"u":{"$undefined":true},"y":{"$symbol":"s"}}`,
	`{"c":{"$code":"f()"},"s":{"$code":"g()","$scope":{"x":{"$numberLong":"1"}}},"p":{"$dbPointer":{"$ref":"db.c","$id":"5f0000000000000000000001"}}}`,
	`{"ref":{"$ref":"c","$id":{"$oid":"5f0000000000000000000001"}},"q":{"$gt":5},"x":{"$regex":"a"}}`,
}

func TestAgreesWithDriver(t *testing.T) {
	for _, s := range seeds {
		var want bson.Raw
		if err := bson.UnmarshalExtJSON([]byte(s), false, &want); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		var p Parser
		got, err := p.Append([]byte("x"), []byte(s))
		if err != nil || !bytes.Equal(got[1:], want) {
			t.Errorf("%s\n got %s %v\nwant %s", s, bson.Raw(got[1:]), err, want)
		}
	}
}

func TestOnlyOurs(t *testing.T) {
	tests := map[string]string{
		`{"r":{"$regex":"a","$options":"im"}}`: `{"r": {"$regularExpression":{"pattern":"a","options":"im"}}}`,
		"\xef\xbb\xbf{\"a\":1}\r\n":            `{"a": {"$numberInt":"1"}}`,
		`{"d":{"$date":1000}}`:                 `{"d": {"$date":{"$numberLong":"1000"}}}`,
		`{"l":{"$numberLong":5}}`:              `{"l": {"$numberLong":"5"}}`,
		`{"d":{"$numberDouble":5}}`:            `{"d": {"$numberDouble":"5.0"}}`,
		`{"a":{"\u0024numberInt":"3"}}`:        `{"a": {"$numberInt":"3"}}`,
		`{"p":{"$dbPointer":{"$ref":"c","$id":{"$oid":"5f0000000000000000000001"}}}}`: `{"p": {"$dbPointer":{"$ref":"c","$id":{"$oid":"5f0000000000000000000001"}}}}`,
	}
	for in, want := range tests {
		var p Parser
		got, err := p.Append(nil, []byte(in))
		if err != nil || bson.Raw(got).String() != want {
			t.Errorf("%s: got %s %v, want %s", in, bson.Raw(got), err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	deep := strings.Repeat(`{"a":`, MaxDepth)
	tests := []struct {
		in     string
		offset int
		want   string
	}{
		{``, 0, "no document"},
		{` [1]`, 1, "must begin with {"},
		{`{"a":1} x`, 8, "something follows"},
		{`{"a":1}{"b":2}`, 7, "something follows"},
		{`{"a":01}`, 5, "leading zero"},
		{`{"a":-}`, 6, "a digit"},
		{`{"a":1.}`, 7, "a digit"},
		{`{"a":1e}`, 7, "a digit"},
		{`{"a":1e999}`, 5, "range of a double"},
		{`{"a":tru}`, 5, "a value"},
		{`{"a":1,}`, 7, "a key"},
		{`{"a" 1}`, 5, `'1' where :`},
		{`{"a":[1 2]}`, 8, ", or ]"},
		{`{"a":"b`, 1, "a string without an end"},
		{"{\"a\":\"b\x01\"}", 7, "control character 0x01"},
		{"{\"a\":\"12345678b\xff\"}", 15, "invalid UTF-8 (byte 0xff)"},
		{"{\"a\xc0\x80\":1}", 3, "invalid UTF-8"},
		{`{"a\u0000b":1}`, 1, "NUL in a key"},
		{`{"a":"\ud800x"}`, 6, "surrogate"},
		{`{"a":"\q"}`, 6, `unknown escape \q`},
		{`{"a":"\u12g4"}`, 6, "four hexadecimal"},
		{`{"a":{"$oid":"12"}}`, 13, "24 hexadecimal"},
		{`{"a":{"$oid":"5f0000000000000000000001","b":1}}`, 39, "}"},
		{`{"a":{"$numberInt":"3000000000"}}`, 19, "integer of 32 bits"},
		{`{"a":{"$date":"yesterday"}}`, 14, "not a date"},
		{`{"a":{"$scope":{}}}`, 14, "$scope must follow"},
		{`{"a":{"$binary":{"base64":"?","subType":"0"}}}`, 26, "base64"},
		{deep + `{}` + strings.Repeat("}", MaxDepth), 180*5 + 1, "more than 180 levels"},
		{`{"s":"` + strings.Repeat("x", MaxSize) + `"}`, 0, "16777229 bytes, 16777216 are allowed"},
	}
	for _, tt := range tests {
		var p Parser
		got, err := p.Append([]byte("keep"), []byte(tt.in))
		var se *SyntaxError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), tt.want) || string(got) != "keep" {
			t.Errorf("%.60s: %q, %v, want %s", tt.in, got, err, tt.want)
			continue
		}
		if tt.want != "a string without an end" && se.Offset != tt.offset {
			t.Errorf("%.60s: offset %d, want %d (%v)", tt.in, se.Offset, tt.offset, err)
		}
	}
}

// A string of exactly the largest size goes through.
func TestLargest(t *testing.T) {
	in := []byte(`{"s":"` + strings.Repeat("x", MaxSize-13) + `"}`)
	var p Parser
	got, err := p.Append(nil, in)
	if err != nil || len(got) != MaxSize {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func FuzzAppend(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var p Parser
		got, err := p.Append(nil, in)
		if err == nil {
			if err := bson.Raw(got).Validate(); err != nil {
				t.Fatalf("%q gives invalid BSON: %v", in, err)
			}
			if !json.Valid(bytes.TrimPrefix(in, []byte("\xef\xbb\xbf"))) || !utf8.Valid(in) {
				t.Fatalf("%q is not JSON and was taken", in)
			}
		}
		if !json.Valid(in) || !utf8.Valid(in) || bytes.Contains(in, []byte(`\u`)) {
			return
		}
		var want bson.Raw
		if bson.UnmarshalExtJSON(in, false, &want) != nil {
			return
		}
		if want.Validate() != nil {
			return
		}
		if err != nil {
			// Ours refuses what the driver lets pass: a NUL in a key cuts it off there.
			if trimmed := bytes.TrimSpace(in); len(trimmed) == 0 || trimmed[0] != '{' {
				return
			}
			t.Fatalf("%q: %v, and the driver takes it: %s", in, err, want)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%q: %s, the driver has %s", in, bson.Raw(got), want)
		}
	})
}

const sample = `{"_id":{"$oid":"5f0000000000000000000001"},"name":"Ada Lovelace","email":"ada.lovelace@example.org","age":36,"balance":1234.56,"active":true,"address":{"street":"12 Analytical Road","city":"London","zip":"N1 9GU"},"tags":["math","engine","poetry"],"visits":18446}`

func BenchmarkAppend(b *testing.B) {
	in := []byte(sample)
	b.Run("own", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		var p Parser
		var buf []byte
		for b.Loop() {
			var err error
			if buf, err = p.Append(buf[:0], in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("driver", func(b *testing.B) {
		b.SetBytes(int64(len(in)))
		b.ReportAllocs()
		for b.Loop() {
			var raw bson.Raw
			if err := bson.UnmarshalExtJSON(in, false, &raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Text that is read, written and read again gives the same bytes, and the
// driver reads what is written as the same.
func TestWriterRoundTrip(t *testing.T) {
	for _, s := range seeds {
		var p Parser
		doc, err := p.Append(nil, []byte(s))
		if err != nil {
			t.Fatal(err)
		}
		for _, canonical := range []bool{true, false} {
			text, err := AppendJSON([]byte("x"), doc, canonical)
			if err != nil {
				t.Fatal(err)
			}
			again, err := p.Append(nil, text[1:])
			if err != nil || !bytes.Equal(again, doc) {
				t.Errorf("%s\nwritten %s\nread %s %v", s, text[1:], bson.Raw(again), err)
			}
			var driver bson.Raw
			if strings.Contains(s, "$dbPointer") { // the driver reads another form of these
				continue
			}
			if err := bson.UnmarshalExtJSON(text[1:], canonical, &driver); err != nil || !bytes.Equal(driver, doc) {
				t.Errorf("the driver reads %s as %s %v", text[1:], driver, err)
			}
		}
	}
	for _, bad := range []string{"", "\x05\x00\x00\x00", "\x06\x00\x00\x00\x00\x00", "\x0e\x00\x00\x00\x02a\x00\x02\x00\x00\x00\xff\x00\x00"} {
		if out, err := AppendJSON([]byte("x"), []byte(bad), false); err == nil || string(out) != "x" {
			t.Errorf("%q: %s %v", bad, out, err)
		}
	}
}

func FuzzWriter(f *testing.F) {
	for _, s := range seeds {
		var p Parser
		doc, _ := p.Append(nil, []byte(s))
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		text, err := AppendJSON(nil, doc, true)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%x gives %s", doc, text)
		}
	})
}

// The quick way to read a date agrees with time.Parse on every day, and refuses what that refuses.
func TestDates(t *testing.T) {
	for at := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 10000; at = at.Add(41*time.Hour + 17*time.Minute + 3*time.Second + 121*time.Millisecond) {
		s := at.Format("2006-01-02T15:04:05.999Z07:00")
		if ms, ok := utcDate([]byte(s)); !ok || ms != at.UnixMilli() {
			t.Fatalf("%s: %d %v, want %d", s, ms, ok, at.UnixMilli())
		}
	}
	for _, s := range []string{
		"2023-02-29T00:00:00Z", "2023-04-31T00:00:00Z", "2023-13-01T00:00:00Z", "2023-00-01T00:00:00Z", "2023-01-00T00:00:00Z",
		"2023-01-01T24:00:00Z", "2023-01-01T00:60:00Z", "2023-01-01T00:00:60Z", "2023-01-01T00:00:00.Z", "2023-01-01T00:00:0aZ", "2023-01-01 00:00:00Z",
	} {
		if ms, ok := Date([]byte(s)); ok {
			t.Errorf("%s is taken as %d", s, ms)
		}
	}
}
