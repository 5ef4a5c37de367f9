package seed

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// limits of one insert command.
type limits struct {
	count int // documents
	bytes int // of documents
	wire  int // version of the protocol
}

// commandReserve is kept free in a message for the command around the documents.
const commandReserve = 16 << 10

// askLimits reads the server's limits from its hello. A command's body is a
// document too, so a batch in it is bounded by the largest document as well as by the
// largest message.
func askLimits(ctx context.Context, db *mongo.Database) (limits, error) {
	raw, err := db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Raw()
	var ce mongo.CommandError
	if errors.As(err, &ce) && ce.Code == 59 { // servers before 4.4.2 know the older name alone
		raw, err = db.RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Raw()
	}
	if err != nil {
		return limits{}, fmt.Errorf("seed: hello: %w", err)
	}
	// What the protocol has always allowed, for a server that does not say.
	l := limits{count: 1000, bytes: 16 << 20}
	message := 48000000
	if n, ok := raw.Lookup("maxWireVersion").AsInt64OK(); ok {
		l.wire = int(n)
	}
	if n, ok := raw.Lookup("maxWriteBatchSize").AsInt64OK(); ok && n > 0 {
		l.count = int(n)
	}
	if n, ok := raw.Lookup("maxBsonObjectSize").AsInt64OK(); ok && n > 0 {
		l.bytes = int(n)
	}
	if n, ok := raw.Lookup("maxMessageSizeBytes").AsInt64OK(); ok && n > 0 {
		message = int(n)
	}
	l.bytes = max(min(l.bytes, message)-commandReserve, 1)
	return l, nil
}
