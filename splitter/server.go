package splitter

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Wire versions that brought what is used here.
const (
	Wire42 = 8  // MongoDB 4.2: $merge
	Wire44 = 9  // MongoDB 4.4: comment on every command; mapReduce runs as a pipeline
	Wire50 = 13 // MongoDB 5.0: an index for $expr's $gt and $lt
)

// Server is what a server says of itself.
type Server struct {
	WireVersion   int  // maxWireVersion
	Mongos        bool // a router in front of shards
	MaxDocument   int  // bytes
	MaxMessage    int  // bytes
	MaxWriteBatch int  // documents
}

// AskServer asks hello, or isMaster where hello is not known yet.
func AskServer(ctx context.Context, c *mongo.Client) (Server, error) {
	db := c.Database("admin")
	raw, err := db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Raw()
	if code(err) == codeCommandNotFound {
		raw, err = db.RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Raw()
	}
	if err != nil {
		return Server{}, fmt.Errorf("splitter: hello: %w", err)
	}
	s := Server{MaxDocument: 16 << 20, MaxMessage: 48000000, MaxWriteBatch: 1000}
	for _, f := range []struct {
		name string
		to   *int
	}{
		{"maxWireVersion", &s.WireVersion},
		{"maxBsonObjectSize", &s.MaxDocument},
		{"maxMessageSizeBytes", &s.MaxMessage},
		{"maxWriteBatchSize", &s.MaxWriteBatch},
	} {
		if n, ok := raw.Lookup(f.name).AsInt64OK(); ok && n > 0 {
			*f.to = int(n)
		}
	}
	msg, _ := raw.Lookup("msg").StringValueOK()
	s.Mongos = msg == "isdbgrid"
	return s, nil
}
