package command

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
	"mrbench/internal/embedded/wire"
)

// sentence reads bytes as decisions about a command: its name, arguments, operators and values, so that nearly
// every input is one that gets past the first check.
type sentence struct {
	b        []byte
	commands []*command
}

func (s *sentence) next() int {
	if len(s.b) == 0 {
		return 0
	}
	n := s.b[0]
	s.b = s.b[1:]
	return int(n)
}

// one of the words of text.
func (s *sentence) one(text string) string {
	list := strings.Fields(text)
	return list[(s.next()<<8|s.next())%len(list)]
}

// words are names of arguments and of what may stand in them.
var words = strings.Fields(`documents updates deletes q u multi upsert limit ordered filter sort projection skip batchSize singleBatch hint min max query
	pipeline cursor explain collation let key indexes name unique sparse partialFilterExpression index out inline replace merge reduce map
	finalize scope jsMode verbose collection cursors to dropTarget writeConcern w j readConcern level maxTimeMS lsid id txnNumber validate full
	$set $inc $push $pull $unset $rename $each $slice $position $setOnInsert $min $max $mul $bit $addToSet $currentDate $gt $gte $lt $lte $ne $eq $in $nin $or $and $nor $not
	$exists $type $mod $regex $options $elemMatch $size $all $expr $match $group $project $sort $limit $unwind $lookup $facet $bucket $bucketAuto $sample
	$count $addFields $replaceRoot newRoot $out $merge into on whenMatched from localField foreignField as boundaries default groupBy buckets
	$sum $avg $first $last $add $concat $cond $ifNull $map input in $filter $reduce initialValue $dateToString date format $literal $toString $convert
	keyPattern force maxSplitPoints maxChunkSize splitVector _id a b c.d a.0 x $ROOT $$ROOT $a.b new remove update fields arrayFilters a.$[i] i`)

func (s *sentence) value(depth int) any {
	switch k := s.next() % 24; k {
	case 0:
		return int32(s.next() - 3)
	case 1:
		return int64(s.next()) << (s.next() % 60)
	case 2:
		return []float64{0, 1, -1, 0.5, 2.5, math.NaN(), math.Inf(1), -1e300, 1 << 53}[s.next()%9]
	case 3, 4:
		return words[s.next()%len(words)]
	case 5:
		return s.next()%2 == 0
	case 6:
		return nil
	case 7:
		return []any{
			primitive.MinKey{},
			primitive.MaxKey{},
			primitive.Undefined{},
			primitive.Timestamp{T: 1},
			primitive.DateTime(s.next()), primitive.NewDecimal128(uint64(s.next())<<56, uint64(s.next())),
			primitive.Regex{Pattern: "a|b(", Options: "i"},
			primitive.Binary{Data: []byte{1}},
			primitive.ObjectID{1},
			primitive.Symbol("s"), "", "test.c",
		}[s.next()%12]
	case 8:
		return primitive.JavaScript([]string{"function () { emit(this.a, 1); }", "function (k, v) { return v[0]; }", "function () { emit(this, this); }", "1", "x(", "for (;;) {}"}[s.next()%6])
	case 9, 10, 11, 12:
		if depth == 0 {
			return "$a"
		}
		list := bson.A{}
		for range s.next() % 4 {
			list = append(list, s.value(depth-1))
		}
		return list
	case 13:
		return "c"
	case 14:
		return "$" + words[s.next()%len(words)]
	}
	if depth == 0 {
		return int32(1)
	}
	d := bson.D{}
	for range s.next() % 4 {
		d = append(d, bson.E{Key: words[s.next()%len(words)], Value: s.value(depth - 1)})
	}
	return d
}

func (s *sentence) field() string { return s.one("a b _id c c.d a.0 x a.b a") }

func (s *sentence) doc(part func() bson.E) bson.D {
	d := bson.D{}
	for range s.next() % 4 {
		d = append(d, part())
	}
	return d
}

func (s *sentence) list(part func() any) bson.A {
	list := bson.A{}
	for range 1 + s.next()%3 {
		list = append(list, part())
	}
	return list
}

func (s *sentence) document() any {
	return s.doc(func() bson.E { return bson.E{Key: s.one("a b _id c x a"), Value: s.value(2)} })
}

