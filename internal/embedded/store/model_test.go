package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// machine drives a database and a map through the same random operations.
type machine struct {
	t      *rapid.T
	fs     *vfs.MemFS
	db     *DB
	colls  map[NS]map[string]bsonx.Doc // by encoded _id
	uniq   map[NS]bool                 // has the unique index on u
	synced bool                        // everything so far is on stable storage
}

func (m *machine) open() {
	db, err := Open(Options{Dir: "data", FS: m.fs, memTableBytes: 256 << 10, CacheBytes: 1 << 20})
	if err != nil {
		m.t.Fatal(err)
	}
	m.db = db
}

func (m *machine) ns() NS {
	return rapid.SampledFrom([]NS{{"d", "a"}, {"d", "b"}, {"e", "a"}}).Draw(m.t, "ns")
}

func (m *machine) doc() bsonx.Doc {
	id := rapid.SampledFrom([]string{"1", "2", "3.0", "4", "5", `"x"`, `"y"`, "null", `{"$oid":"0123456789abcdef01234567"}`}).Draw(m.t, "id")
	a := rapid.SampledFrom([]string{"", `,"a":1`, `,"a":2.0`, `,"a":[1,2,2]`, `,"a":[]`, `,"a":{"b":[1,{"c":2}]}`, `,"a":"text"`}).Draw(m.t, "a")
	u := rapid.SampledFrom([]string{"", `,"u":1`, `,"u":2`, `,"u":3`, `,"u":[4,5]`}).Draw(m.t, "u")
	return jdoc(m.t, "%s", fmt.Sprintf(`{"_id":%s%s%s}`, id, a, u))
}

func idKey(d bsonx.Doc) string { return string(bsonx.AppendKey(nil, idOf(d), false)) }

// clash reports whether the model forbids d beside the documents of coll other than the one with its _id.
func (m *machine) clash(ns NS, d bsonx.Doc) bool {
	if !m.uniq[ns] {
		return false
	}
	keys := func(d bsonx.Doc) []string {
		v := d.Get("u")
		if isArray(v) {
			return []string{"4", "5"}
		}
		if v.IsMissing() {
			return []string{"none"}
		}
		return []string{v.String()}
	}
	for id, o := range m.colls[ns] {
		if id != idKey(d) && slices.ContainsFunc(keys(o), func(k string) bool { return slices.Contains(keys(d), k) }) {
			return true
		}
	}
	return false
}

func (m *machine) coll(ns NS) map[string]bsonx.Doc {
	if m.colls[ns] == nil {
		m.colls[ns] = map[string]bsonx.Doc{}
	}
	return m.colls[ns]
}

func (m *machine) insert(t *rapid.T) {
	ns := m.ns()
	sync := rapid.Bool().Draw(t, "sync")
	docs := make([]bsonx.Doc, rapid.IntRange(1, 6).Draw(t, "n"))
	for i := range docs {
		docs[i] = m.doc()
	}
	ordered := rapid.Bool().Draw(t, "ordered")
	n, errs, err := m.db.InsertMany(ctx, ns, docs, ordered, WriteOptions{Create: true, Sync: sync})
	if err != nil {
		t.Fatal(err)
	}
	m.synced = sync
	coll := m.coll(ns)
	want := 0
	for i, d := range docs {
		if _, there := coll[idKey(d)]; there || m.clash(ns, d) {
			if errs[i] == nil {
				t.Fatalf("document %d %v went in", i, d)
			}
			if ordered {
				break
			}
			continue
		}
		if errs[i] != nil {
			t.Fatalf("document %d: %v", i, errs[i])
		}
		coll[idKey(d)] = d
		want++
	}
	if n != want {
		t.Fatalf("%d went in, want %d", n, want)
	}
}

