package embedded

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// openEngine opens an engine on a file system in memory.
func openEngine(t testing.TB) *Engine {
	t.Helper()
	e, err := Open(Config{Dir: "data", FS: vfs.NewMem(), Version: "test", Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	})
	return e
}

// connect is a driver client of e.
func connect(t testing.TB, e *Engine, opts ...*options.ClientOptions) *mongo.Client {
	t.Helper()
	base := options.Client().ApplyURI("mongodb://embedded/").SetDialer(e)
	client, err := mongo.Connect(context.Background(), append([]*options.ClientOptions{base}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// An engine that is closed is looked for in vain, to end sessions there.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = client.Disconnect(ctx)
	})
	return client
}

// run runs a command that must succeed.
func run(t testing.TB, db *mongo.Database, cmd any) bson.Raw {
	t.Helper()
	raw, err := db.RunCommand(context.Background(), cmd).Raw()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return raw
}

// fails runs a command that must fail with a code.
func fails(t testing.TB, db *mongo.Database, code int32, cmd any) {
	t.Helper()
	_, err := db.RunCommand(context.Background(), cmd).Raw()
	if got := codeOf(err); got != code {
		t.Fatalf("%v: code %d (%v), want %d", cmd, got, err, code)
	}
}

// codeOf is the server's code in a driver error: 0 for no error, -1 for an error that is not the server's.
func codeOf(err error) int32 {
	var command mongo.CommandError
	var write mongo.WriteException
	switch {
	case err == nil:
		return 0
	case errors.As(err, &command):
		return command.Code
	case errors.As(err, &write) && len(write.WriteErrors) > 0:
		return int32(write.WriteErrors[0].Code)
	}
	return -1
}
