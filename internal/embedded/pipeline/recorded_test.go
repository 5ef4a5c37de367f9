package pipeline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

type recordedCase struct {
	Name  string
	Steps []map[string]json.RawMessage
}

func recordings(t *testing.T, file string) []recordedCase {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "golden", file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Cases []recordedCase }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f.Cases
}

// TestRecorded replays what a 4.0 server answered.
func TestRecorded(t *testing.T) {
	for _, file := range []string{"aggregate", "expression"} {
		for _, c := range recordings(t, file) {
			t.Run(c.Name, func(t *testing.T) {
				db := openDB(t)
				for _, step := range c.Steps {
					if fill := step["fill"]; fill != nil {
						fillStep(t, db, doc(t, string(fill)))
						continue
					}
					replayStep(t, db, doc(t, string(step["cmd"])), doc(t, string(step["reply"])), step["unordered"] != nil)
				}
			})
		}
	}
}

// fillStep inserts the documents that a fill describes; the recordings here use two kinds of fields.
func fillStep(t *testing.T, db *store.DB, f bsonx.Doc) {
	t.Helper()
	n, _ := f.Get("n").AsInt64()
	var docs []bsonx.Doc
	for i := range n {
		d := bsonx.BeginDoc(nil)
		for it := f.Get("fields").Elems(); it.Next(); {
			v := it.Value()
			switch v.Type {
			case tString:
				v = bsonx.Int32(int32(i))
			case tDoc:
				mul, _ := v.Doc().Get("mul").AsInt64()
				add, _ := v.Doc().Get("add").AsInt64()
				mod, _ := v.Doc().Get("mod").AsInt64()
				v = bsonx.Int32(int32((i*mul + add) % mod))
			}
			d = bsonx.AppendElem(d, string(it.Name()), v)
		}
		docs = append(docs, bsonx.EndDoc(d, 0))
	}
	insert(t, db, store.NS{DB: "gold", Coll: f.Get("coll").Str()}, docs...)
}

func replayStep(t *testing.T, db *store.DB, cmd, reply bsonx.Doc, unordered bool) {
	t.Helper()
	it := cmd.Iter()
	it.Next()
	ns := store.NS{DB: "gold", Coll: it.Value().Str()}
	var got []bsonx.Doc
	var err error
	switch string(it.Name()) {
	case "insert":
		var docs []bsonx.Doc
		for it := cmd.Get("documents").Elems(); it.Next(); {
			docs = append(docs, it.Value().Doc())
		}
		insert(t, db, ns, docs...)
		return
	case "createIndexes":
		for it := cmd.Get("indexes").Elems(); it.Next(); {
			if _, err := db.CreateIndex(ctx, ns, it.Value().Doc()); err != nil {
				t.Fatal(err)
			}
		}
		return
	case "find":
		spec := bsonx.Empty
		if v := cmd.Get("sort"); v.Type == tDoc {
			spec = v.Doc()
		}
		s, perr := query.ParseSort(spec)
		if perr != nil {
			t.Fatal(perr)
		}
		got, err = find(db, ns, s)
	case "listIndexes":
		checkIndexes(t, db, ns, reply)
		return
	case "aggregate":
		if cmd.Get("cursor").IsMissing() || cmd.Get("pipeline").Type != tArray {
			return // for the command to refuse
		}
		got, err = runAll(cmd.Get("pipeline").Doc(), Options{DB: db, NS: ns, Hint: cmd.Get("hint"), AllowDiskUse: true})
	default:
		t.Fatalf("step %s", it.Name())
	}
	compareReply(t, cmd, reply, got, err, unordered)
}

func compareReply(t *testing.T, cmd, reply bsonx.Doc, got []bsonx.Doc, err error, unordered bool) {
	t.Helper()
	if code, failed := reply.Get("code").AsInt64(); failed {
		if int64(mongoerr.CodeOf(err)) != code {
			t.Errorf("%s: got %v (code %d), want code %d", text(cmd), err, mongoerr.CodeOf(err), code)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", text(cmd), err)
	}
	want := []string{}
	for it := reply.Get("cursor").Doc().Get("firstBatch").Elems(); it.Next(); {
		want = append(want, text(it.Value().Doc()))
	}
	have := texts(got)
	if unordered {
		slices.Sort(want)
		slices.Sort(have)
	}
	have = have[:min(len(have), max(len(want), 101))] // a first batch
	if !slices.Equal(have, want) {
		t.Errorf("%s:\n got %v\nwant %v", text(cmd), have, want)
	}
}

func find(db *store.DB, ns store.NS, s *query.SortSpec) ([]bsonx.Doc, error) {
	p := &Pipeline{o: Options{DB: db, NS: ns}, head: head{sort: s, limit: -1}}
	return drain(p, db)
}

func checkIndexes(t *testing.T, db *store.DB, ns store.NS, reply bsonx.Doc) {
	t.Helper()
	snap := db.Snapshot()
	defer snap.Close()
	var have, want []string
	for _, ix := range snap.Collection(ns).Indexes {
		have = append(have, ix.Name)
	}
	for it := reply.Get("cursor").Doc().Get("firstBatch").Elems(); it.Next(); {
		want = append(want, it.Value().Doc().Get("name").Str())
	}
	if !slices.Equal(have, want) {
		t.Errorf("indexes %v, want %v", have, want)
	}
}
