package command

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/embedded/mongoerr"
)

// numberedWrite runs cmd on a session as a client does that may send it again.
func numberedWrite(t *testing.T, c *Session, session byte, number int64, cmd bson.D, more ...bson.E) bson.Raw {
	t.Helper()
	id := bson.D{{Key: "id", Value: primitive.Binary{Subtype: 4, Data: slices.Repeat([]byte{session}, 16)}}}
	cmd = append(slices.Clone(cmd), bson.E{Key: "lsid", Value: id}, bson.E{Key: "txnNumber", Value: number})
	return ask(t, c, append(cmd, more...))
}

// fields leaves out of a reply what a retry adds.
func fields(t *testing.T, r bson.Raw) string {
	t.Helper()
	var d bson.D
	if err := bson.Unmarshal(r, &d); err != nil {
		t.Fatal(err)
	}
	d = slices.DeleteFunc(d, func(e bson.E) bool { return e.Key == "retriedStmtIds" })
	text, err := bson.MarshalExtJSON(d, true, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func jd(t *testing.T, text string) (d bson.D) {
	t.Helper()
	if err := bson.UnmarshalExtJSON([]byte(text), true, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// TestRetriedWrites: the same number carries nothing out twice and gets the same answer; another number does it again.
func TestRetriedWrites(t *testing.T) {
	s := testServer(t, t.Logf)
	c := s.NewSession("test")
	defer c.Close()
	ask(t, c, jd(t, `{"insert": "c", "documents": [{"_id": 1, "n": 0}, {"_id": 2, "n": 0}, {"_id": 3, "n": 0}]}`))
	for i, test := range []struct{ name, cmd, state string }{
		{"update", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}, {"q": {"_id": 2}, "u": {"$inc": {"n": 1}}}]}`, "1:1 2:1 3:0"},
		{"upsert", `{"update": "c", "updates": [{"q": {"_id": 4}, "u": {"$inc": {"n": 1}}, "upsert": true}]}`, "1:1 2:1 3:0 4:1"},
		{"insert", `{"insert": "c", "documents": [{"_id": 5, "n": 0}, {"_id": 6, "n": 0}]}`, "1:1 2:1 3:0 4:1 5:0 6:0"},
		{"delete", `{"delete": "c", "deletes": [{"q": {"n": 1}, "limit": 1}]}`, "2:1 3:0 4:1 5:0 6:0"},
		{"findAndModify", `{"findAndModify": "c", "query": {"_id": 3}, "update": {"$inc": {"n": 1}}, "new": true}`, "2:1 3:1 4:1 5:0 6:0"},
		{"findAndModify remove", `{"findandmodify": "c", "query": {"n": 0}, "sort": {"_id": -1}, "remove": true}`, "2:1 3:1 4:1 5:0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			number := int64(i)
			first := numberedWrite(t, c, 1, number, jd(t, test.cmd))
			for range 2 {
				again := numberedWrite(t, c, 1, number, jd(t, test.cmd))
				if fields(t, again) != fields(t, first) {
					t.Errorf("the retry answers %s, not %s", again, first)
				}
			}
			if got := state(t, c); got != test.state {
				t.Errorf("the collection is %s, want %s", got, test.state)
			}
		})
	}
	inc := jd(t, `{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$inc": {"n": 1}}}]}`)
	numberedWrite(t, c, 1, 100, inc)
	numberedWrite(t, c, 2, 100, inc)
	numberedWrite(t, c, 1, 101, inc)
	if got := state(t, c); got != "2:4 3:1 4:1 5:0" {
		t.Errorf("other numbers and sessions are other writes: %s", got)
	}
}

// state is the collection as "_id:n …".
func state(t *testing.T, c *Session) string {
	t.Helper()
	r := ask(t, c, jd(t, `{"find": "c", "sort": {"_id": 1}, "batchSize": 100000}`))
	list, err := r.Lookup("cursor", "firstBatch").Array().Values()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range list {
		out = append(out, v.Document().Lookup("_id").String()+":"+v.Document().Lookup("n").String())
	}
	text := strings.NewReplacer(`{"$numberInt":"`, "", `"}`, "").Replace(strings.Join(out, " "))
	return text
}

// TestRetryContinues: a retry carries out what the first attempt did not, and says what it had done.
func TestRetryContinues(t *testing.T) {
	s := testServer(t, t.Logf)
	c := s.NewSession("test")
	defer c.Close()
	ask(t, c, jd(t, `{"insert": "c", "documents": [{"_id": 2, "n": 9}]}`))
	insert := jd(t, `{"insert": "c", "ordered": false, "documents": [{"_id": 1, "n": 0}, {"_id": 2, "n": 0}, {"_id": 3, "n": 0}]}`)
	first := numberedWrite(t, c, 1, 1, insert)
	if want := `"n":{"$numberInt":"2"},"writeErrors":[{"index":{"$numberInt":"1"},"code":{"$numberInt":"11000"}`; !strings.Contains(fields(t, first), want) {
		t.Fatalf("%s", first)
	}
	ask(t, c, jd(t, `{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`))
	again := numberedWrite(t, c, 1, 1, insert)
	if got := again.String(); got != `{"n": {"$numberInt":"3"},"retriedStmtIds": [{"$numberInt":"0"},{"$numberInt":"2"}],"ok": {"$numberDouble":"1.0"}}` {
		t.Errorf("%s", got)
	}
	if got := state(t, c); got != "2:0" {
		t.Errorf("%s", got)
	}
	// Statement numbers of the client's own: 7 and 8 are new, 2 was carried out.
	more := numberedWrite(t, c, 1, 1, jd(t, `{"insert": "c", "documents": [{"_id": 7, "n": 0}, {"_id": 8, "n": 0}, {"_id": 9, "n": 0}], "stmtIds": [7, 2, 8]}`))
	if got := more.String(); got != `{"n": {"$numberInt":"3"},"retriedStmtIds": [{"$numberInt":"2"}],"ok": {"$numberDouble":"1.0"}}` {
		t.Errorf("%s", got)
	}
	if got := state(t, c); got != "2:0 7:0 9:0" {
		t.Errorf("%s", got)
	}
}

// TestNumbersRefused: what has no number, or a wrong one.
func TestNumbersRefused(t *testing.T) {
	s := testServer(t, t.Logf)
	c := s.NewSession("test")
	defer c.Close()
	insert := jd(t, `{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`)
	numberedWrite(t, c, 1, 5, insert)
	code := func(r bson.Raw) mongoerr.Code {
		if list, ok := r.Lookup("writeErrors").ArrayOK(); ok {
			return mongoerr.Code(list.Index(0).Value().Document().Lookup("code").Int32())
		}
		n, _ := r.Lookup("code").Int32OK()
		return mongoerr.Code(n)
	}
	for name, test := range map[string]struct {
		reply bson.Raw
		code  mongoerr.Code
	}{
		"older number":      {numberedWrite(t, c, 1, 4, insert), mongoerr.TransactionTooOld},
		"another command":   {numberedWrite(t, c, 1, 5, jd(t, `{"delete": "c", "deletes": [{"q": {}, "limit": 1}]}`)), errRetryMismatch},
		"negative":          {numberedWrite(t, c, 1, -1, insert), mongoerr.InvalidOptions},
		"not a long":        {ask(t, c, append(slices.Clone(insert), bson.E{Key: "txnNumber", Value: int32(7)})), mongoerr.TypeMismatch},
		"no session":        {ask(t, c, append(slices.Clone(insert), bson.E{Key: "txnNumber", Value: int64(7)})), mongoerr.InvalidOptions},
		"a read":            {numberedWrite(t, c, 1, 6, jd(t, `{"find": "c"}`)), errNotRetryable},
		"update of many":    {numberedWrite(t, c, 2, 6, jd(t, `{"update": "c", "updates": [{"q": {}, "u": {"$inc": {"n": 1}}, "multi": true}]}`)), mongoerr.InvalidOptions},
		"delete of many":    {numberedWrite(t, c, 3, 7, jd(t, `{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`)), mongoerr.InvalidOptions},
		"transaction":       {numberedWrite(t, c, 1, 8, insert, bson.E{Key: "startTransaction", Value: true}, bson.E{Key: "autocommit", Value: false}), mongoerr.IllegalOperation},
		"commitTransaction": {numberedWrite(t, c, 1, 8, jd(t, `{"commitTransaction": 1}`), bson.E{Key: "autocommit", Value: false}), mongoerr.IllegalOperation},
	} {
		if got := code(test.reply); got != test.code {
			t.Errorf("%s: code %d, want %d: %s", name, got, test.code, test.reply)
		}
	}
	if got := state(t, c); got != "1:0" {
		t.Errorf("the collection is %s", got)
	}
}

// TestRetryWaits: a retry that arrives on another connection while the first attempt runs waits for it.
func TestRetryWaits(t *testing.T) {
	s := testServer(t, t.Logf)
	setup := s.NewSession("test")
	defer setup.Close()
	ask(t, setup, jd(t, `{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`))
	inc := jd(t, `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}]}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c := s.NewSession("test")
			defer c.Close()
			for number := range int64(20) {
				numberedWrite(t, c, 1, number, inc)
			}
		})
	}
	wg.Wait()
	numberedWrite(t, setup, 1, 19, inc)
	if got := state(t, setup); got != "1:20" {
		t.Errorf("20 numbers sent by 8 connections: %s", got)
	}
}

// TestRepliesKept: the memory for replies is bounded, and is free again after the session or its next write.
func TestRepliesKept(t *testing.T) {
	s := testServer(t, t.Logf)
	c := s.NewSession("test")
	defer c.Close()
	ask(t, c, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}, {Key: "s", Value: strings.Repeat("x", 10<<20)}}}}})
	modify := jd(t, `{"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}}`)
	for i := range byte(6) {
		numberedWrite(t, c, i, 1, modify)
		if r := numberedWrite(t, c, i, 1, modify); r.Lookup("ok").Double() != 1 {
			t.Fatalf("session %d: %s", i, r.Lookup("errmsg"))
		}
	}
	if r := numberedWrite(t, c, 100, 1, modify); r.Lookup("ok").Double() != 1 {
		t.Fatal("the write itself is refused")
	}
	if r := numberedWrite(t, c, 100, 1, modify); r.Lookup("code").Int32() != int32(mongoerr.IncompleteTransactionHistory) {
		t.Errorf("the reply is kept beyond the limit, or the write was carried out again: %s", r.Lookup("errmsg"))
	}
	numberedWrite(t, c, 0, 2, jd(t, `{"delete": "c", "deletes": [{"q": {"_id": 5}, "limit": 1}]}`))
	if kept := s.idle.kept; kept < 50<<20 || kept > 51<<20 {
		t.Errorf("%d bytes are kept for five replies of 10 MiB", kept)
	}
	s.expire(time.Now().Add(logicalSessionTimeout + time.Minute))
	if s.idle.kept != 0 {
		t.Errorf("%d bytes are kept for no session", s.idle.kept)
	}
}

// TestWaitingEnds: a command that waits for its session's turn can be stopped.
func TestWaitingEnds(t *testing.T) {
	s := testServer(t, t.Logf)
	s.idle.touch([]byte("id"), time.Now())
	k := &call{s: s, cmd: &command{name: "insert"}, g: generic{session: []byte("id")}}
	done, err := k.beginNumbered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(mongoerr.New(mongoerr.Interrupted, "stopped"))
	if _, err := k.beginNumbered(ctx); mongoerr.CodeOf(err) != mongoerr.Interrupted {
		t.Errorf("%v", err)
	}
	done()
	if done, err = k.beginNumbered(t.Context()); err != nil {
		t.Fatal(err)
	}
	done()
}

func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s spans
		in := map[int32]bool{}
		for range r.IntN(60) {
			id := int32(r.IntN(40)) - 5
			s.add(id)
			in[id] = true
		}
		for id := int32(-10); id < 50; id++ {
			if s.has(id) != in[id] {
				t.Fatalf("%v: %d is in it: %v", s, id, s.has(id))
			}
		}
		for i := 1; i < len(s); i++ {
			if s[i][0] <= s[i-1][1]+1 {
				t.Fatalf("%v: ranges touch or are out of order", s)
			}
		}
	}
}
