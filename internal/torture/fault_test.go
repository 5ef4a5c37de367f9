package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/embedded"
)

// engineOn opens the engine on a file system, with next to no cache, so that reads are reads.
func engineOn(fs vfs.FS, logf func(string, ...any)) (*embedded.Engine, error) {
	return embedded.Open(embedded.Config{Dir: "data", FS: fs, CacheBytes: 1 << 10, Version: "test", Log: logf})
}

func clientOf(t testing.TB, e *embedded.Engine, more ...*options.ClientOptions) *mongo.Client {
	t.Helper()
	return dial(t, "mongodb://embedded/", append([]*options.ClientOptions{options.Client().SetDialer(e)}, more...)...)
}

const faultDocs = 400

// faultData fills test.c, with an index on a, and puts all of it into tables.
func faultData(t testing.TB, fs vfs.FS) {
	t.Helper()
	ctx := context.Background()
	e, err := engineOn(fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, e)
	coll := c.Database("test").Collection("c")
	docs := make([]any, faultDocs)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "a", Value: i * 37 % 101}, {Key: "s", Value: fmt.Sprintf("%032d", i*i)}}
	}
	if _, err := coll.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	// What is there when an index is built goes into a table of its own.
	if _, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "a", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	hangUp(c)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e, err = engineOn(fs, nil) // replays the log into tables
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// questions have answers that are read from the records, from the index, or both.
var questions = []bson.D{
	{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 1000}},
	{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$gte", Value: 40}}}}}, {Key: "hint", Value: "a_1"}, {Key: "batchSize", Value: 1000}},
	{{Key: "find", Value: "c"}, {Key: "filter", Value: bson.D{{Key: "_id", Value: 200}}}},
	{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$a"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
	}}, {Key: "cursor", Value: bson.D{{Key: "batchSize", Value: 1000}}}, {Key: "hint", Value: "a_1"}},
	{{Key: "distinct", Value: "c"}, {Key: "key", Value: "a"}},
	{{Key: "count", Value: "c"}, {Key: "query", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$lt", Value: 30}}}}}},
	{
		{Key: "mapReduce", Value: "c"},
		{Key: "map", Value: primitive.JavaScript("function () { emit(this.a % 7, 1); }")},
		{Key: "reduce", Value: primitive.JavaScript("function (k, v) { return Array.sum(v); }")},
		{Key: "out", Value: bson.D{{Key: "inline", Value: 1}}},
	},
	{{Key: "listIndexes", Value: "c"}},
}

// answer is what of a reply does not change from one time to the next.
func answer(r bson.Raw) string {
	var b strings.Builder
	for _, f := range []string{"cursor", "values", "n", "results", "counts"} {
		if v, err := r.LookupErr(f); err == nil {
			fmt.Fprintf(&b, "%s %s\n", f, v)
		}
	}
	return b.String()
}

// answers asks all questions: the answer, or "" for an error.
func answers(t testing.TB, c *mongo.Client) (out []string, failed int) {
	t.Helper()
	for _, q := range questions {
		r, err := c.Database("test").RunCommand(context.Background(), q).Raw()
		if err != nil {
			var ce mongo.CommandError
			if !errors.As(err, &ce) || ce.Code == 0 {
				t.Errorf("%v: %v: not an error of the command", q[0], err)
			}
			failed++
			out = append(out, "")
			continue
		}
		out = append(out, answer(r))
	}
	return out, failed
}

// rightOrError complains about an answer that is neither an error nor the right one.
func rightOrError(t testing.TB, what string, got, want []string) {
	t.Helper()
	for i := range got {
		if got[i] != "" && got[i] != want[i] {
			t.Errorf("%s: %v: a wrong answer without an error:\n%.300s\nwant\n%.300s", what, questions[i][0], got[i], want[i])
		}
	}
}

func rightAnswers(t testing.TB, fs vfs.FS) []string {
	t.Helper()
	e, err := engineOn(fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, e)
	want, failed := answers(t, c)
	if failed > 0 {
		t.Fatalf("%d questions have no answer", failed)
	}
	hangUp(c)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return want
}

// TestBadReads: while tables can't be read, or only in part, a command fails or its answer is right; when they can be
// read again, so are the answers, without a restart. The server goes on all the time.
func TestBadReads(t *testing.T) {
	mem := vfs.NewMem()
	faultData(t, mem)
	want := rightAnswers(t, mem)
	for name, bend := range badReads {
		for _, atOpen := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, at the start %v", name, atOpen), func(t *testing.T) {
				fs := vfs.NewMem()
				if ok, err := vfs.Clone(mem, fs, "data", "data"); !ok || err != nil {
					t.Fatal(err)
				}
				l := &lens{FS: fs, pick: isTable, bend: bend}
				l.on.Store(atOpen)
				e, err := engineOn(l, nil)
				if err != nil {
					if !atOpen {
						t.Fatal(err)
					}
					return // it says so at once
				}
				defer func() { _ = e.Close() }()
				c := clientOf(t, e)
				defer hangUp(c)
				l.on.Store(true)
				got, _ := answers(t, c)
				rightOrError(t, "while reads fail", got, want)
				if l.hits == 0 && !atOpen {
					t.Error("nothing was read from tables")
				}
				l.on.Store(false)
				got, failed := answers(t, c)
				rightOrError(t, "afterwards", got, want)
				if failed > 0 && !atOpen {
					t.Errorf("%d questions still have no answer", failed)
				}
			})
		}
	}
}