func (s *sentence) filter() any {
	return s.doc(func() bson.E {
		switch s.next() % 6 {
		case 0:
			return bson.E{Key: s.one("$or $and $nor $expr"), Value: s.list(s.filter)}
		case 1, 2:
			return bson.E{Key: s.field(), Value: s.value(2)}
		}
		return bson.E{Key: s.field(), Value: s.doc(func() bson.E {
			return bson.E{Key: s.one("$gt $gte $lt $lte $ne $eq $in $nin $not $exists $type $mod $regex $elemMatch $size $all $bitsAllSet"), Value: s.value(2)}
		})}
	})
}

func (s *sentence) update() any {
	if s.next()%5 == 0 {
		return s.list(s.stage)
	}
	return s.doc(func() bson.E {
		return bson.E{Key: s.one("$set $inc $push $pull $unset $rename $min $max $mul $bit $addToSet $currentDate $setOnInsert $pop $pullAll"), Value: s.doc(func() bson.E { return bson.E{Key: s.field(), Value: s.value(3)} })}
	})
}

func (s *sentence) expression(depth int) any {
	if depth == 0 || s.next()%3 == 0 {
		return []any{"$a", "$b", "$$ROOT", "$c.d", s.value(1)}[s.next()%5]
	}
	op := s.one(`$add $subtract $multiply $divide $mod $abs $ceil $pow $sqrt $concat $substrCP $toUpper $split $strLenCP $indexOfCP $cond $ifNull $switch $map $filter $reduce $zip
		$range $slice $concatArrays $arrayElemAt $size $in $setUnion $setIntersection $cmp $eq $gt $lt $and $or $not $literal $type $convert $toString $toInt $toDate $dateToString $year $dateTrunc
		$dateAdd $objectToArray $arrayToObject $mergeObjects $let $sum $avg $min $max $first $last $round $trunc $sortArray $getField $setField`)
	args := bson.A{}
	for range s.next() % 4 {
		args = append(args, s.expression(depth-1))
	}
	switch s.next() % 4 {
	case 0:
		return bson.D{{Key: op, Value: s.expression(depth - 1)}}
	case 1:
		return bson.D{{Key: op, Value: s.doc(func() bson.E {
			return bson.E{Key: s.one("input in as cond initialValue vars date format unit binSize startDate amount to field value sortBy if then else inputs"), Value: s.expression(depth - 1)}
		})}}
	}
	return bson.D{{Key: op, Value: args}}
}

func (s *sentence) stage() any {
	fields := func() bson.D { return s.doc(func() bson.E { return bson.E{Key: s.field(), Value: s.expression(3)} }) }
	switch s.next() % 16 {
	case 0:
		return bson.D{{Key: "$match", Value: s.filter()}}
	case 1:
		return bson.D{{Key: "$project", Value: fields()}}
	case 2:
		return bson.D{{Key: "$addFields", Value: fields()}}
	case 3, 4:
		g := bson.D{{Key: "_id", Value: s.expression(2)}}
		for range s.next() % 3 {
			g = append(g, bson.E{Key: s.one("n m o"), Value: bson.D{{Key: s.one("$sum $avg $min $max $first $last $push $addToSet $stdDevPop $mergeObjects $count $firstN $top"), Value: s.expression(2)}}})
		}
		return bson.D{{Key: "$group", Value: g}}
	case 5:
		return bson.D{{Key: "$sort", Value: bson.D{{Key: s.field(), Value: 1 - 2*(s.next()%2)}}}}
	case 6:
		return bson.D{{Key: s.one("$limit $skip"), Value: s.next()}}
	case 7:
		return bson.D{{Key: "$unwind", Value: "$" + s.field()}}
	case 8:
		return bson.D{{Key: "$lookup", Value: bson.D{{Key: "from", Value: "c"}, {Key: "localField", Value: s.field()}, {Key: "foreignField", Value: s.field()}, {Key: "as", Value: s.field()}}}}
	case 9:
		return bson.D{{Key: "$bucketAuto", Value: bson.D{{Key: "groupBy", Value: s.expression(2)}, {Key: "buckets", Value: s.next()}}}}
	case 10:
		return bson.D{{Key: "$bucket", Value: bson.D{{Key: "groupBy", Value: s.expression(2)}, {Key: "boundaries", Value: s.list(func() any { return s.value(0) })}, {Key: "default", Value: s.value(0)}}}}
	case 11:
		return bson.D{{Key: "$facet", Value: bson.D{{Key: "f", Value: s.list(s.stage)}, {Key: "g", Value: bson.A{}}}}}
	case 12:
		return bson.D{{Key: s.one("$out $merge"), Value: s.one("c o p")}}
	case 13:
		return bson.D{{Key: s.one("$sortByCount $replaceWith $count $unset $redact"), Value: s.expression(2)}}
	case 14:
		return bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: s.next()}}}}
	}
	return bson.D{{Key: s.one("$unionWith $setWindowFields $graphLookup $indexStats $collStats $fill $densify $replaceRoot"), Value: s.value(3)}}
}

