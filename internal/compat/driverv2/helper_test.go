package driverv2

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// sent is the names and bodies of the commands that a client sent.
type sent struct {
	mu   sync.Mutex
	list []*event.CommandStartedEvent
}

func (s *sent) take() (names []string, bodies []bson.Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.list {
		names, bodies = append(names, e.CommandName), append(bodies, e.Command)
	}
	s.list = nil
	return names, bodies
}

// connect gives an empty database of the test's own, and what its client sends.
func connect(t *testing.T) (*mongo.Database, *sent) {
	t.Helper()
	uri := os.Getenv("MRBENCH_COMPAT_URI")
	if uri == "" {
		t.Skip("MRBENCH_COMPAT_URI is not set: give the connection string of a server whose databases compat_* may be dropped")
	}
	var log sent
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetMonitor(&event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			log.mu.Lock()
			defer log.mu.Unlock()
			log.list = append(log.list, e)
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	db := client.Database("compat_go_" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "_")))
	must(t, db.Drop(t.Context()))
	log.take()
	t.Cleanup(func() {
		must(t, db.Drop(context.Background()))
		must(t, client.Disconnect(context.Background()))
	})
	return db, &log
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails wants a refusal by the server with this code.
func fails(t *testing.T, code int, err error) mongo.ServerError {
	t.Helper()
	var refused mongo.ServerError
	if !errors.As(err, &refused) || !refused.HasErrorCode(code) {
		t.Fatalf("got %v, want a refusal with code %d", err, code)
	}
	return refused
}

// text shows types and the order of fields.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, true, false)
	must(t, err)
	return string(b)
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := text(t, got), text(t, want); g != w {
		t.Errorf("%s:\n got %.2000s\nwant %.2000s", what, g, w)
	}
}

func all(t *testing.T, cur *mongo.Cursor, err error) (docs []bson.D) {
	t.Helper()
	must(t, err)
	docs = []bson.D{}
	must(t, cur.All(t.Context(), &docs))
	return docs
}

// d is a short bson.D.
func d(pairs ...any) bson.D {
	doc := bson.D{}
	for i := 0; i < len(pairs); i += 2 {
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return doc
}
