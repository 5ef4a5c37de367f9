package seed_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/seed"
)

// The gate is asked before each insert; its error stops the load before anything more is sent. Comments are for servers that take them.
func TestGate(t *testing.T) {
	for wire, tagged := range map[int32]bool{7: false, 9: true} {
		var inserts, asked, open atomic.Int32
		s := &mongofake.Server{WireVersion: wire, Handle: func(_ context.Context, c mongofake.Command) bson.D {
			if c.Name == "insert" {
				inserts.Add(1)
				if _, ok := c.Body.Lookup("comment").StringValueOK(); ok != tagged {
					t.Errorf("wire version %d: %s", wire, c.Body)
				}
				if open.Load() == 0 {
					t.Error("an insert was sent without asking")
				}
			}
			if c.Name == "listCollections" || c.Name == "find" {
				return mongofake.Cursor("test.c")
			}
			return nil
		}}
		busy := errors.New("too busy")
		_, err := seed.Run(t.Context(), seed.Config{
			Collection: s.Client(t).Database("test").Collection("c"), Generator: seed.Uniques(1, "f", 1000, 10), Documents: 1000, Batch: 100, Writers: 1, Comment: "tag",
			Gate: func(context.Context) (func(), error) {
				if asked.Add(1) > 3 {
					return nil, busy
				}
				open.Add(1)
				return func() { open.Add(-1) }, nil
			},
		})
		if !errors.Is(err, busy) || inserts.Load() != 3 || open.Load() != 0 {
			t.Errorf("wire version %d: %v after %d inserts, %d open", wire, err, inserts.Load(), open.Load())
		}
	}
}