// argument is a value that the argument may have, mostly.
func (s *sentence) argument(name string) any {
	if s.next()%8 == 0 {
		return s.value(4)
	}
	switch name {
	case "documents":
		return s.list(s.document)
	case "updates":
		return s.list(func() any {
			return bson.D{{Key: "q", Value: s.filter()}, {Key: "u", Value: s.update()}, {Key: "multi", Value: s.next()%2 == 0}, {Key: "upsert", Value: s.next()%3 == 0}}
		})
	case "deletes":
		return s.list(func() any {
			return bson.D{{Key: "q", Value: s.filter()}, {Key: "limit", Value: s.next() % 2}}
		})
	case "filter", "query", "q":
		return s.filter()
	case "update":
		return s.update()
	case "pipeline":
		return s.list(s.stage)
	case "cursor":
		return bson.D{}
	case "sort", "hint", "min", "max", "keyPattern", "projection", "fields":
		return bson.D{{Key: s.field(), Value: 1 - 2*(s.next()%2)}}
	case "indexes":
		return s.list(func() any {
			return bson.D{{Key: "key", Value: bson.D{{Key: s.field(), Value: 1 - 2*(s.next()%2)}}}, {Key: "name", Value: s.one("i j k")}, {Key: s.one("unique sparse v"), Value: s.next()%2 == 0}}
		})
	case "index":
		return s.one("i j k *")
	case "key":
		return s.field()
	case "map":
		return primitive.JavaScript([]string{"function () { emit(this.a, 1); }", "function () { emit(this, this); }", "function () { for (var k in this) emit(k, this[k]); }", "function () { emit(); }"}[s.next()%4])
	case "reduce", "finalize":
		return primitive.JavaScript([]string{"function (k, v) { return v[0]; }", "function (k, v) { return Array.sum(v); }", "function (k, v) { return {k: k, v: v}; }", "function (k, v) { return v.length; }"}[s.next()%4])
	case "out":
		return bson.D{{Key: s.one("inline replace merge reduce"), Value: s.one("o p c")}}
	case "limit", "skip", "batchSize", "maxSplitPoints", "maxChunkSize", "maxTimeMS", "n":
		return s.next()
	case "collection", "from", "to":
		return s.one("c o test.o other.c")
	}
	return s.next()%2 == 0
}

func (s *sentence) command() bsonx.Doc {
	c := s.commands[s.next()%len(s.commands)]
	d := bson.D{{Key: c.name, Value: "c"}}
	if c.name == "renameCollection" {
		d[0].Value = "test.c"
	}
	if s.next()%16 == 0 {
		d[0].Value = s.value(2)
	}
	for _, a := range c.args {
		if s.next()%3 > 0 || strings.HasSuffix(a, "s") || a == "pipeline" || a == "cursor" || a == "out" || a == "map" || a == "reduce" {
			d = append(d, bson.E{Key: a, Value: s.argument(a)})
		}
	}
	if s.next()%8 == 0 || len(c.args) == 0 {
		name := s.one("query map reduce out sort limit a j w lsid maxTimeMS to dropTarget explain")
		d = append(d, bson.E{Key: name, Value: s.argument(name)})
	}
	d = append(d, bson.E{Key: "$db", Value: []string{"test", "test", "test", "other", "admin", "a.b"}[s.next()%6]})
	raw, err := bson.Marshal(d)
	if err != nil {
		return nil
	}
	return bsonx.Doc(raw)
}

