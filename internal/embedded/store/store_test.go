package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// ids gives the _ids of the documents as text.
func ids(docs []bsonx.Doc) string {
	var s []string
	for _, d := range docs {
		s = append(s, idOf(d).String())
	}
	return strings.Join(s, " ")
}

// entries lists an index as "field,field/id" in scan order.
func entries(t testing.TB, db *DB, ns NS, name string, bounds []Bound, reverse bool) string {
	t.Helper()
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(ns)
	ix := c.IndexByName(name)
	it := s.Entries(c, ix, bounds, reverse)
	defer it.Close()
	var out []string
	for it.Next() {
		out = append(out, entryText(t, ix, it))
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func entryText(t testing.TB, ix *Index, it *EntryIter) string {
	t.Helper()
	var fields []string
	k, tb := it.Key(), it.TypeBits()
	for _, f := range ix.Fields {
		v, k2, tb2, err := bsonx.DecodeKey(k, tb, f.Desc)
		if err != nil {
			t.Fatal(err)
		}
		text := v.String()
		if v.IsMissing() {
			text = "missing"
		}
		fields = append(fields, text)
		k, tb = k2, tb2
	}
	id, rest, _, err := bsonx.DecodeKey(it.IDKey(), it.IDTypeBits(), false)
	if err != nil || len(rest) > 0 || len(k) > 0 {
		t.Fatalf("entry %x: id %x, %v", it.Key(), it.IDKey(), err)
	}
	return strings.Join(fields, ",") + "/" + id.String()
}

func TestInsertAndScan(t *testing.T) {
	db := openMem(t)
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a_1"}`)
	for _, i := range []int{3, 1, 2} {
		mustInsert(t, db, testNS, jdoc(t, `{"_id":%d,"a":%d}`, i, 10-i))
	}
	mustInsert(t, db, testNS, jdoc(t, `{"_id":"x"}`), jdoc(t, `{"_id":2.5,"a":8.0}`))
	if got := ids(allDocs(t, db, testNS)); got != `1 2 2.5 3 "x"` {
		t.Error(got)
	}
	if got := entries(t, db, testNS, "a_1", nil, false); got != `missing/"x" 7/3 8/2 8.0/2.5 9/1` {
		t.Error(got)
	}
	if got := entries(t, db, testNS, "a_1", nil, true); got != `9/1 8.0/2.5 8/2 7/3 missing/"x"` {
		t.Error(got)
	}
	key := func(i int32) []byte { return bsonx.AppendKey(nil, bsonx.Int32(i), false) }
	bounds := []Bound{{key(7), key(8)}, {key(9), nil}}
	if got := entries(t, db, testNS, "a_1", bounds, false); got != `7/3 9/1` {
		t.Error(got)
	}
	if got := entries(t, db, testNS, "a_1", bounds, true); got != `9/1 7/3` {
		t.Error(got)
	}
	if got := entries(t, db, testNS, "_id_", nil, false); got != `1/1 2/2 2.5/2.5 3/3 "x"/"x"` {
		t.Error(got)
	}
	mustValidate(t, db, testNS)
}

func TestSeekAndSkip(t *testing.T) {
	db := openMem(t)
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a_1"}`)
	for i := range 20 {
		mustInsert(t, db, testNS, jdoc(t, `{"_id":%d,"a":%d}`, i, i/4))
	}
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(testNS)
	ix := c.IndexByName("a_1")
	for _, reverse := range []bool{false, true} {
		it := s.Entries(c, ix, nil, reverse)
		var got []string
		for it.Next() {
			got = append(got, entryText(t, ix, it))
			it.SkipPast(bytes.Clone(it.Key()))
		}
		want := "0/0 1/4 2/8 3/12 4/16"
		if reverse {
			want = "4/19 3/15 2/11 1/7 0/3"
		}
		if strings.Join(got, " ") != want || it.Err() != nil {
			t.Errorf("distinct keys, reverse %v: %v %v", reverse, got, it.Err())
		}
		it.Close()

		it = s.Entries(c, ix, nil, reverse)
		it.SeekGE(bsonx.AppendKey(nil, bsonx.Int32(2), false))
		it.Next()
		first := entryText(t, ix, it)
		it.SeekGE(bsonx.AppendKey(nil, bsonx.Int32(4), reverse)) // behind us in reverse: one step
		it.Next()
		second := entryText(t, ix, it)
		if reverse && (first != "2/11" || second != "2/10") || !reverse && (first != "2/8" || second != "4/16") {
			t.Errorf("seek, reverse %v: %s, %s", reverse, first, second)
		}
		it.Close()
	}
}

func TestDuplicates(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		t.Run(fmt.Sprint("ordered ", ordered), func(t *testing.T) {
			db := openMem(t)
			mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a_1","unique":true}`)
			mustInsert(t, db, testNS, jdoc(t, `{"_id":5,"a":1}`))
			docs := []bsonx.Doc{
				jdoc(t, `{"_id":1,"a":2}`),
				jdoc(t, `{"_id":5,"a":3}`),   // _id stored
				jdoc(t, `{"_id":2,"a":1}`),   // a stored
				jdoc(t, `{"_id":1.0,"a":4}`), // _id earlier in the batch, as another type
				jdoc(t, `{"_id":3,"a":2}`),   // a earlier in the batch
				jdoc(t, `{"_id":4}`),
				jdoc(t, `{"_id":6,"a":null}`), // missing and null are one key
				jdoc(t, `{"_id":7,"a":3}`),    // free: the one that had it failed
			}
			n, errs, err := db.InsertMany(ctx, testNS, docs, ordered, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want, wantN := map[int]string{1: "_id_ dup key: { _id: 5 }"}, 1
			if !ordered {
				want = map[int]string{
					1: "_id_ dup key: { _id: 5 }", 2: "a_1 dup key: { a: 1 }", 3: "_id_ dup key: { _id: 1.0 }",
					4: "a_1 dup key: { a: 2 }", 6: "a_1 dup key: { a: null }",
				}
				wantN = 3
			}
			if n != wantN || len(errs) != len(want) {
				t.Errorf("n=%d errs=%v", n, errs)
			}
			for i, text := range want {
				full := "E11000 duplicate key error collection: d.c index: " + text
				if errs[i] == nil || errs[i].Error() != full || mongoerr.CodeOf(errs[i]) != mongoerr.DuplicateKey {
					t.Errorf("document %d: %v, want %s", i, errs[i], full)
				}
			}
			mustValidate(t, db, testNS)
		})
	}
}

func TestTx(t *testing.T) {
	db := openMem(t)
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a_1"}`)
	mustIndex(t, db, testNS, `{"key":{"u":1},"name":"u_1","unique":true,"sparse":true}`)
	mustInsert(t, db, testNS, jdoc(t, `{"_id":1,"a":[1,2],"u":1}`), jdoc(t, `{"_id":2,"a":5,"u":2}`))
	err := db.Write(ctx, testNS, WriteOptions{}, func(tx *Tx) error {
		one, err := tx.Get(bsonx.AppendKey(nil, bsonx.Int32(1), false))
		if err != nil {
			return err
		}
		if err := tx.Replace(one, jdoc(t, `{"_id":1,"a":[2.0,3],"u":2}`)); mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
			t.Errorf("replace to a taken unique key: %v", err)
		}
		if err := tx.Insert(jdoc(t, `{"_id":2}`)); mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
			t.Errorf("insert of a taken _id: %v", err)
		}
		if err := tx.Replace(one, jdoc(t, `{"_id":1,"a":[2.0,3],"u":1}`)); err != nil {
			return err
		}
		if err := tx.Insert(jdoc(t, `{"_id":3,"a":7,"u":3}`)); err != nil {
			return err
		}
		if err := tx.Insert(jdoc(t, `{"_id":3,"a":8}`)); mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
			t.Errorf("insert of an own _id: %v", err)
		}
		two, err := tx.Get(bsonx.AppendKey(nil, bsonx.Int32(2), false))
		if err != nil {
			return err
		}
		if err := tx.Delete(two); err != nil {
			return err
		}
		if gone, _ := tx.Get(bsonx.AppendKey(nil, bsonx.Int32(2), false)); gone != nil {
			t.Error("an own deletion is not seen")
		}
		if err := tx.Insert(jdoc(t, `{"_id":4,"u":2}`)); err != nil { // the key is free now
			return err
		}
		if n := tx.Snap().Stats(tx.Collection()).Documents; n != 2 {
			t.Errorf("the Tx's view has %d documents", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := entries(t, db, testNS, "a_1", nil, false); got != "missing/4 2.0/1 3/1 7/3" {
		t.Error(got)
	}
	if got := entries(t, db, testNS, "u_1", nil, false); got != "1/1 2/4 3/3" {
		t.Error(got)
	}
	mustValidate(t, db, testNS)

	boom := fmt.Errorf("boom")
	if err := db.Write(ctx, testNS, WriteOptions{}, func(tx *Tx) error {
		if err := tx.Insert(jdoc(t, `{"_id":9}`)); err != nil {
			return err
		}
		return boom
	}); !errors.Is(err, boom) {
		t.Error(err)
	}
	if got := ids(allDocs(t, db, testNS)); got != "1 3 4" {
		t.Error("after a failed Tx:", got)
	}
	mustValidate(t, db, testNS)
}

func TestCatalog(t *testing.T) {
	db := openMem(t)
	if err := db.Create(ctx, testNS, jdoc(t, `{"capped":true}`)); err != nil {
		t.Fatal(err)
	}
	code := func(want mongoerr.Code, err error) {
		t.Helper()
		if mongoerr.CodeOf(err) != want {
			t.Errorf("got %v (%d), want code %d", err, mongoerr.CodeOf(err), want)
		}
	}
	code(mongoerr.NamespaceExists, db.Create(ctx, testNS, nil))
	_, err := db.Drop(ctx, NS{"d", "none"})
	code(mongoerr.NamespaceNotFound, err)
	_, _, err = db.InsertMany(ctx, NS{"d", "none"}, []bsonx.Doc{jdoc(t, `{"_id":1}`)}, true, WriteOptions{})
	code(mongoerr.NamespaceNotFound, err)
	code(mongoerr.NamespaceNotFound, db.Rename(ctx, NS{"d", "none"}, NS{"d", "n"}, false))

	mustIndex(t, db, testNS, `{"key":{"a":1,"b":-1},"name":"ab"}`)
	for spec, want := range map[string]mongoerr.Code{
		`{"key":{"a":1,"b":-1},"name":"ab"}`:               0,
		`{"key":{"a":1,"b":-1},"name":"other"}`:            mongoerr.IndexOptionsConflict,
		`{"key":{"a":1,"b":-1},"name":"ab","unique":true}`: mongoerr.IndexOptionsConflict,
		`{"key":{"c":1},"name":"ab"}`:                      mongoerr.IndexKeySpecsConflict,
		`{"key":{"c":0},"name":"c"}`:                       mongoerr.CannotCreateIndex,
		`{"key":{"c":"hashed"},"name":"c"}`:                mongoerr.CannotCreateIndex,
		`{"key":{},"name":"c"}`:                            mongoerr.CannotCreateIndex,
		"{\"key\":{\"c\":1},\"name\":\"c\\u0000d\"}":       mongoerr.CannotCreateIndex, // statistics have a field of that name
		`{"key":{"a..b":1},"name":"c"}`:                    mongoerr.CannotCreateIndex,
		`{"key":{"_id":1},"name":"_id_"}`:                  0,
	} {
		existed, err := db.CreateIndex(ctx, testNS, jdoc(t, spec))
		if mongoerr.CodeOf(err) != want || want == 0 && !existed {
			t.Errorf("%s: existed %v, %v", spec, existed, err)
		}
	}
	code(mongoerr.IndexNotFound, db.DropIndex(ctx, testNS, "nope"))
	code(mongoerr.InvalidOptions, db.DropIndex(ctx, testNS, "_id_"))

	mustInsert(t, db, testNS, jdoc(t, `{"_id":1,"a":1,"b":2}`))
	mustInsert(t, db, NS{"e", "x"}, jdoc(t, `{"_id":7}`))
	code(mongoerr.NamespaceExists, db.Rename(ctx, testNS, NS{"e", "x"}, false))
	if err := db.Rename(ctx, testNS, NS{"e", "x"}, true); err != nil {
		t.Fatal(err)
	}
	s := db.Snapshot()
	defer s.Close()
	if got := s.Databases(); !slices.Equal(got, []string{"e"}) {
		t.Error(got)
	}
	c := s.Collection(NS{"e", "x"})
	if got := c.Indexes[1].Spec.Get("ns").Str(); got != "e.x" || c.Options.Get("capped").IsMissing() {
		t.Error(got, c.Options)
	}
	if got := ids(allDocs(t, db, NS{"e", "x"})); got != "1" {
		t.Error(got)
	}
	mustValidate(t, db, NS{"e", "x"})
	if err := db.DropIndex(ctx, NS{"e", "x"}, "ab"); err != nil {
		t.Fatal(err)
	}
	if err := db.DropDatabase(ctx, "e"); err != nil {
		t.Fatal(err)
	}
	if docs := allDocs(t, db, NS{"e", "x"}); docs != nil {
		t.Error("documents after dropDatabase")
	}
	// The old view still sees what it saw.
	it := s.Records(c, nil, false)
	if !it.Next() {
		t.Error("a view lost a document to a drop", it.Err())
	}
	it.Close()
}

func TestReopen(t *testing.T) {
	fs := vfs.NewMem()
	db := openOn(t, fs)
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a_1"}`)
	mustInsert(t, db, testNS, jdoc(t, `{"_id":1,"a":[1,2]}`), jdoc(t, `{"_id":2,"a":3}`))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openOn(t, fs)
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(testNS)
	if c == nil || !c.IndexByName("a_1").IsMultikey() || s.Stats(c).Entries["a_1"] != 3 {
		t.Fatalf("%+v %+v", c, s.Stats(c))
	}
	mustInsert(t, db, testNS, jdoc(t, `{"_id":3,"a":3}`))
	_, errs, _ := db.InsertMany(ctx, testNS, []bsonx.Doc{jdoc(t, `{"_id":3,"a":3}`)}, true, WriteOptions{})
	if len(errs) != 1 {
		t.Error("a duplicate went in after reopening")
	}
	mustValidate(t, db, testNS)
}

func TestCreateIndexOnData(t *testing.T) {
	db := openMem(t)
	var docs []bsonx.Doc
	for i := range 1000 {
		docs = append(docs, jdoc(t, `{"_id":%d,"a":%d,"u":%d}`, i, i%7, i))
	}
	mustInsert(t, db, testNS, docs...)
	mustIndex(t, db, testNS, `{"key":{"a":-1},"name":"a"}`)
	mustIndex(t, db, testNS, `{"key":{"u":1},"name":"u","unique":true}`)
	_, err := db.CreateIndex(ctx, testNS, jdoc(t, `{"key":{"a":1},"name":"bad","unique":true}`))
	if mongoerr.CodeOf(err) != mongoerr.DuplicateKey || !strings.Contains(err.Error(), "dup key: { a: 0 }") {
		t.Error(err)
	}
	r := mustValidate(t, db, testNS)
	if r.Documents != 1000 || r.KeysPerIndex["a"] != 1000 || r.KeysPerIndex["u"] != 1000 || len(r.KeysPerIndex) != 3 {
		t.Errorf("%+v", r)
	}
	mustInsert(t, db, testNS, jdoc(t, `{"_id":5000,"a":1}`))
	mustValidate(t, db, testNS)
	left, err := db.fs.List(db.tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v %v", left, err)
	}
}

func TestBuilder(t *testing.T) {
	for _, keep := range []bool{false, true} {
		db := openMem(t)
		mustInsert(t, db, testNS, jdoc(t, `{"_id":1,"a":1}`))
		mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a"}`)
		b, err := db.NewBuilder(ctx, testNS, keep)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int32{10, 20, 30, 5, 15, 40, 1} {
			if err := b.Add(jdoc(t, `{"_id":%d,"a":%d}`, i, -i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Add(jdoc(t, `{"a":[1,2]}`)); err != nil {
			t.Fatal(err)
		}
		if got := ids(allDocs(t, db, testNS)); got != "1" {
			t.Error("seen before it is published:", got)
		}
		if err := b.Publish(ctx); err != nil {
			t.Fatal(err)
		}
		if got := ids(allDocs(t, db, testNS)); !strings.HasPrefix(got, "1 5 10 15 20 30 40 ObjectId(") {
			t.Error(got)
		}
		r := mustValidate(t, db, testNS)
		if want := map[bool]int64{false: 0, true: 9}[keep]; r.KeysPerIndex["a"] != want {
			t.Errorf("keep %v: %+v", keep, r)
		}
		mustInsert(t, db, testNS, jdoc(t, `{"_id":16,"a":1}`))
		_, errs, _ := db.InsertMany(ctx, testNS, []bsonx.Doc{jdoc(t, `{"_id":15}`)}, true, WriteOptions{})
		if len(errs) != 1 {
			t.Error("a duplicate of a built document went in")
		}
	}
}

func TestBuilderFailures(t *testing.T) {
	db := openMem(t)
	mustInsert(t, db, testNS, jdoc(t, `{"_id":1,"a":1}`))
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a","unique":true}`)
	for name, docs := range map[string][]string{
		"twice in a row":       {`{"_id":1}`, `{"_id":1.0}`},
		"late one of a table":  {`{"_id":1}`, `{"_id":2}`, `{"_id":1}`},
		"two late ones":        {`{"_id":9}`, `{"_id":2}`, `{"_id":2}`},
		"unique index, twice":  {`{"_id":1,"a":5}`, `{"_id":2,"a":5}`},
		"parallel never there": {`{"_id":1,"a":7}`, `{"_id":2,"a":[7]}`},
	} {
		b, err := db.NewBuilder(ctx, testNS, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			if err = b.Add(jdoc(t, d)); err != nil {
				break
			}
		}
		if err == nil {
			err = b.Publish(ctx)
		}
		if mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
			t.Errorf("%s: %v", name, err)
		}
		if err := b.Abort(); err != nil {
			t.Error(err)
		}
	}
	if got := entries(t, db, testNS, "a", nil, false); got != "1/1" {
		t.Error(got)
	}
	mustValidate(t, db, testNS)
	pending := 0
	if err := db.eachKey([]byte{spacePending}, func(_, _ []byte) error { pending++; return nil }); err != nil || pending != 0 {
		t.Error("left pending:", pending, err)
	}
}

func TestFetch(t *testing.T) {
	db := openMem(t)
	for i := range 50 {
		mustInsert(t, db, testNS, jdoc(t, `{"_id":%d}`, 2*i))
	}
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(testNS)
	var keys [][]byte
	want := []int32{98, 4, 5, 6, 8, 4, 40, 200, 0, -1}
	for _, i := range want {
		keys = append(keys, bsonx.AppendKey(nil, bsonx.Int32(i), false))
	}
	var got []string
	if err := s.Fetch(c, keys, func(i int, d bsonx.Doc) error {
		if idOf(d).Int32() != want[i] {
			t.Errorf("%d: %s", i, idOf(d))
		}
		got = append(got, idOf(d).String())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, " "); s != "0 4 4 6 8 40 98" {
		t.Error(s)
	}
	d, err := s.Get(c, keys[0])
	if err != nil || idOf(d).Int32() != 98 {
		t.Error(d, err)
	}
	if d, err := s.Get(c, keys[2]); d != nil || err != nil {
		t.Error(d, err)
	}
}

func TestPartialIndex(t *testing.T) {
	fs := vfs.NewMem()
	open := func() *DB {
		db, err := Open(Options{Dir: "data", FS: fs, CompileFilter: hasFields})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	mustInsert(t, db, testNS, jdoc(t, `{"_id":1,"a":1}`), jdoc(t, `{"_id":2,"a":2,"x":1}`))
	mustIndex(t, db, testNS, `{"key":{"a":1},"name":"a","unique":true,"partialFilterExpression":{"x":1}}`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open()
	defer db.Close()
	n, errs, err := db.InsertMany(ctx, testNS, []bsonx.Doc{
		jdoc(t, `{"_id":3,"a":1}`), jdoc(t, `{"_id":4,"a":1,"x":1}`), jdoc(t, `{"_id":5,"a":2,"x":1}`), jdoc(t, `{"_id":6,"a":2}`),
	}, false, WriteOptions{})
	if err != nil || n != 3 || mongoerr.CodeOf(errs[2]) != mongoerr.DuplicateKey {
		t.Error(n, errs, err)
	}
	if got := entries(t, db, testNS, "a", nil, false); got != "1/4 2/2" {
		t.Error(got)
	}
	err = db.Write(ctx, testNS, WriteOptions{}, func(tx *Tx) error { // leaves the index and comes into it
		if err := tx.Replace(jdoc(t, `{"_id":2,"a":2,"x":1}`), jdoc(t, `{"_id":2,"a":2}`)); err != nil {
			return err
		}
		return tx.Replace(jdoc(t, `{"_id":6,"a":2}`), jdoc(t, `{"_id":6,"a":2,"x":5}`))
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := entries(t, db, testNS, "a", nil, false); got != "1/4 2/6" {
		t.Error(got)
	}
	mustValidate(t, db, testNS)
}