// TestWrongBytes changes one byte after the other (some of each block) in each table file as it is read: the answers are right, or errors.
func TestWrongBytes(t *testing.T) {
	mem := vfs.NewMem()
	faultData(t, mem)
	want := rightAnswers(t, mem)
	names, err := mem.List("data")
	if err != nil {
		t.Fatal(err)
	}
	per := 30
	if testing.Short() {
		per = 4
	}
	rng := newRand(seedOf(t), 0)
	tables, noticed, harmless := 0, 0, 0
	for _, name := range names {
		if !isTable(name) {
			continue
		}
		tables++
		st, err := mem.Stat("data/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range per {
			at := (st.Size()*int64(i) + rng.Int64N(st.Size())) / int64(per)
			change := byte(1 + rng.IntN(255))
			if noticesWrongByte(t, mem, name, at, change, want) {
				noticed++
			} else {
				harmless++
			}
		}
	}
	if tables == 0 || noticed == 0 {
		t.Errorf("%d tables, %d wrong bytes were noticed", tables, noticed)
	}
	t.Logf("%d tables: %d wrong bytes were noticed, %d did no harm", tables, noticed, harmless)
}

func noticesWrongByte(t *testing.T, mem *vfs.MemFS, name string, at int64, change byte, want []string) bool {
	t.Helper()
	fs := vfs.NewMem() // compactions and the log of this start go elsewhere
	if ok, err := vfs.Clone(mem, fs, "data", "data"); !ok || err != nil {
		t.Fatal(err)
	}
	l := &lens{FS: fs, pick: func(base string) bool { return base == name }, bend: func(_ string, p []byte, off int64) (int, error) {
		if at >= off && at < off+int64(len(p)) {
			p[at-off] ^= change
		}
		return len(p), nil
	}}
	l.on.Store(true)
	e, err := engineOn(l, nil)
	if err != nil {
		return true
	}
	defer func() { _ = e.Close() }()
	c := clientOf(t, e)
	defer hangUp(c)
	got, failed := answers(t, c)
	rightOrError(t, fmt.Sprintf("byte %d of %s", at, name), got, want)
	return failed > 0
}

// TestWrongByteInLog: a log with a wrong byte in it is an error at the start, or what is before that byte is there, whole, and
// nothing of what follows: never a write without the one before it.
func TestWrongByteInLog(t *testing.T) {
	ctx := context.Background()
	mem := vfs.NewMem()
	e, err := engineOn(mem, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, e)
	coll := c.Database("test").Collection("c")
	if _, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "a", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if _, err := coll.InsertOne(ctx, bson.D{{Key: "_id", Value: i}, {Key: "a", Value: -i}}); err != nil {
			t.Fatal(err)
		}
	}
	hangUp(c)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	names, _ := mem.List("data")
	rng := newRand(seedOf(t), 0)
	refused, cut := 0, 0
	for _, name := range names {
		st, err := mem.Stat("data/" + name)
		if err != nil || !strings.HasSuffix(name, ".log") || st.Size() == 0 {
			continue
		}
		for range 20 {
			at := rng.Int64N(st.Size())
			fs := vfs.NewMem()
			if ok, err := vfs.Clone(mem, fs, "data", "data"); !ok || err != nil {
				t.Fatal(err)
			}
			l := &lens{FS: fs, pick: func(base string) bool { return base == name }, bend: func(_ string, p []byte, off int64) (int, error) {
				if at >= off && at < off+int64(len(p)) {
					p[at-off] ^= 0x55
				}
				return len(p), nil
			}}
			l.on.Store(true)
			e, err := engineOn(l, nil)
			if err != nil {
				refused++
				continue
			}
			c := clientOf(t, e)
			var docs []bson.Raw
			cur, err := c.Database("test").Collection("c").Find(ctx, bson.D{})
			if err == nil {
				err = cur.All(ctx, &docs)
			}
			if err != nil {
				t.Error(err)
			}
			for i, d := range docs {
				if number(d.Lookup("_id")) != int64(i) {
					t.Errorf("byte %d of %s: document %d is %v", at, name, i, d)
					break
				}
			}
			if len(docs) < 200 {
				cut++
			}
			validateAll(ctx, t, c, []string{"test.c"})
			hangUp(c)
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if refused+cut == 0 {
		t.Error("no wrong byte was noticed")
	}
	t.Logf("%d starts refused, %d went on with the writes before the byte", refused, cut)
}

// changes are all ways in which a client changes something, each with its own names.
func changes(n int) []bson.D {
	doc := bson.D{{Key: "_id", Value: fmt.Sprint("new", n)}, {Key: "a", Value: 1}}
	src := bson.D{{Key: "$match", Value: bson.D{}}}
	name := fmt.Sprint("made", n)
	return []bson.D{
		{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{doc}}},
		{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{{Key: "a", Value: 1}}}}, {Key: "writeConcern", Value: bson.D{{Key: "j", Value: true}}}},
		{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "u", Value: bson.D{{Key: "$inc", Value: bson.D{{Key: "x", Value: 1}}}}}, {Key: "multi", Value: true}}}}},
		{{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "limit", Value: 1}}}}},
		{{Key: "findAndModify", Value: "c"}, {Key: "query", Value: bson.D{{Key: "_id", Value: 2}}}, {Key: "update", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: n}}}}}},
		{{Key: "create", Value: name}},
		{{Key: "createIndexes", Value: "c"}, {Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: bson.D{{Key: name, Value: 1}}}, {Key: "name", Value: name}}}}},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{src, bson.D{{Key: "$out", Value: name + "out"}}}}, {Key: "cursor", Value: bson.D{}}},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{src, bson.D{{Key: "$merge", Value: bson.D{{Key: "into", Value: name + "merge"}}}}}}, {Key: "cursor", Value: bson.D{}}},
		{
			{Key: "mapReduce", Value: "c"},
			{Key: "map", Value: primitive.JavaScript("function () { emit(this.a, 1); }")},
			{Key: "reduce", Value: primitive.JavaScript("function (k, v) { return Array.sum(v); }")},
			{Key: "out", Value: name + "mr"},
		},
		{{Key: "dropIndexes", Value: "c"}, {Key: "index", Value: "a_1"}},
		{{Key: "drop", Value: "c"}},
		{{Key: "dropDatabase", Value: 1}},
	}
}