func (m *machine) bulk(t *rapid.T) {
	ns := m.ns()
	docs := make([]bsonx.Doc, rapid.IntRange(1, 6).Draw(t, "n"))
	for i := range docs {
		docs[i] = m.doc()
	}
	slices.SortFunc(docs, func(a, b bsonx.Doc) int { return strings.Compare(idKey(a), idKey(b)) })
	_, _, errs, err := insertBulk(m.db, ns, docs)
	if err != nil {
		t.Fatal(err)
	}
	m.synced = false
	refused := 0
	coll := m.coll(ns)
	for _, d := range docs {
		if _, there := coll[idKey(d)]; there || m.clash(ns, d) {
			refused++
			continue
		}
		coll[idKey(d)] = d
	}
	if refused != len(errs) {
		t.Fatalf("%d refused, want %d: %v", len(errs), refused, errs)
	}
}

func (m *machine) write(t *rapid.T) {
	ns := m.ns()
	if m.colls[ns] == nil {
		return
	}
	fail := rapid.Bool().Draw(t, "fail")
	sync := rapid.Bool().Draw(t, "sync")
	boom := fmt.Errorf("boom")
	before := m.colls[ns]
	m.colls[ns] = map[string]bsonx.Doc{}
	for k, v := range before {
		m.colls[ns][k] = v
	}
	err := m.db.Write(ctx, ns, WriteOptions{Sync: sync}, func(tx *Tx) error {
		for range rapid.IntRange(1, 5).Draw(t, "ops") {
			d := m.doc()
			k := idKey(d)
			old, err := tx.Get([]byte(k))
			if err != nil {
				return err
			}
			if !bytes.Equal(old, m.colls[ns][k]) {
				t.Fatalf("the Tx reads %v, want %v", old, m.colls[ns][k])
			}
			bad := m.clash(ns, d)
			switch {
			case old == nil:
				err = tx.Insert(d)
			case rapid.Bool().Draw(t, "delete"):
				err, bad = tx.Delete(old), false
				delete(m.colls[ns], k)
				d = nil
			default:
				err = tx.Replace(old, d)
			}
			if bad != (err != nil) || err != nil && mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
				t.Fatalf("clash %v, error %v", bad, err)
			}
			if err == nil && d != nil {
				m.colls[ns][k] = d
			}
		}
		if fail {
			return boom
		}
		return nil
	})
	if fail {
		m.colls[ns] = before
	} else {
		m.synced = sync
	}
	if fail != errors.Is(err, boom) || !fail && err != nil {
		t.Fatal(err)
	}
}

func (m *machine) index(t *rapid.T) {
	ns := m.ns()
	if m.colls[ns] == nil {
		return
	}
	spec := rapid.SampledFrom([]string{
		`{"key":{"a":1},"name":"a"}`, `{"key":{"a.b.c":-1,"_id":1},"name":"abc"}`, `{"key":{"a":1,"a.b":-1},"name":"ab","sparse":true}`,
		`{"key":{"u":1},"name":"u","unique":true}`,
	}).Draw(t, "spec")
	name := jdoc(t, "%s", spec).Get("name").Str()
	m.synced = false
	if rapid.IntRange(0, 2).Draw(t, "drop") == 0 {
		err := m.db.DropIndex(ctx, ns, name)
		if err != nil && mongoerr.CodeOf(err) != mongoerr.IndexNotFound {
			t.Fatal(err)
		}
		if name == "u" {
			m.uniq[ns] = false
		}
		return
	}
	_, err := m.db.CreateIndex(ctx, ns, jdoc(t, "%s", spec))
	switch mongoerr.CodeOf(err) {
	case 0:
		if name == "u" {
			m.uniq[ns] = true
		}
	case mongoerr.DuplicateKey, mongoerr.CannotIndexParallelArrays:
	default:
		t.Fatal(err)
	}
}

