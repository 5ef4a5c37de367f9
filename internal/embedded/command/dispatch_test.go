package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
	"mrbench/internal/embedded/wire"
)

// testServer is a Server on a store in memory; log receives its lines.
func testServer(t *testing.T, log func(string, ...any)) *Server {
	t.Helper()
	db, err := store.Open(store.Options{Dir: "data", FS: vfs.NewMem(), CompileFilter: query.CompileFilter})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Config{DB: db, Version: "test", Log: log})
	t.Cleanup(func() {
		s.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask runs one command on a session.
func ask(t *testing.T, c *Session, cmd bson.D) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(append(cmd, bson.E{Key: "$db", Value: "admin"}))
	if err != nil {
		t.Fatal(err)
	}
	return bson.Raw(c.Run(c.s.Context(), &wire.Message{Header: wire.Header{OpCode: wire.OpMsg}, Body: bsonx.Doc(raw)}, nil))
}

// TestPanicIsAnError: a fault in one command is its client's error and a line of the log; the session goes on.
func TestPanicIsAnError(t *testing.T) {
	var logged []string
	s := testServer(t, func(format string, args ...any) { logged = append(logged, fmt.Sprintf(format, args...)) })
	c := s.NewSession("test")
	defer c.Close()
	s.before = func(name string) {
		if name == "ping" {
			panic("out of order")
		}
	}
	r := ask(t, c, bson.D{{Key: "ping", Value: 1}})
	if r.Lookup("ok").Double() != 0 || r.Lookup("code").Int32() != 1 || !strings.Contains(r.Lookup("errmsg").StringValue(), "out of order") {
		t.Fatalf("after a panic: %v", r)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], "panic in command ping") || !strings.Contains(logged[0], "goroutine") {
		t.Fatalf("logged: %q", logged)
	}
	if r := ask(t, c, bson.D{{Key: "hello", Value: 1}}); r.Lookup("ok").Double() != 1 {
		t.Fatalf("the next command: %v", r)
	}
	if n := s.ops.count(); n != 0 {
		t.Fatalf("%d operations are still registered", n)
	}
}

// TestTable: the table that dispatches is what listCommands shows, each line complete.
func TestTable(t *testing.T) {
	s := testServer(t, nil)
	c := s.NewSession("test")
	defer c.Close()
	listed, err := ask(t, c, bson.D{{Key: "listCommands", Value: 1}}).Lookup("commands").Document().Elements()
	if err != nil || len(listed) != len(s.table.list) {
		t.Fatalf("%d commands listed of %d: %v", len(listed), len(s.table.list), err)
	}
	names := map[string]bool{}
	for i, cmd := range s.table.list {
		if listed[i].Key() != cmd.name || cmd.help == "" || cmd.run == nil {
			t.Errorf("line %d: %+v", i, cmd)
		}
		for _, n := range append([]string{cmd.name}, cmd.aliases...) {
			if names[n] {
				t.Errorf("%s stands twice in the table", n)
			}
			names[n] = true
		}
	}
	if !slices.IsSortedFunc(s.table.list, func(a, b *command) int { return strings.Compare(a.name, b.name) }) {
		t.Error("not in order")
	}
}

// TestInterrupted: after Interrupt every command answers that the server is shutting down.
func TestInterrupted(t *testing.T) {
	s := testServer(t, nil)
	c := s.NewSession("test")
	defer c.Close()
	s.Interrupt()
	if r := ask(t, c, bson.D{{Key: "ping", Value: 1}}); r.Lookup("code").Int32() != 11600 {
		t.Fatalf("%v", r)
	}
}
