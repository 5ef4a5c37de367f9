package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// goldenSkips are cases that do not pass, with the reason: a number of docs/differences.md, or what is missing.
// A case of this list that passes fails the test.
var goldenSkips = map[string]string{}

// goldenCase is a recorded conversation with a 4.0 server; it starts from dropped databases.
type goldenCase struct {
	Name  string       `bson:"name"`
	Steps []goldenStep `bson:"steps"`
}

type goldenStep struct {
	DB        string      `bson:"db"`
	Cmd       bson.Raw    `bson:"cmd"`
	Reply     bson.Raw    `bson:"reply"`
	Volatile  []string    `bson:"volatile"`  // fields not compared, anywhere
	Unordered bool        `bson:"unordered"` // arrays of results are sets
	CodeOnly  bool        `bson:"codeOnly"`  // only success or the code counts
	Fill      *goldenFill `bson:"fill"`
}

// goldenFill inserts n documents made by rule.
type goldenFill struct {
	Coll   string   `bson:"coll"`
	N      int64    `bson:"n"`
	Fields bson.Raw `bson:"fields"`
}

// TestGolden replays recorded answers of a real server through a driver.
//
//	go test -run 'TestGolden/query' ./internal/embedded
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	e := openEngine(t)
	client := connect(t, e)
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			for _, c := range readGolden(t, file) {
				seen[c.Name] = true
				_, short, _ := strings.Cut(c.Name, "/")
				t.Run(short, func(t *testing.T) { runGolden(t, client, c) })
			}
		})
	}
	for name := range goldenSkips {
		if !seen[name] && !t.Failed() && !isFiltered() {
			t.Errorf("%s is in goldenSkips, but there is no such case", name)
		}
	}
}

// isFiltered: -run may leave files out.
func isFiltered() bool {
	for _, a := range os.Args {
		if strings.HasPrefix(a, "-test.run=") && a != "-test.run=" {
			return true
		}
	}
	return false
}

func readGolden(t *testing.T, file string) []goldenCase {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var text struct {
		Cases []json.RawMessage `json:"cases"`
	}
	if err := json.Unmarshal(b, &text); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	cases := make([]goldenCase, len(text.Cases))
	for i, raw := range text.Cases {
		if err := bson.UnmarshalExtJSON(raw, true, &cases[i]); err != nil {
			t.Fatalf("%s: case %d: %v", file, i, err)
		}
	}
	return cases
}

func runGolden(t *testing.T, client *mongo.Client, c goldenCase) {
	err := replay(client, c)
	reason, skipped := goldenSkips[c.Name]
	switch {
	case skipped && err == nil:
		t.Errorf("%s passes: remove it from goldenSkips (%s)", c.Name, reason)
	case skipped:
		t.Skipf("%s: %v", reason, err)
	case err != nil:
		t.Error(err)
	}
}

// replay runs the steps up to the first one whose answer differs.
func replay(client *mongo.Client, c goldenCase) error {
	ctx := context.Background()
	for _, s := range c.Steps {
		if s.DB != "admin" {
			if err := client.Database(s.DB).Drop(ctx); err != nil {
				return fmt.Errorf("drop %s: %w", s.DB, err)
			}
		}
	}
	for i, s := range c.Steps {
		db := client.Database(s.DB)
		if s.Fill != nil {
			if err := fill(ctx, db, s.Fill); err != nil {
				return fmt.Errorf("step %d: fill: %w", i, err)
			}
			continue
		}
		if err := compareReply(s, reply(ctx, db, s.Cmd)); err != nil {
			return fmt.Errorf("step %d: %s\n%w", i, cut(s.Cmd.String()), err)
		}
	}
	return nil
}