func (m *machine) build(t *rapid.T) {
	ns := m.ns()
	keep := rapid.Bool().Draw(t, "keep")
	b, err := m.db.NewBuilder(ctx, ns, keep)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	docs := map[string]bsonx.Doc{}
	for range rapid.IntRange(0, 5).Draw(t, "n") {
		d := m.doc()
		if docs[idKey(d)] != nil {
			continue
		}
		docs[idKey(d)] = d
		if err := b.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "abort") == 0 {
		return
	}
	m.synced = false
	err = b.Publish(ctx)
	switch code := mongoerr.CodeOf(err); {
	case err == nil:
		m.colls[ns] = docs
		if !keep {
			m.uniq[ns] = false
		}
	case keep && (code == mongoerr.DuplicateKey && m.uniq[ns] || code == mongoerr.CannotIndexParallelArrays):
	default:
		t.Fatal(err)
	}
}

func (m *machine) drop(t *rapid.T) {
	ns := m.ns()
	m.synced = false
	if rapid.Bool().Draw(t, "database") {
		if err := m.db.DropDatabase(ctx, ns.DB); err != nil {
			t.Fatal(err)
		}
		for o := range m.colls {
			if o.DB == ns.DB {
				delete(m.colls, o)
				delete(m.uniq, o)
			}
		}
		return
	}
	if _, err := m.db.Drop(ctx, ns); (err == nil) != (m.colls[ns] != nil) {
		t.Fatal(err)
	}
	delete(m.colls, ns)
	delete(m.uniq, ns)
}

func (m *machine) rename(t *rapid.T) {
	from, to := m.ns(), m.ns()
	over := rapid.Bool().Draw(t, "over")
	err := m.db.Rename(ctx, from, to, over)
	ok := from != to && m.colls[from] != nil && (over || m.colls[to] == nil)
	if ok != (err == nil) {
		t.Fatalf("%s to %s: %v", from, to, err)
	}
	if ok {
		m.synced = false
		m.colls[to], m.uniq[to] = m.colls[from], m.uniq[from]
		delete(m.colls, from)
		delete(m.uniq, from)
	}
}

// restart closes and opens; or crashes: what was synced must be there then, and after a sync nothing else is.
func (m *machine) restart(t *rapid.T) {
	crash := rapid.Bool().Draw(t, "crash")
	if !crash {
		if err := m.db.Close(); err != nil {
			t.Fatal(err)
		}
		m.open()
		return
	}
	if !m.synced {
		if err := m.db.Sync(ctx); err != nil {
			t.Fatal(err)
		}
	}
	clone := m.fs.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "kept"),
		RNG:                 rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
	})
	if err := m.db.Close(); err != nil {
		t.Fatal(err)
	}
	m.fs = clone
	m.open()
}

func (m *machine) check(t *rapid.T) {
	s := m.db.Snapshot()
	defer s.Close()
	n := 0
	for _, name := range s.Databases() {
		n += len(s.Collections(name))
	}
	want := 0
	for ns, docs := range m.colls {
		if docs == nil {
			continue
		}
		want++
		c := s.Collection(ns)
		if c == nil {
			t.Fatalf("%s is gone", ns)
		}
		got := allDocs(t, m.db, ns)
		if len(got) != len(docs) {
			t.Fatalf("%s has %d documents, want %d", ns, len(got), len(docs))
		}
		for _, d := range got {
			if !bytes.Equal(docs[idKey(d)], d) {
				t.Fatalf("%s: %v, want %v", ns, d, docs[idKey(d)])
			}
		}
		if m.uniq[ns] != (c.IndexByName("u") != nil) {
			t.Fatalf("%s: unique index there: %v", ns, !m.uniq[ns])
		}
		mustValidate(t, m.db, ns)
	}
	if n != want {
		t.Fatalf("%d collections, want %d", n, want)
	}
	checkNoStrays(t, m.db)
}

// Random operations agree with a map, also across restarts and crashes, and every collection is sound all the time.
func TestAgreesWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{t: t, fs: vfs.NewCrashableMem(), colls: map[NS]map[string]bsonx.Doc{}, uniq: map[NS]bool{}}
		m.open()
		defer func() { _ = m.db.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"insert": m.insert, "insert2": m.insert, "bulk": m.bulk, "write": m.write, "write2": m.write, "index": m.index, "build": m.build,
			"drop": m.drop, "rename": m.rename, "restart": m.restart, "": m.check,
		})
	})
}
