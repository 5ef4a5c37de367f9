package query

import (
	"bytes"
	"testing"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

func docList(t *testing.T, s string) []bsonx.Doc {
	t.Helper()
	var out []bsonx.Doc
	if s == "" {
		return nil
	}
	it := val(t, s).Elems()
	for it.Next() {
		out = append(out, it.Value().Doc())
	}
	return out
}

func TestUpdate(t *testing.T) {
	for _, c := range []struct{ old, update, want, filter, filters string }{
		{`{"_id":1,"a":1}`, `{"$set": {"a": 2, "z": 1, "m.n": 3}}`, `{"_id":1,"a":2,"m":{"n":3},"z":1}`, ``, ``},
		{`{"_id":1}`, `{"$set": {"b": 1}, "$inc": {"a": 1}}`, `{"_id":1,"a":1,"b":1}`, ``, ``},
		{`{"_id":1,"a":[1,2]}`, `{"$set": {"a.1": 5, "a.3": 7}}`, `{"_id":1,"a":[1,5,null,7]}`, ``, ``},
		{`{"_id":1,"a":{"b":1}}`, `{"$unset": {"a.b": "", "x.y": ""}}`, `{"_id":1,"a":{}}`, ``, ``},
		{`{"_id":1,"a":[1,2]}`, `{"$unset": {"a.0": ""}}`, `{"_id":1,"a":[null,2]}`, ``, ``},
		{`{"_id":1,"a":2}`, `{"$mul": {"a": 2.5, "b": {"$numberLong": "3"}}}`, `{"_id":1,"a":5.0,"b":0}`, ``, ``},
		{`{"_id":1,"a":2147483647}`, `{"$inc": {"a": 1}}`, `{"_id":1,"a":2147483648}`, ``, ``},
		{`{"_id":1,"a":5,"b":5}`, `{"$min": {"a": 3, "b": 9, "c": 1}}`, `{"_id":1,"a":3,"b":5,"c":1}`, ``, ``},
		{`{"_id":1,"a":5,"b":5}`, `{"$max": {"a": 3, "b": "x"}}`, `{"_id":1,"a":5,"b":"x"}`, ``, ``},
		{`{"_id":1,"a":5,"b":6}`, `{"$rename": {"a": "c.d", "zz": "y.z"}}`, `{"_id":1,"b":6,"c":{"d":5}}`, ``, ``},
		{`{"_id":1,"a":5,"b":6}`, `{"$rename": {"a": "b"}}`, `{"_id":1,"b":5}`, ``, ``},
		{`{"_id":1}`, `{"$setOnInsert": {"a": 1}}`, `{"_id":1}`, ``, ``},
		{`{"_id":1,"a":[1]}`, `{"$push": {"a": 2, "b": {"x": 1}}}`, `{"_id":1,"a":[1,2],"b":[{"x":1}]}`, ``, ``},
		{`{"_id":1,"a":[3,1]}`, `{"$push": {"a": {"$each": [2, 0], "$sort": -1, "$slice": 3}}}`, `{"_id":1,"a":[3,2,1]}`, ``, ``},
		{`{"_id":1,"a":[1,2]}`, `{"$push": {"a": {"$each": [9], "$position": -1}}}`, `{"_id":1,"a":[1,9,2]}`, ``, ``},
		{`{"_id":1,"a":[1,2]}`, `{"$push": {"a": {"$each": [9], "$position": 0, "$slice": -2}}}`, `{"_id":1,"a":[1,2]}`, ``, ``},
		{`{"_id":1,"a":[{"x":2},{"x":1,"y":0}]}`, `{"$push": {"a": {"$each": [], "$sort": {"x": 1}}}}`, `{"_id":1,"a":[{"x":1,"y":0},{"x":2}]}`, ``, ``},
		{`{"_id":1,"a":[1]}`, `{"$addToSet": {"a": {"$each": [1.0, 2, 2]}, "b": 1}}`, `{"_id":1,"a":[1,2],"b":[1]}`, ``, ``},
		{`{"_id":1,"a":[1,2,3],"b":[1,2]}`, `{"$pop": {"a": 1, "b": -1, "c": 1}}`, `{"_id":1,"a":[1,2],"b":[2]}`, ``, ``},
		{
			`{"_id":1,"a":[1,5,9],"b":[{"x":1,"y":1},{"x":2}],"c":["ab","b"]}`,
			`{"$pull": {"a": {"$gte": 5}, "b": {"x": 1}, "c": {"$regularExpression": {"pattern": "^a", "options": ""}}}}`, `{"_id":1,"a":[1],"b":[{"x":2}],"c":["b"]}`, ``, ``,
		},
		{`{"_id":1,"a":[[1,2],1,2]}`, `{"$pull": {"a": [1, 2]}}`, `{"_id":1,"a":[1,2]}`, ``, ``},
		{`{"_id":1,"a":[1,2,1,3]}`, `{"$pullAll": {"a": [1, 3.0]}}`, `{"_id":1,"a":[2]}`, ``, ``},
		{`{"_id":1,"a":5}`, `{"$bit": {"a": {"and": 6, "or": 1}, "b": {"xor": {"$numberLong": "3"}}}}`, `{"_id":1,"a":5,"b":3}`, ``, ``},
		// positions
		{`{"_id":1,"a":[1,5,9]}`, `{"$set": {"a.$": 0}}`, `{"_id":1,"a":[1,0,9]}`, `{"a": {"$gt": 3}}`, ``},
		{`{"_id":1,"a":[{"x":1,"n":1},{"x":2,"n":1}]}`, `{"$inc": {"a.$.n": 5}}`, `{"_id":1,"a":[{"x":1,"n":1},{"x":2,"n":6}]}`, `{"a.x": 2}`, ``},
		{`{"_id":1,"a":[1,2]}`, `{"$inc": {"a.$[]": 10}}`, `{"_id":1,"a":[11,12]}`, ``, ``},
		{`{"_id":1,"a":[1,20,30]}`, `{"$set": {"a.$[big]": 0}}`, `{"_id":1,"a":[1,0,0]}`, ``, `[{"big": {"$gt": 10}}]`},
		{
			`{"_id":1,"a":[{"b":[{"c":1},{"c":2}]},{"b":[{"c":2}]}]}`, `{"$set": {"a.$[].b.$[e].c": 9}}`,
			`{"_id":1,"a":[{"b":[{"c":1},{"c":9}]},{"b":[{"c":9}]}]}`, ``, `[{"e.c": 2}]`,
		},
		// replacement
		{`{"_id":1,"a":1}`, `{"z": 1}`, `{"_id":1,"z":1}`, ``, ``},
		{`{"_id":1,"a":1}`, `{"z": 1, "_id": 1.0}`, `{"_id":1,"z":1}`, ``, ``},
		{`{"_id":1,"a":1}`, `{}`, `{"_id":1}`, ``, ``},
	} {
		u, err := ParseUpdate(val(t, c.update), docList(t, c.filters), nil)
		if err != nil {
			t.Errorf("%s: %v", c.update, err)
			continue
		}
		var f *Filter
		if c.filter != "" {
			f = filter(t, doc(t, c.filter))
		}
		old := doc(t, c.old)
		kept := bytes.Clone(old)
		got, modified, err := u.Apply(old, f, false)
		if err != nil || text(got) != text(doc(t, c.want)) {
			t.Errorf("%s on %s:\n got %s (%v)\nwant %s", c.update, c.old, text(got), err, c.want)
		}
		if modified != !bytes.Equal(got, old) || !bytes.Equal(kept, old) {
			t.Errorf("%s on %s: modified %v, the old document is now %s", c.update, c.old, modified, text(old))
		}
	}
}

func TestUpdateNotModified(t *testing.T) {
	for _, u := range []string{
		`{"$set": {"a": 1}}`, `{"$inc": {"a": 0}}`, `{"$min": {"a": 5}}`, `{"$addToSet": {"b": 1}}`, `{"$pull": {"b": 9}}`,
		`{"$unset": {"zz": 1}}`, `{"$push": {"b": {"$each": []}}}`, `{"a": 1, "b": [1]}`, `{"$pop": {"e": 1}}`, `{"$rename": {"zz": "y"}}`,
	} {
		up, err := ParseUpdate(val(t, u), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		old := doc(t, `{"_id": 1, "a": 1, "b": [1]}`)
		if _, modified, err := up.Apply(old, nil, false); err != nil || modified {
			t.Errorf("%s: modified %v, %v", u, modified, err)
		}
	}
}

func TestUpdateErrors(t *testing.T) {
	const old = `{"_id": 1, "s": "x", "n": 5, "a": [1, 2], "big": {"$numberLong": "9223372036854775807"}}`
	for _, c := range []struct {
		update, filters string
		code            mongoerr.Code
	}{
		{`{"$nope": {"a": 1}}`, ``, 9},
		{`{"$set": 1}`, ``, 9},
		{`{"$set": {}}`, ``, 9},
		{`{"$set": {"x": 1}, "y": 1}`, ``, 9},
		{`5`, ``, 9},
		{`{"x": 1, "$set": {"x": 1}}`, ``, 52},
		{`{"$set": {"$x": 1}}`, ``, 52},
		{`{"$set": {"": 1}}`, ``, 56},
		{`{"$set": {"x..y": 1}}`, ``, 56},
		{`{"$set": {"x": 1, "x.y": 1}}`, ``, 40},
		{`{"$set": {"x": 1}, "$inc": {"x": 1}}`, ``, 40},
		{`{"$rename": {"n": "x"}, "$set": {"x": 1}}`, ``, 40},
		{`{"$set": {"_id": 2}}`, ``, 66},
		{`{"$unset": {"_id": 1}}`, ``, 66},
		{`{"_id": 2}`, ``, 66},
		{`{"$inc": {"_id": 1}}`, ``, 66},
		{`{"$inc": {"s": 1}}`, ``, 14},
		{`{"$inc": {"n": "x"}}`, ``, 14},
		{`{"$mul": {"s": 1}}`, ``, 14},
		{`{"$inc": {"big": 1}}`, ``, 2},
		{`{"$set": {"n.x": 1}}`, ``, 28},
		{`{"$set": {"a.x": 1}}`, ``, 28},
		{`{"$inc": {"s.t.u": 1}}`, ``, 28},
		{`{"$push": {"n": 1}}`, ``, 2},
		{`{"$push": {"a": {"$each": 1}}}`, ``, 2},
		{`{"$push": {"a": {"$each": [], "$nope": 1}}}`, ``, 2},
		{`{"$push": {"a": {"$each": [], "$sort": 2}}}`, ``, 2},
		{`{"$addToSet": {"n": 1}}`, ``, 2},
		{`{"$addToSet": {"a": {"$each": 1}}}`, ``, 14},
		{`{"$pop": {"n": 1}}`, ``, 14},
		{`{"$pop": {"a": 2}}`, ``, 9},
		{`{"$pull": {"n": 1}}`, ``, 2},
		{`{"$pullAll": {"a": 1}}`, ``, 2},
		{`{"$bit": {"n": {"nope": 1}}}`, ``, 2},
		{`{"$bit": {"s": {"or": 1}}}`, ``, 2},
		{`{"$rename": {"n": "n"}}`, ``, 2},
		{`{"$rename": {"n": 1}}`, ``, 2},
		{`{"$rename": {"a.0": "x"}}`, ``, 2},
		{`{"$rename": {"n": "n.x"}}`, ``, 2},
		{`{"$currentDate": {"x": 1}}`, ``, 2},
		{`{"$currentDate": {"x": {"$type": "year"}}}`, ``, 2},
		{`{"$set": {"a.$": 1}}`, ``, 2},
		{`{"$set": {"n.$[]": 1}}`, ``, 2},
		{`{"$set": {"zz.$[]": 1}}`, ``, 2},
		{`{"$set": {"$": 1}}`, ``, 2},
		{`{"$set": {"a.$[x]": 1}}`, ``, 2},
		{`{"$set": {"n": 1}}`, `[{"x": 1}]`, 9},
		{`{"$set": {"a.$[x]": 1}}`, `[{"x": 1, "y": 1}]`, 9},
		{`{"$set": {"a.$[x]": 1}}`, `[{"x": 1}, {"x": 2}]`, 9},
		{`{"$set": {"a.$[X]": 1}}`, `[{"X": 1}]`, 2},
		{`{"z": 1}`, `[{"x": 1}]`, 9},
	} {
		u, err := ParseUpdate(val(t, c.update), docList(t, c.filters), nil)
		if err == nil {
			_, _, err = u.Apply(doc(t, old), nil, false)
		}
		if got := mongoerr.CodeOf(err); got != c.code {
			t.Errorf("%s: code %d (%v), want %d", c.update, got, err, c.code)
		}
	}
}

func TestCurrentDate(t *testing.T) {
	u, err := ParseUpdate(val(t, `{"$currentDate": {"a": true, "b": {"$type": "timestamp"}, "c": {"$type": "date"}}}`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	u.now = func() time.Time { return time.UnixMilli(5_000) }
	got, _, err := u.Apply(doc(t, `{"_id": 1}`), nil, false)
	want := doc(t, `{"_id": 1, "a": {"$date": "1970-01-01T00:00:05Z"}, "b": {"$timestamp": {"t": 5, "i": 1}}, "c": {"$date": "1970-01-01T00:00:05Z"}}`)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %s, %v", text(got), err)
	}
}

func TestPipelineUpdate(t *testing.T) {
	u, err := ParseUpdate(val(t, `[{"$set": {"a": 1}}]`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !u.IsPipeline() || u.IsReplacement() {
		t.Error("an array is a pipeline")
	}
	if _, _, err := u.Apply(doc(t, `{"_id": 1}`), nil, false); err == nil {
		t.Error("without SetPipeline there is nothing to run it")
	}
	u.SetPipeline(func(_, _ bsonx.Doc) (bsonx.Doc, error) { return doc(t, `{"a": 1}`), nil })
	if got, modified, err := u.Apply(doc(t, `{"_id": 1}`), nil, false); err != nil || !modified || text(got) != `{"_id":1,"a":1}` {
		t.Errorf("got %s, %v, %v", text(got), modified, err)
	}
	u.SetPipeline(func(_, _ bsonx.Doc) (bsonx.Doc, error) { return doc(t, `{"_id": 2}`), nil })
	if _, _, err := u.Apply(doc(t, `{"_id": 1}`), nil, false); mongoerr.CodeOf(err) != mongoerr.ImmutableField {
		t.Errorf("a pipeline that changes _id: %v", err)
	}
}

func TestUpsert(t *testing.T) {
	for _, c := range []struct{ filter, update, want string }{
		{`{"_id": 9}`, `{"$inc": {"a": 5}}`, `{"_id":9,"a":5}`},
		{`{"b": 1, "_id": 9, "c": {"$gt": 5}}`, `{"$setOnInsert": {"a": 5}}`, `{"_id":9,"b":1,"a":5}`},
		{`{"$and": [{"a.b": 1}, {"a.c": {"$eq": 2}}], "$or": [{"d": 3}], "e": {"$in": [4]}, "f": {"$in": [1, 2]}}`, `{"$set": {"z": 1}}`, `{"a":{"b":1,"c":2},"d":3,"e":4,"z":1}`},
		{`{"a": {"$all": [7]}}`, `{"$set": {"z": 1}}`, `{"a":7,"z":1}`},
		{`{"_id": 9, "b": 1}`, `{"z": 1}`, `{"_id":9,"z":1}`},
		{`{"b": 1}`, `{"z": 1, "_id": 3}`, `{"_id":3,"z":1}`},
		{`{"$or": [{"a": 1}, {"b": 1}]}`, `{"z": 1}`, `{"z":1}`},
	} {
		f := filter(t, doc(t, c.filter))
		u, err := ParseUpdate(val(t, c.update), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		seed, err := UpsertSeed(f)
		if err != nil {
			t.Errorf("%s: %v", c.filter, err)
			continue
		}
		got, _, err := u.Apply(seed, f, true)
		if err != nil || text(got) != c.want {
			t.Errorf("%s %s:\n got %s (%v)\nwant %s", c.filter, c.update, text(got), err, c.want)
		}
	}
	for _, s := range []string{`{"a": 1, "a.b": 2}`, `{"$and": [{"a": 1}, {"a": 2}]}`} {
		if _, err := UpsertSeed(filter(t, doc(t, s))); mongoerr.CodeOf(err) != codeNotSingleValue {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func FuzzUpdate(f *testing.F) {
	for _, s := range []string{
		`{"$set": {"a.b.0": 1}, "$push": {"c": {"$each": [1], "$sort": {"x": 1}}}}`, `{"$inc": {"a.$[]": 1}, "$unset": {"b": 1}}`, `{"$rename": {"a": "b.c"}}`, `{"x": 1}`,
		`{"$pull": {"c": {"$gt": 1}}, "$bit": {"n": {"xor": 5}}, "$mul": {"m": 2.5}}`,
	} {
		f.Add([]byte(doc(f, s)), []byte(doc(f, `{"_id": 1, "a": [1, {"b": 1}], "c": [{"x": 1}], "n": 5}`)))
	}
	f.Fuzz(func(t *testing.T, src, d []byte) {
		if bsonx.Validate(src, 180) != nil || bsonx.Validate(d, 180) != nil || bytes.Contains(src, []byte("$where")) || bytes.Contains(src, []byte("$function")) {
			t.Skip()
		}
		u, err := ParseUpdate(bsonx.DocValue(src), nil, nil)
		if err != nil {
			return
		}
		got, _, err := u.Apply(d, nil, false)
		if err == nil {
			if err := bsonx.Validate(got, 400); err != nil {
				t.Errorf("%s on %s made an invalid document: %v", bsonx.Doc(src), bsonx.Doc(d), err)
			}
		}
	})
}
