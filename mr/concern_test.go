package mr

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"

	"mrbench/internal/mongofake"
)

// The write concern is in the command, and one that is not met is an error though the reply says ok.
func TestWriteConcern(t *testing.T) {
	t.Parallel()
	journal := true
	var sent bson.Raw
	fake := &mongofake.Server{Handle: func(_ context.Context, c mongofake.Command) bson.D {
		if c.Name == "listCollections" {
			return mongofake.Cursor(c.DB + ".$cmd.listCollections")
		}
		if c.Name != "mapReduce" {
			return nil
		}
		sent = c.Body
		return bson.D{
			{Key: "result", Value: "answer"},
			{Key: "ok", Value: 1.0},
			{Key: "writeConcernError", Value: bson.D{{Key: "code", Value: 100}, {Key: "codeName", Value: "CannotSatisfyWriteConcern"}, {Key: "errmsg", Value: "Not enough data-bearing nodes"}}},
		}
	}}
	c := Config{
		Client: fake.Client(t), DB: "test", Coll: "u", Job: UniqueCount("k"), Prefix: "p",
		WriteConcern: &writeconcern.WriteConcern{W: "majority", Journal: &journal},
	}
	_, err := Run(t.Context(), c)
	var u *UnconfirmedError
	if !errors.As(err, &u) || u.Code != 100 {
		t.Errorf("%v", err)
	}
	if got := sent.Lookup("writeConcern").String(); got != `{"w": "majority","j": true}` {
		t.Errorf("sent %s", got)
	}
	c.WriteConcern = writeconcern.Unacknowledged()
	if _, err := Run(t.Context(), c); err == nil {
		t.Error("write concern 0 was taken")
	}
}
