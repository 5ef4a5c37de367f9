package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"
)

func put(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func gz(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func zst(s string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(s), nil))
}

func dumpOf(docs ...any) string {
	var b []byte
	for _, d := range docs {
		raw, _ := bson.Marshal(d)
		b = append(b, raw...)
	}
	return string(b)
}

// read gives each document as JSON and each broken record as an error's text.
func read(t testing.TB, c Config) []string {
	t.Helper()
	var got []string
	for d, err := range Documents(context.Background(), c) {
		if err != nil {
			got = append(got, "! "+strings.ReplaceAll(err.Error(), filepath.Dir(c.Paths[0])+"/", ""))
			continue
		}
		j, err := bson.MarshalExtJSON(d.Raw, false, false)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d/%d %s", d.Line, d.Offset, j))
	}
	return got
}

func TestFormats(t *testing.T) {
	tests := []struct {
		name, file, text string
		c                Config
		want             []string
	}{
		{"ndjson", "a.ndjson", "{\"a\":1}\n\n{\"a\":2}\r\n {\"a\":3}", Config{}, []string{`1/0 {"a":1}`, `3/9 {"a":2}`, `4/18 {"a":3}`}},
		{"mark", "a.ndjson", "\xef\xbb\xbf{\"a\":1}\r\n", Config{}, []string{`1/3 {"a":1}`}},
		{"by content", "a.txt", "{\"a\":1}\n{\"a\":2}\n", Config{}, []string{`1/0 {"a":1}`, `2/8 {"a":2}`}},
		{"array", "a.json", "[\n{\"a\":[{}]},\n  {\"a\":\"]\\\"\"} ]\n", Config{}, []string{`2/2 {"a":[{}]}`, `3/16 {"a":"]\""}`}},
		{"empty array", "a.json", " [ ] ", Config{}, nil},
		{"one", "a.json", "{\n\"a\":\n1}\n", Config{}, []string{`1/0 {"a":1}`}},
		{"many lines", "a.json", "{\n\"a\":1}\n{\"b\":\n2}{\"c\":3}", Config{}, []string{`1/0 {"a":1}`, `3/9 {"b":2}`, `4/17 {"c":3}`}},
		{
			"select", "a.json", `{"x":{"reviews":[9]},"y":"]}","n":-1.5 ,"reviews":[{"a":1},{"a":2}],"z":[1,{}]}`,
			Config{Select: "reviews"},
			[]string{`1/51 {"a":1}`, `1/59 {"a":2}`},
		},
		{
			"select deep in many", "a.json", "[{\"b\":{\"k\":1,\"r\":[{\"a\":1}]}},\n{\"b\":{\"r\":[]}},{\"b\":{\"\\u0072\":[{\"a\":3}]}}]",
			Config{Select: "b.r"},
			[]string{`1/18 {"a":1}`, `2/61 {"a":3}`},
		},
		{"select in lines", "a.ndjson", "{\"r\":[{\"a\":1}]}\n{\"r\":[{\"a\":2}]}\n", Config{Select: "r"}, []string{`1/6 {"a":1}`, `2/22 {"a":2}`}},
		{
			"csv", "a.csv", "name,age.int32(),at.b.date(2006-01-02),at.c,d.string()\r\n\"Ada, \"\"L\"\"\n2\",36,1815-12-10,1.5,\r\nBob,,,007,x\n",
			Config{},
			[]string{`2/56 {"name":"Ada, \"L\"\n2","age":36,"at":{"b":{"$date":{"$numberLong":"-4861728000000"}},"c":1.5},"d":""}`, `4/91 {"name":"Bob","at":{"c":"007"},"d":"x"}`},
		},
		{"tsv", "a.tsv", "a\tb\n1\t\"\"\n", Config{}, []string{`2/4 {"a":1,"b":""}`}},
		{"csv without header", "a.csv", "1,x\n", Config{Columns: "n.int64(),s"}, []string{`1/0 {"n":1,"s":"x"}`}},
		{"bson", "a.bson", dumpOf(bson.D{{Key: "a", Value: 1}}, bson.D{}), Config{}, []string{`0/0 {"a":1}`, `0/12 {}`}},
		{"bson by content", "a", dumpOf(bson.D{{Key: "a", Value: 1}}), Config{}, []string{`0/0 {"a":1}`}},
		{"gzip", "a.json.gz", gz("[{\"a\":1}]"), Config{}, []string{`1/1 {"a":1}`}},
		{"zstd", "a.csv.zst", zst("a\n5\n"), Config{}, []string{`2/2 {"a":5}`}},
		{"override", "a.csv", "{\"a\":1}\n", Config{Format: NDJSON}, []string{`1/0 {"a":1}`}},
	}
	for _, tt := range tests {
		if !strings.HasSuffix(tt.file, "z") && !strings.HasSuffix(tt.file, "zst") {
			for _, w := range tt.want { // a record begins where it is said to
				var line, at int
				if _, err := fmt.Sscanf(w, "%d/%d", &line, &at); err != nil || (line > 0 && line != 1+strings.Count(tt.text[:at], "\n")) {
					t.Fatalf("%s: %s does not fit the text", tt.name, w)
				}
			}
		}
		for _, size := range []int{0, 1} { // 1 cuts as small as it goes
			t.Run(fmt.Sprint(tt.name, size), func(t *testing.T) {
				c := tt.c
				c.ChunkSize = size
				c.Paths = []string{put(t, filepath.Join(t.TempDir(), tt.file), tt.text)}
				if d := cmp.Diff(tt.want, read(t, c)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

func TestBrokenRecords(t *testing.T) {
	whole := gz(strings.Repeat("{\"a\":1}\n", 3))
	tests := []struct {
		name, file, text string
		c                Config
		want             []string
	}{
		{
			"ndjson", "a.ndjson", "{\"a\":1}\n{\"a\":}\n[1]\n{\"s\":\"\xff\"}\n{\"a\":2}\n",
			Config{},
			[]string{`1/0 {"a":1}`, `! a.ndjson: line 2, byte 13: '}' where a value should be`, `! a.ndjson: line 3, byte 15: a document must begin with {`, `! a.ndjson: line 4, byte 25: invalid UTF-8 (byte 0xff)`, `5/29 {"a":2}`},
		},
		{
			"array", "a.json", "[{\"a\":1},\n{\"a\":\n?},7,{\"a\":2}]",
			Config{},
			[]string{`1/1 {"a":1}`, `! a.json: line 3, byte 16: '?' where a value should be`, `! a.json: line 3, byte 19: a document must begin with {`, `3/21 {"a":2}`},
		},
		{"array cut off", "a.json", "[{\"a\":1},\n{\"a\":", Config{}, []string{`1/1 {"a":1}`, `! a.json: line 2, byte 15: the file ends inside a record (the rest of the file can not be read)`}},
		{"array not closed", "a.json", "[{\"a\":1}\n", Config{}, []string{`1/1 {"a":1}`, `! a.json: line 2, byte 9: the file ends inside an array (the rest of the file can not be read)`}},
		{"no comma", "a.json", "[{\"a\":1}{\"a\":2}]", Config{}, []string{`1/1 {"a":1}`, `! a.json: line 1, byte 8: '{' where , or ] should be (the rest of the file can not be read)`}},
		{"trailing comma", "a.json", "[{\"a\":1},]", Config{}, []string{`1/1 {"a":1}`, `! a.json: line 1, byte 9: ']' where an element should be (the rest of the file can not be read)`}},
		{"nothing selected", "a.json", "{\"a\":1}\n{\"r\":5}\n{\"r\":[{\"b\":1}]}", Config{Select: "r"}, []string{`! a.json: line 1, byte 7: the document that ends here has no array r`, `! a.json: line 2, byte 13: r is not an array`, `3/22 {"b":1}`}},
		{"csv", "a.csv", "a.int32(),b\n1,2\nx,2\n1\n1,2,3\n2,\"x\"y\n3,4\n", Config{}, []string{
			`2/12 {"a":1,"b":2}`, `! a.csv: line 3, byte 16: column a: "x" is not of type int32`, `! a.csv: line 4, byte 20: the row has 1 fields, the header 2`,
			`! a.csv: line 5, byte 22: the row has more than the header's 2 fields`, `! a.csv: line 6, byte 28: column 2: text after a field's closing quote`, `7/35 {"a":3,"b":4}`,
		}},
		{"csv quote", "a.csv", "a\n1\n\"x\n", Config{}, []string{`2/2 {"a":1}`, `! a.csv: line 3, byte 4: a quoted field begins in this row and does not end (the rest of the file can not be read)`}},
		{"csv header", "a.csv", "a,a\n1,2\n", Config{}, []string{`! a.csv: line 1, byte 0: header: two columns are named a (the rest of the file can not be read)`}},
		{"csv header type", "a.csv", "a.int(),b\n", Config{}, []string{`! a.csv: line 1, byte 0: header: column a: unknown type int() (the rest of the file can not be read)`}},
		{"csv header apart", "a.csv", "a.x,b,a.y\n", Config{}, []string{`! a.csv: line 1, byte 0: header: the columns of a must stand side by side (the rest of the file can not be read)`}},
		{"bson", "a.bson", dumpOf(bson.D{}) + "\x09\x00\x00\x00\x99a\x00\x00\x00" + dumpOf(bson.D{}) + "\x20\x00", Config{}, []string{
			`0/0 {}`, `! a.bson: byte 5: invalid element type 99`, `0/14 {}`, `! a.bson: byte 21: the file ends inside a document (the rest of the file can not be read)`,
		}},
		{"bson length", "a.bson", "\xff\xff\xff\xff....", Config{}, []string{`! a.bson: byte 0: a document of -1 bytes: is this a dump of BSON? (the rest of the file can not be read)`}},
		{"empty", "a.json", "", Config{}, []string{`! a.json: line 1, byte 0: the file is empty (the rest of the file can not be read)`}},
		{"unknown", "a.dat", "hello", Config{}, []string{`! a.dat: line 1, byte 0: the format is not recognised: name it (ndjson, json, csv, tsv, bson) (the rest of the file can not be read)`}},
		{"utf-16", "a.json", "\xff\xfe{\x00", Config{}, []string{`! a.json: line 1, byte 0: the text is UTF-16: convert it to UTF-8 first (the rest of the file can not be read)`}},
		{"gzip cut off", "a.ndjson.gz", whole[:len(whole)-9], Config{}, nil},
		{"gzip header only", "a.ndjson.gz", whole[:5], Config{}, []string{`! a.ndjson.gz: line 1, byte 0: gzip: the compressed data ends too early: is the file cut off? (the rest of the file can not be read)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.c
			c.Paths = []string{put(t, filepath.Join(t.TempDir(), tt.file), tt.text)}
			got := read(t, c)
			if tt.want == nil { // some records, then the one error
				if len(got) == 0 || !strings.Contains(got[len(got)-1], "byte 24: gzip: the compressed data ends too early") {
					t.Errorf("got %q", got)
				}
				return
			}
			for i := range got {
				if strings.Contains(tt.want[min(i, len(tt.want)-1)], "invalid element type") && strings.HasPrefix(got[i], "! a.bson: byte 5: ") {
					got[i] = tt.want[i] // the words are the driver's
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPathErrors(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                            "holds no files",
		filepath.Join(dir, "none"):     "no such file",
		filepath.Join(dir, "*.json"):   "matches no file",
		filepath.Join(dir, "[.ndjson"): "syntax error in pattern",
		"-":                            "no standard input",
	} {
		if _, err := Open(Config{Paths: []string{path}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	r := &Reader{c: Config{MaxRecord: 1, ChunkSize: 1}, files: []File{{Path: dir}}}
	if err := r.Next(t.Context(), &Chunk{}); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder as a file: %v", err)
	}
}

func TestLongRecords(t *testing.T) {
	long := `{"s":"` + strings.Repeat("x", 100_000) + `"}`
	dir := t.TempDir()
	c := Config{ChunkSize: 1, MaxRecord: 200_000, Paths: []string{put(t, filepath.Join(dir, "a.ndjson"), long+"\n{\"a\":1}\n")}}
	if got := read(t, c); len(got) != 2 || got[1] != `2/100009 {"a":1}` {
		t.Errorf("%d documents", len(got))
	}
	c.MaxRecord = 50_000
	if got := read(t, c); len(got) != 2 || !strings.HasPrefix(got[0], "! a.ndjson: line 1, byte 0: a record of more than 50000 bytes") || got[1] != `2/100009 {"a":1}` {
		t.Errorf("%.200q", got)
	}
	c.Paths = []string{put(t, filepath.Join(dir, "a.json"), "["+long+"]")}
	if got := read(t, c); len(got) != 1 || !strings.Contains(got[0], "a record of more than 50000 bytes (the rest") {
		t.Errorf("%.200q", got)
	}
	// A field that is passed over may have any size.
	c.Select = "r"
	c.Paths = []string{put(t, filepath.Join(dir, "b.json"), `{"skipped":`+long+`,"r":[{"a":1}]}`)}
	if got := read(t, c); len(got) != 1 || !strings.HasSuffix(got[0], `{"a":1}`) {
		t.Errorf("%.200q", got)
	}
	// A line of 16 MiB is too large a document and does not stop the next.
	c = Config{Paths: []string{put(t, filepath.Join(dir, "c.ndjson"), `{"s":"`+strings.Repeat("x", 16<<20)+"\"}\n{\"a\":1}\n")}}
	if got := read(t, c); len(got) != 2 || !strings.Contains(got[0], "16777216 are allowed") || !strings.HasSuffix(got[1], `{"a":1}`) {
		t.Errorf("%.200q", got)
	}
}

func TestStandardInput(t *testing.T) {
	c := Config{Paths: []string{"-"}, Stdin: strings.NewReader(gz("{\"a\":1}\n{\"a\":2}\n"))}
	if got := read(t, c); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestFoldersCountPlan(t *testing.T) {
	dir := t.TempDir()
	for folder, n := range map[string]int{"a": 5, "b": 1, "c": 1, "d": 3, "e/x": 2, "f": 4} {
		text := strings.TrimSuffix(strings.Repeat(`{"k":1},`, n), ",")
		put(t, filepath.Join(dir, folder, "r.json"), `{"reviews":[`+text+`]}`)
	}
	put(t, filepath.Join(dir, ".hidden", "r.json"), "x")
	c := Config{Paths: []string{dir}, Select: "reviews"}
	var told []string
	counts, err := Count(t.Context(), c, func(f FolderCount) { told = append(told, fmt.Sprint(f.Folder, f.Records, f.Running)) })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a5 5", "b1 6", "c1 7", "d3 10", "e2 12", "f4 16"}, told); d != "" {
		t.Error(d)
	}
	plan, err := Plan(counts, 3)
	if d := cmp.Diff([]Range{{0, 1, 5}, {1, 4, 5}, {4, 6, 6}}, plan); d != "" || err != nil {
		t.Error(d, err)
	}
	n := 0
	for _, r := range plan {
		c.From, c.To = r.From, r.To
		n += len(read(t, c))
	}
	if n != 16 {
		t.Errorf("the ranges have %d documents", n)
	}
	if _, err := Plan(counts, 7); err == nil {
		t.Error("more ranges than folders")
	}
	c.From, c.To = 5, 9
	if _, err := Open(c); err == nil || !strings.Contains(err.Error(), "there are 6") {
		t.Error(err)
	}
}

func TestPlanLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 12).Draw(t, "sizes")
		n := rapid.IntRange(1, len(sizes)).Draw(t, "n")
		var counts []FolderCount
		for _, s := range sizes {
			counts = append(counts, FolderCount{Records: s})
		}
		plan, err := Plan(counts, n)
		if err != nil || len(plan) != n {
			t.Fatalf("%v %v", plan, err)
		}
		at, worst := 0, int64(0)
		for _, r := range plan {
			var sum int64
			if r.From != at || r.To <= r.From {
				t.Fatalf("%v", plan)
			}
			for _, c := range counts[r.From:r.To] {
				sum += c.Records
			}
			if sum != r.Records {
				t.Fatalf("%v", plan)
			}
			at, worst = r.To, max(worst, sum)
		}
		if at != len(counts) {
			t.Fatalf("%v leaves folders out", plan)
		}
		if best := bestWorst(sizes, n); worst != best {
			t.Fatalf("%v: the largest has %d, %d is possible", plan, worst, best)
		}
	})
}

// bestWorst tries every cut.
func bestWorst(sizes []int64, n int) int64 {
	var sum int64
	for _, s := range sizes {
		sum += s
	}
	if n == 1 {
		return sum
	}
	best, head := sum, int64(0)
	for i := 1; i <= len(sizes)-n+1; i++ {
		head += sizes[i-1]
		best = min(best, max(head, bestWorst(sizes[i:], n-1)))
	}
	return best
}

func TestWriteReject(t *testing.T) {
	var b bytes.Buffer
	for _, record := range []string{`{"a":}`, "\xff"} {
		if err := WriteReject(&b, &RecordError{Pos: Pos{"f", 3, 40}, Start: 35, Err: errors.New("bad"), Record: []byte(record)}); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"file":"f","line":3,"offset":40,"start":35,"error":"bad","record":"{\"a\":}"}` + "\n" +
		`{"file":"f","line":3,"offset":40,"start":35,"error":"bad","escaped":"\\xff"}` + "\n"
	if b.String() != want {
		t.Error(b.String())
	}
}

// The same documents come in every format, however they are cut, and counting agrees.
func TestFormatsAgree(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var array, ndjson []string
		var dump string
		for range rapid.IntRange(1, 20).Draw(rt, "n") {
			doc := map[string]any{"i": rapid.Int32().Draw(rt, "i"), "s": rapid.String().Draw(rt, "s"), "l": rapid.SliceOfN(rapid.Bool(), 0, 3).Draw(rt, "l")}
			j, err := json.Marshal(doc)
			if err != nil {
				rt.Fatal(err)
			}
			ndjson = append(ndjson, string(j))
			array = append(array, string(j))
			var raw bson.Raw
			if err := bson.UnmarshalExtJSON(j, false, &raw); err != nil {
				rt.Fatal(err)
			}
			dump += string(raw)
		}
		size := rapid.IntRange(1, 300).Draw(rt, "chunk")
		for name, text := range map[string]string{
			"x.ndjson": strings.Join(ndjson, "\n"), "x.json": "[" + strings.Join(array, " ,\n") + "]", "x.bson": dump, "x.json.zst": zst(strings.Join(array, "")),
		} {
			var got string
			c := Config{ChunkSize: size, Paths: []string{put(t, filepath.Join(dir, name), text)}}
			for d, err := range Documents(context.Background(), c) {
				if err != nil {
					rt.Fatal(name, err)
				}
				got += string(d.Raw)
			}
			if got != dump {
				rt.Fatalf("%s differs", name)
			}
			if n, err := Count(context.Background(), c, nil); err != nil || n[0].Records != int64(len(array)) {
				rt.Fatalf("%s: counted %v %v", name, n, err)
			}
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(`[{"a":1},{"b":[2]}]`), uint8(1))
	f.Add([]byte("{\"r\":[{\"a\":1}]}\n{}"), uint8(5))
	f.Add([]byte("a,b.c,b.d\n1,\"x\"\"\",3\n"), uint8(2))
	f.Add([]byte(dumpOf(bson.D{{Key: "a", Value: 1}})), uint8(4))
	f.Add([]byte("{\"a\":1}\n\n{\"b\":2}"), uint8(0))
	f.Fuzz(func(t *testing.T, in []byte, kind uint8) {
		c := Config{Paths: []string{"-"}, MaxRecord: 10000}
		c.Format = []Format{NDJSON, JSON, CSV, TSV, BSON, JSON}[kind%6]
		if kind%6 == 5 {
			c.Select = "r"
		}
		var results [2]string
		for i, size := range []int{1, 0} {
			c.ChunkSize, c.Stdin = size, io.MultiReader(bytes.NewReader(in[:len(in)/2]), bytes.NewReader(in[len(in)/2:]))
			for d, err := range Documents(context.Background(), c) {
				if err != nil {
					var re *RecordError
					if !errors.As(err, &re) || re.Offset < 0 || re.Start < 0 || re.Offset > int64(len(in)) {
						if len(in) > 1 && (in[0] == 0x1f || in[0] == 0x28) {
							continue // compressed: offsets are of the text
						}
						t.Fatalf("%v", err)
					}
					results[i] += err.Error()
					continue
				}
				if err := d.Raw.Validate(); err != nil {
					t.Fatal(err)
				}
				results[i] += d.Raw.String()
			}
		}
		if results[0] != results[1] {
			t.Fatalf("cut differently: %s, %s", results[0], results[1])
		}
	})
}
