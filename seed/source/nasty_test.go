package source

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"
)

// nested is a document of so many levels.
func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
}

// What real files hold, in each format where it can be. A want of one document is its
// relaxed JSON; "!" and a part of the message is a record that is refused; after
// either a good record follows, unless the rest of the file can't be read.
func TestNastyFiles(t *testing.T) {
	const good = `{"good":1}`
	dump := func(d any) string { return dumpOf(d) + dumpOf(bson.D{{Key: "good", Value: int32(1)}}) }
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"mark in ndjson", "a.ndjson", "\xef\xbb\xbf{\"a\":1}\n" + good, []string{`{"a":1}`, good}},
		{"mark in json", "a.json", "\xef\xbb\xbf[{\"a\":1},\n" + good + "]", []string{`{"a":1}`, good}},
		{"mark in csv", "a.csv", "\xef\xbb\xbfgood,b\n1,\n", []string{good}},
		{"mark in tsv", "a.tsv", "\xef\xbb\xbfgood\tb\n1\t\n", []string{good}},

		{"crlf in ndjson", "a.ndjson", "{\"a\":1}\r\n\r\n" + good + "\r\n", []string{`{"a":1}`, good}},
		{"crlf in json", "a.json", "[\r\n{\"a\":\r\n1},\r\n" + good + "\r\n]\r\n", []string{`{"a":1}`, good}},
		{"crlf in csv", "a.csv", "a,good\r\n\"x\r\ny\",\r\n,1\r\n", []string{`{"a":"x\r\ny"}`, good}},
		{"crlf in tsv", "a.tsv", "a\tgood\r\nx\t\r\n\t1\r\n", []string{`{"a":"x"}`, good}},

		{"deep in ndjson", "a.ndjson", nested(180) + "\n" + good, []string{nested(180), good}},
		{"deeper in ndjson", "a.ndjson", nested(181) + "\n" + good, []string{"!more than 180 levels", good}},
		{"deeper in json", "a.json", "[" + nested(100_000) + "," + good + "]", []string{"!more than 180 levels", good}},
		{"deep beyond all in ndjson", "a.ndjson", strings.Repeat("[", 1_000_000) + "\n" + good, []string{"!must begin with {", good}},

		{"same key twice in ndjson", "a.ndjson", `{"a":1,"a":2}` + "\n" + good, []string{`{"a":1,"a":2}`, good}},
		{"same key twice in json", "a.json", `[{"a":1,"a":{"b":1,"b":2}},` + good + "]", []string{`{"a":1,"a":{"b":1,"b":2}}`, good}},
		{"same column twice", "a.csv", "a,a\n1,2\n", []string{"!two columns are named a"}},
		{"same key twice in bson", "a.bson", dump(bson.D{{Key: "a", Value: int32(1)}, {Key: "a", Value: int32(2)}}), []string{`{"a":1,"a":2}`, good}},

		{
			"large numbers in ndjson", "a.ndjson", `{"a":9007199254740993,"b":-9223372036854775808,"c":9223372036854775808,"d":1e400}` + "\n" + good,
			[]string{"!beyond the range of a double", good},
		},
		{
			"numbers beyond 2^53 in ndjson", "a.ndjson", `{"a":9007199254740993,"b":-9223372036854775808,"c":9223372036854775808}` + "\n" + good,
			[]string{`{"a":9007199254740993,"b":-9223372036854775808,"c":9.223372036854776E+18}`, good},
		},
		{"numbers beyond 2^53 in json", "a.json", `[{"a":9007199254740993},` + good + "]", []string{`{"a":9007199254740993}`, good}},
		{"numbers beyond 2^53 in csv", "a.csv", "a,b.int64(),good\n9007199254740993,9223372036854775807,\n,,1\n", []string{`{"a":9007199254740993,"b":9223372036854775807}`, good}},
		{"numbers beyond int64 in csv", "a.csv", "b.int64(),good\n9223372036854775808,\n,1\n", []string{"!is not of type int64", good}},
		{"numbers beyond 2^53 in bson", "a.bson", dump(bson.D{{Key: "a", Value: int64(9007199254740993)}}), []string{`{"a":9007199254740993}`, good}},

		{"invalid utf-8 in ndjson", "a.ndjson", "{\"a\":\"x\xffy\"}\n" + good, []string{"!invalid UTF-8", good}},
		{"invalid utf-8 in a key", "a.ndjson", "{\"\xc3\":1}\n" + good, []string{"!invalid UTF-8", good}},
		{"invalid utf-8 in json", "a.json", "[{\"a\":\"\xed\xa0\x80\"}," + good + "]", []string{"!invalid UTF-8", good}},
		{"invalid utf-8 in csv", "a.csv", "a,good\n\xff,\n,1\n", []string{"!invalid UTF-8", good}},
		{"invalid utf-8 in a header", "a.tsv", "a\xff\tgood\n", []string{"!header: invalid UTF-8"}},
		// A dump is taken as it is: a server holds such strings too.
		{"invalid utf-8 in bson", "a.bson", "\x0e\x00\x00\x00\x02a\x00\x02\x00\x00\x00\xff\x00\x00" + dumpOf(bson.D{{Key: "good", Value: int32(1)}}), []string{`{"a":"\ufffd"}`, good}},

		{"empty ndjson", "a.ndjson", "", []string{"!the file is empty"}},
		{"empty csv", "a.csv", "", []string{"!the file is empty"}},
		{"empty bson", "a.bson", "", []string{"!the file is empty"}},
		{"empty gzip", "a.ndjson.gz", gz(""), []string{"!the file is empty"}},
		{"empty zstd", "a.json.zst", zst(""), []string{"!the file is empty"}},
		{"a mark alone", "a.json", "\xef\xbb\xbf", []string{"!the format is not recognised"}},
		{"blank lines alone", "a.ndjson", "\n\r\n \n", nil},

		{"zstd cut off", "a.ndjson.zst", zst(strings.Repeat(good+"\n", 100))[:30], []string{"!zstd: the compressed data ends too early"}},
		{"csv in a gzip that is cut off", "a.csv.gz", gz("good\n1\n")[:24], []string{good, "!gzip: the compressed data ends too early"}},
		{"bson in a gzip that is cut off", "a.bson.gz", gz(dump(bson.D{}))[:20], []string{`{}`, "!gzip: the compressed data ends too early"}},
		{"not gzip after all", "a.json.gz", good, []string{good}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Config{Paths: []string{put(t, filepath.Join(t.TempDir(), tt.file), tt.text)}}
			var got []string
			for d, err := range Documents(t.Context(), c) {
				if err != nil {
					got = append(got, "!"+err.Error())
					continue
				}
				j, err := bson.MarshalExtJSON(d.Raw, false, false)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(j))
			}
			for i := range got {
				if i < len(tt.want) && strings.HasPrefix(tt.want[i], "!") && strings.HasPrefix(got[i], "!") && strings.Contains(got[i], tt.want[i][1:]) {
					got[i] = tt.want[i]
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A record of 16 MiB is too large for a server by what is around it; the
// next one is read all the same, in every format.
func TestLargestRecords(t *testing.T) {
	text := strings.Repeat("x", 16<<20)
	fits := strings.Repeat("x", 16<<20-100)
	dir := t.TempDir()
	for name, file := range map[string]string{
		"a.ndjson": "{\"s\":%q}\n{\"s\":\"\"}\n", "a.json": "[{\"s\":%q},{\"s\":\"\"}]", "a.csv": "s.string()\n%s\n\"\"\n", "a.tsv": "s.string()\n%s\n\"\"\n",
	} {
		for _, s := range []string{text, fits} {
			c := Config{Paths: []string{put(t, filepath.Join(dir, name), fmt.Sprintf(file, s))}}
			var sizes []int
			for d, err := range Documents(t.Context(), c) {
				if err != nil {
					if !strings.Contains(err.Error(), "16777216 are allowed") {
						t.Errorf("%s: %.200v", name, err)
					}
					sizes = append(sizes, -1)
					continue
				}
				sizes = append(sizes, len(d.Raw))
			}
			first := len(s) + 13
			if first > 16<<20 {
				first = -1
			}
			if d := cmp.Diff([]int{first, 13}, sizes); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}