// FuzzCommand: whatever a client sends, the answer is a well-formed document with ok, or with a code and a text; no command panics, and the
// collections stay sound.
func FuzzCommand(f *testing.F) {
	s := newSubject(f)
	for _, cmd := range []bson.D{
		{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{{Key: "a", Value: 1}}}}},
		{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: 0}}}}}, {Key: "sort", Value: bson.D{{Key: "a", Value: -1}}}, {Key: "limit", Value: 2}},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$a"}}}}}}, {Key: "cursor", Value: bson.D{}}},
		{{Key: "createIndexes", Value: "c"}, {Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "name", Value: "a_1"}}}}},
		{{Key: "mapReduce", Value: "c"}, {Key: "map", Value: primitive.JavaScript("function () { emit(this.a, 1); }")}, {Key: "reduce", Value: primitive.JavaScript("function (k, v) { return 1; }")}, {Key: "out", Value: "o"}},
	} {
		raw, err := bson.Marshal(append(cmd, bson.E{Key: "$db", Value: "test"}))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	for i := 0; i < len(s.table.list); i += 6 { // few, for all are run before the fuzzer begins
		f.Add([]byte{byte(i), 1, 3, 7, 15, 2, 40, 9, 2, 15, 1, 60, 13, 14, 22})
	}
	f.Fuzz(func(t *testing.T, b []byte) { s.try(t, b) })
}

// TestRandomCommands is the same with sentences of random words.
func TestRandomCommands(t *testing.T) {
	s := newSubject(t)
	n := 3000
	if testing.Short() {
		n = 500
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range n {
		b := make([]byte, 20+rng.IntN(200))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		s.try(t, b)
	}
	if s.ok < n/20 {
		t.Errorf("%d of %d commands were carried out: the words are too odd", s.ok, n)
	}
	t.Logf("%d of %d commands were carried out", s.ok, n)
}

// subject is a server that is sent odd commands.
type subject struct {
	*Server
	panicked string
	ok       int // commands that were carried out
}

func newSubject(tb testing.TB) *subject {
	db, err := store.Open(store.Options{Dir: "data", FS: vfs.NewMem(), CacheBytes: 1 << 20, CompileFilter: query.CompileFilter})
	if err != nil {
		tb.Fatal(err)
	}
	s := &subject{}
	s.Server = NewServer(Config{DB: db, Version: "test", Log: func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); strings.Contains(line, "panic") {
			s.panicked = line
		}
	}})
	tb.Cleanup(func() {
		s.Close()
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// try sends b, as a command if it is a document, else what it says as a sentence.
func (s *subject) try(t *testing.T, b []byte) {
	t.Helper()
	body := bsonx.Doc(b)
	if bsonx.Validate(body, wire.MaxDepth) != nil {
		if body = (&sentence{b, s.table.list}).command(); body == nil {
			return
		}
	}
	switch firstName(body) {
	case "getMore", "killOp": // they may wait for others, or end them
		return
	}
	ctx, cancel := context.WithTimeout(s.Context(), 300*time.Millisecond)
	defer cancel()
	c := s.NewSession("fuzz")
	defer c.Close()
	reply := bsonx.Doc(c.Run(ctx, &wire.Message{Header: wire.Header{OpCode: wire.OpMsg}, Body: body}, nil))
	if s.panicked != "" {
		t.Fatalf("%s: %s", body, s.panicked)
	}
	if err := bsonx.Validate(reply, 400); err != nil {
		t.Fatalf("%s: the reply is malformed: %v", body, err)
	}
	switch ok := reply.Get("ok"); {
	case ok.Type != bsonx.TypeDouble:
		t.Fatalf("%s: no ok in %s", body, reply)
	case ok.Double() != 1 && (!reply.Get("code").IsNumber() || reply.Get("errmsg").Type != bsonx.TypeString):
		t.Fatalf("%s: neither ok nor an error: %s", body, reply)
	case ok.Double() == 1:
		s.ok++
	}
	for _, ns := range []store.NS{{DB: "test", Coll: "c"}, {DB: "other", Coll: "c"}} {
		r, err := s.db.Validate(context.Background(), ns)
		if err != nil {
			continue // it does not exist
		}
		if len(r.Errors) > 0 {
			t.Fatalf("%s: %s is damaged: %v", body, ns, r.Errors)
		}
		if r.Documents > 5000 { // it must stay quick
			_, _ = s.db.Drop(context.Background(), ns)
		}
	}
}

func firstName(d bsonx.Doc) string {
	it := d.Iter()
	if it.Next() {
		return string(it.Name())
	}
	return ""
}