// writeCode is the code of a reply that failed as a whole or in its statements: 0 for none.
func writeCode(r bson.Raw, err error) (code int32, text string) {
	var ce mongo.CommandError
	if errors.As(err, &ce) {
		return ce.Code, ce.Message
	}
	var we mongo.WriteException
	if errors.As(err, &we) && len(we.WriteErrors) > 0 {
		return int32(we.WriteErrors[0].Code), we.WriteErrors[0].Message
	}
	if err != nil {
		return -1, err.Error()
	}
	if v, err := r.LookupErr("writeErrors", "0", "code"); err == nil {
		return int32(number(v)), r.Lookup("writeErrors", "0", "errmsg").StringValue()
	}
	return 0, ""
}

// TestNoSpaceForAnyCommand: while there is no space every command that changes something answers 14031, whose text says what
// to do, and changes nothing; every question is answered; with space again commands work, without a restart.
func TestNoSpaceForAnyCommand(t *testing.T) {
	testStuck(t, syscall.ENOSPC, func(code int32, text string) bool {
		return code == 14031 && strings.Contains(text, "space")
	})
}

// TestWriteErrorsForAnyCommand is the same for a disk that fails otherwise.
func TestWriteErrorsForAnyCommand(t *testing.T) {
	testStuck(t, syscall.EIO, func(code int32, text string) bool { return code > 0 && text != "" })
}

func testStuck(t *testing.T, fault error, refusal func(code int32, text string) bool) {
	ctx := context.Background()
	mem := vfs.NewMem()
	faultData(t, mem)
	want := rightAnswers(t, mem)
	inj := &stuck{err: fault}
	var logged bytes.Buffer
	e, err := engineOn(errorfs.Wrap(mem, inj), func(f string, args ...any) { fmt.Fprintf(&logged, f+"\n", args...) })
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, e)
	defer hangUp(c)
	db := c.Database("test")
	inj.on.Store(true)
	// The first to meet the fault may be changed in memory and refused; it is one that the questions do not see.
	if code, text := writeCode(c.Database("other").RunCommand(ctx, bson.D{{Key: "insert", Value: "x"}, {Key: "documents", Value: bson.A{bson.D{}}}}).Raw()); !refusal(code, text) {
		t.Errorf("the first write: code %d, %s", code, text)
	}
	for i := range 3 {
		for _, cmd := range changes(i) {
			if code, text := writeCode(db.RunCommand(ctx, cmd).Raw()); !refusal(code, text) {
				t.Errorf("%v: code %d, %s", cmd[0], code, text)
			}
		}
		got, failed := answers(t, c)
		rightOrError(t, "while writes fail", got, want)
		if failed > 0 {
			t.Errorf("%d questions have no answer while writes fail", failed)
		}
	}
	inj.on.Store(false)
	for try := 0; ; try++ {
		_, err := c.Database("other").Collection("x").InsertOne(ctx, bson.D{})
		if err == nil {
			break
		}
		if try > 1000 {
			t.Fatalf("no write is taken after the fault is over: %v\n%s", err, &logged)
		}
		time.Sleep(10 * time.Millisecond)
	}
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if err != nil || len(names) != 1 {
		t.Errorf("collections %v, %v: a refused command left something", names, err)
	}
	validateAll(ctx, t, c, []string{"test.c", "other.x"})
	for _, cmd := range changes(9) {
		if code, text := writeCode(db.RunCommand(ctx, cmd).Raw()); code != 0 {
			t.Errorf("%v afterwards: code %d, %s", cmd[0], code, text)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
