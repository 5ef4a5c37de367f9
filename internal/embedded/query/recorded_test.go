package query

import (
	"context"
	"encoding/json"
	"testing"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// TestRecorded replays the finds and updates that a 4.0 server answered, with and without the index
// that the recordings make on the way.
func TestRecorded(t *testing.T) {
	for _, file := range []string{"compare", "query", "expr", "order", "write"} {
		for _, c := range recordings(t, file).Cases {
			t.Run(c.Name, func(t *testing.T) {
				db := openDB(t)
				for _, step := range c.Steps {
					if step["cmd"] == nil {
						t.Skip("not for this package")
					}
					cmd, reply := doc(t, string(step["cmd"])), doc(t, string(step["reply"]))
					replay(t, db, cmd, reply, step)
				}
			})
		}
	}
}

func replay(t *testing.T, db *store.DB, cmd, reply bsonx.Doc, step map[string]json.RawMessage) {
	t.Helper()
	it := cmd.Iter()
	it.Next()
	ns := store.NS{DB: "gold", Coll: it.Value().Str()}
	switch string(it.Name()) {
	case "insert":
		var docs []bsonx.Doc
		for it := cmd.Get("documents").Elems(); it.Next(); {
			docs = append(docs, it.Value().Doc())
		}
		insert(t, db, ns, docs...)
	case "createIndexes":
		for it := cmd.Get("indexes").Elems(); it.Next(); {
			if _, err := db.CreateIndex(context.Background(), ns, it.Value().Doc()); err != nil {
				t.Fatal(err)
			}
		}
	case "find":
		replayFind(t, db, ns, cmd, reply, step["volatile"] != nil)
	case "update":
		replayUpdate(t, db, ns, cmd, reply)
	default:
		t.Skipf("%s is not for this package", it.Name())
	}
}

func replayFind(t *testing.T, db *store.DB, ns store.NS, cmd, reply bsonx.Doc, firstBatch bool) {
	t.Helper()
	got, err := runFind(t, db, ns, cmd)
	if code, failed := reply.Get("code").AsInt64(); failed {
		if int64(mongoerr.CodeOf(err)) != code {
			if _, neg := cmd.Get("limit").AsInt64(); neg || !cmd.Get("skip").IsMissing() {
				return // the command checks these itself
			}
			t.Errorf("%s: got %v, want code %d", text(cmd), err, code)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", text(cmd), err)
	}
	var want []bsonx.Doc
	for it := reply.Get("cursor").Doc().Get("firstBatch").Elems(); it.Next(); {
		want = append(want, it.Value().Doc())
	}
	if firstBatch {
		got = got[:len(want)]
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d documents, want %d\n got %v\nwant %v", text(cmd), len(got), len(want), got, want)
	}
	for i := range got {
		if string(got[i]) != string(want[i]) {
			t.Errorf("%s: document %d\n got %s\nwant %s", text(cmd), i, text(got[i]), text(want[i]))
		}
	}
}

// runFind does what a find command does with this package.
func runFind(t *testing.T, db *store.DB, ns store.NS, cmd bsonx.Doc) ([]bsonx.Doc, error) {
	sub := func(name string) bsonx.Doc {
		if v := cmd.Get(name); v.Type == typeObject {
			return v.Doc()
		}
		return bsonx.Empty
	}
	f, err := ParseFilter(sub("filter"), nil)
	if err != nil {
		return nil, err
	}
	p, err := ParseProjection(sub("projection"), nil)
	if err != nil {
		return nil, err
	}
	s, err := ParseSort(sub("sort"))
	if err != nil {
		return nil, err
	}
	r := Request{Filter: f, Sort: s}
	r.Skip, _ = cmd.Get("skip").AsInt64()
	r.Limit, _ = cmd.Get("limit").AsInt64()
	if r.Skip < 0 || r.Limit < 0 {
		return nil, bad("negative")
	}
	r.Needs = []string{}
	if p.Deps(func(path string) { r.Needs = append(r.Needs, path) }) {
		r.Needs = nil
	}
	snap := db.Snapshot()
	c := snap.Collection(ns)
	_ = snap.Close()
	if c == nil {
		return nil, nil
	}
	docs, _ := read(t, db, ns, r)
	for i, d := range docs {
		if docs[i], err = p.Apply(nil, d); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func replayUpdate(t *testing.T, db *store.DB, ns store.NS, cmd, reply bsonx.Doc) {
	t.Helper()
	wantCode := int64(0)
	if e := reply.Get("writeErrors"); !e.IsMissing() {
		it := e.Elems()
		it.Next()
		wantCode, _ = it.Value().Doc().Get("code").AsInt64()
	}
	var n, modified int64
	var code int64
	for it := cmd.Get("updates").Elems(); it.Next(); {
		a, b, err := runUpdate(t, db, ns, it.Value().Doc())
		n, modified = n+a, modified+b
		if err != nil {
			code = int64(mongoerr.CodeOf(err))
		}
	}
	wantN, _ := reply.Get("n").AsInt64()
	wantModified, _ := reply.Get("nModified").AsInt64()
	if n != wantN || modified != wantModified || code != wantCode {
		t.Errorf("%s: n %d nModified %d code %d, want %d %d %d", text(cmd), n, modified, code, wantN, wantModified, wantCode)
	}
}

func runUpdate(t *testing.T, db *store.DB, ns store.NS, u bsonx.Doc) (n, modified int64, err error) {
	f, err := ParseFilter(u.Get("q").Doc(), nil)
	if err != nil {
		return 0, 0, err
	}
	up, err := ParseUpdate(u.Get("u"), nil, nil)
	if err != nil {
		return 0, 0, err
	}
	snap := db.Snapshot()
	c := snap.Collection(ns)
	_ = snap.Close()
	if c == nil {
		return 0, 0, nil
	}
	docs, _ := read(t, db, ns, Request{Filter: f})
	if !u.Get("multi").Truthy() && len(docs) > 1 {
		docs = docs[:1]
	}
	err = db.Write(context.Background(), ns, store.WriteOptions{}, func(tx *store.Tx) error {
		for _, d := range docs {
			now, changed, err := up.Apply(d, f, false)
			if err != nil {
				return err
			}
			n++
			if changed {
				modified++
				if err := tx.Replace(d, now); err != nil {
					return err
				}
			}
		}
		if len(docs) == 0 && u.Get("upsert").Truthy() {
			seed, err := UpsertSeed(f)
			if err != nil {
				return err
			}
			now, _, err := up.Apply(seed, f, true)
			if err != nil {
				return err
			}
			n++
			return tx.Insert(now)
		}
		return nil
	})
	return n, modified, err
}