// cut shortens text for messages.
func cut(s string) string {
	const most = 700
	if len(s) > most {
		return s[:most] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}

// reply runs a command and gives the reply document, failed or not.
func reply(ctx context.Context, db *mongo.Database, cmd bson.Raw) bson.Raw {
	raw, err := db.RunCommand(ctx, cmd).Raw()
	var ce mongo.CommandError
	var we mongo.WriteException
	switch {
	case err == nil:
		return raw
	case errors.As(err, &ce) && ce.Raw != nil:
		return ce.Raw
	case errors.As(err, &we) && we.Raw != nil:
		return we.Raw
	}
	b, _ := bson.Marshal(bson.D{{Key: "ok", Value: 0.0}, {Key: "driver", Value: err.Error()}})
	return b
}

func fill(ctx context.Context, db *mongo.Database, f *goldenFill) error {
	fields, err := f.Fields.Elements()
	if err != nil {
		return err
	}
	for from := int64(0); from < f.N; from += 1000 {
		var docs []any
		for i := from; i < min(from+1000, f.N); i++ {
			var d bson.D
			for _, e := range fields {
				d = append(d, bson.E{Key: e.Key(), Value: fillValue(e.Value(), i)})
			}
			docs = append(docs, d)
		}
		if _, err := db.Collection(f.Coll).InsertMany(ctx, docs); err != nil {
			return err
		}
	}
	return nil
}

func fillValue(rule bson.RawValue, i int64) any {
	if s, ok := rule.StringValueOK(); ok && s == "i" {
		return int32(i)
	}
	d, ok := rule.DocumentOK()
	if !ok {
		return rule
	}
	num := func(name string, otherwise int64) int64 {
		if n, ok := d.Lookup(name).AsInt64OK(); ok {
			return n
		}
		return otherwise
	}
	if d.Lookup("mul").IsZero() && d.Lookup("mod").IsZero() {
		return rule
	}
	n := i*num("mul", 1) + num("add", 0)
	if m := num("mod", 0); m != 0 {
		n %= m
	}
	if p, ok := d.Lookup("str").StringValueOK(); ok {
		return p + strconv.FormatInt(n, 10)
	}
	if b, _ := d.Lookup("double").BooleanOK(); b {
		return float64(n)
	}
	if b, _ := d.Lookup("long").BooleanOK(); b {
		return n
	}
	return int32(n)
}

// alwaysVolatile are fields of replica sets that no answer is compared by.
var alwaysVolatile = []string{"$clusterTime", "operationTime", "electionId", "opTime"}

// compareReply holds the answer against the recorded one by the rules of the recordings.
func compareReply(s goldenStep, got bson.Raw) error {
	wantOK, gotOK := asFloat(s.Reply.Lookup("ok")), asFloat(got.Lookup("ok"))
	if wantOK != gotOK {
		return fmt.Errorf("ok: got %v, want %v\ngot  %s\nwant %s", gotOK, wantOK, cut(got.String()), cut(s.Reply.String()))
	}
	if gotOK == 0 {
		return compareFields(s.Reply, got, "code", "codeName")
	}
	if s.CodeOnly {
		return nil
	}
	if _, err := s.Reply.LookupErr("writeErrors"); err == nil {
		return compareWriteErrors(s.Reply, got)
	}
	v := append(slices.Clone(s.Volatile), alwaysVolatile...)
	want, have := canonTop(s.Reply, v, s.Unordered), canonTop(got, v, s.Unordered)
	if want != have {
		return fmt.Errorf("got  %s\nwant %s\n%s", cut(have), cut(want), firstDifference(have, want))
	}
	return nil
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-60)
	part := func(s string) string { return s[min(from, len(s)):min(i+60, len(s))] }
	return fmt.Sprintf("first difference at %d:\n  got  …%s…\n  want …%s…", i, part(a), part(b))
}

func compareFields(want, got bson.Raw, names ...string) error {
	for _, n := range names {
		w, g := want.Lookup(n), got.Lookup(n)
		if w.Type != g.Type || !bytes.Equal(w.Value, g.Value) {
			return fmt.Errorf("%s: got %v, want %v\ngot  %s\nwant %s", n, g, w, cut(got.String()), cut(want.String()))
		}
	}
	return nil
}

func compareWriteErrors(want, got bson.Raw) error {
	pick := func(r bson.Raw) string {
		text := "n " + r.Lookup("n").String()
		list, _ := r.Lookup("writeErrors").ArrayOK()
		vals, _ := list.Values()
		for _, v := range vals {
			d := v.Document()
			text += fmt.Sprintf("; %v %v", d.Lookup("index"), d.Lookup("code"))
		}
		return text
	}
	if w, g := pick(want), pick(got); w != g {
		return fmt.Errorf("write errors: got %s, want %s\ngot %s", g, w, cut(got.String()))
	}
	return nil
}

func asFloat(v bson.RawValue) float64 {
	if f, ok := v.DoubleOK(); ok {
		return f
	}
	n, _ := v.AsInt64OK()
	return float64(n)
}

// canonTop is a reply's text with its own fields sorted and volatile ones left out.
func canonTop(d bson.Raw, volatile []string, unordered bool) string {
	elems, err := d.Elements()
	if err != nil {
		return "invalid: " + err.Error()
	}
	var parts []string
	for _, e := range elems {
		if !slices.Contains(volatile, e.Key()) {
			parts = append(parts, fmt.Sprintf("%q: %s", e.Key(), canon(e.Value(), volatile, unordered)))
		}
	}
	sort.Strings(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

// canon is a value's text: types told apart, order of fields kept, arrays sorted when unordered.
func canon(v bson.RawValue, volatile []string, unordered bool) string {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		elems, _ := v.Document().Elements()
		var parts []string
		for _, e := range elems {
			if !slices.Contains(volatile, e.Key()) {
				parts = append(parts, fmt.Sprintf("%q: %s", e.Key(), canon(e.Value(), volatile, unordered)))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case bson.TypeArray:
		vals, _ := v.Array().Values()
		parts := make([]string, len(vals))
		for i, e := range vals {
			parts[i] = canon(e, volatile, unordered)
		}
		if unordered {
			sort.Strings(parts)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case bson.TypeDouble:
		f := v.Double()
		if math.IsNaN(f) {
			return "double NaN"
		}
		return fmt.Sprintf("double %v (%x)", f, math.Float64bits(f))
	}
	return v.String()
}
