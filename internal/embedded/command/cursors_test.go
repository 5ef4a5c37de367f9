package command

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// TestIdleCursorsEnd: ten minutes after its last use a cursor is gone; one in use is not.
func TestIdleCursorsEnd(t *testing.T) {
	s := testServer(t, t.Logf)
	c := s.NewSession("test")
	defer c.Close()
	docs := bson.A{}
	for i := range 300 {
		docs = append(docs, bson.D{{Key: "_id", Value: i}})
	}
	ask(t, c, bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: docs}})
	open := func() int64 {
		return ask(t, c, bson.D{{Key: "find", Value: "c"}}).Lookup("cursor", "id").Int64()
	}
	idle, busy := open(), open()
	held, err := s.cursors.take(busy, "admin.c", nil, "")
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	s.expire(time.Now().Add(cursorIdleTimeout - time.Minute))
	if n, _, _, _ := s.cursors.counts(); n != 2 {
		t.Fatalf("%d cursors before their time is over", n)
	}
	if r := ask(t, c, bson.D{{Key: "getMore", Value: busy}, {Key: "collection", Value: "c"}}); r.Lookup("code").Int32() != int32(errCursorInUse) {
		t.Errorf("getMore on a cursor in use: %v", r)
	}
	s.expire(time.Now().Add(cursorIdleTimeout + time.Minute))
	n, pinned, _, timedOut := s.cursors.counts()
	if n != 1 || pinned != 1 || timedOut != 1 {
		t.Fatalf("%d cursors, %d in use, %d ended", n, pinned, timedOut)
	}
	if r := ask(t, c, bson.D{{Key: "getMore", Value: idle}, {Key: "collection", Value: "c"}}); r.Lookup("code").Int32() != 43 {
		t.Errorf("getMore on an ended cursor: %v", r)
	}
	// A cursor killed while in use is closed by whoever uses it.
	if !s.cursors.kill(busy, "admin.c", "") || held.src == nil {
		t.Error("the cursor in use was closed under its user, or not killed")
	}
	s.cursors.put(held, false)
	if held.src != nil {
		t.Error("a killed cursor stayed open after its use")
	}
}

// TestIdleSessionsEnd: a logical session that is not used for half an hour ends, and its cursors with it.
func TestIdleSessionsEnd(t *testing.T) {
	s := testServer(t, t.Logf)
	c := s.NewSession("test")
	defer c.Close()
	id := ask(t, c, bson.D{{Key: "startSession", Value: 1}}).Lookup("id").Document()
	if n := s.idle.count(); n != 1 {
		t.Fatalf("%d sessions", n)
	}
	s.expire(time.Now().Add(logicalSessionTimeout - time.Minute))
	if n := s.idle.count(); n != 1 {
		t.Fatalf("%d sessions before the time is over", n)
	}
	ask(t, c, bson.D{{Key: "refreshSessions", Value: bson.A{id}}})
	s.expire(time.Now().Add(logicalSessionTimeout + time.Minute))
	if n := s.idle.count(); n != 0 {
		t.Fatalf("%d sessions afterwards", n)
	}
}
