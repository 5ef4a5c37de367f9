package target

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/x/mongo/driver/connstring"

	"mrbench/splitter"
)

// DefaultTimeout is how long a server is looked for.
const DefaultTimeout = 5 * time.Second

// Config says where the server is.
type Config struct {
	// URI is a connection string; empty is the embedded engine.
	URI string
	// DataDir is the embedded engine's directory.
	DataDir string
	// Version is mrbench's own, told to the server.
	Version string
	// AppName is what the server knows the client by, in currentOp and its log, unless URI names one. "" is the program with its version.
	AppName string
	// Timeout for finding the server; 0 is DefaultTimeout.
	Timeout time.Duration
	// Notice gets lines for a person, such as which engine is used. May be nil.
	Notice func(string)
	// Throwaway names the server that was started for this process alone; "" when it is another's.
	Throwaway string
	// Monitor hears of the client's commands. May be nil.
	Monitor *event.CommandMonitor
}

// Kinds of servers.
const (
	MongoDB  = "mongodb"
	Embedded = "embedded"
)

// Target is a server to work on.
type Target struct {
	Client      *mongo.Client
	Kind        string // MongoDB or Embedded
	Version     string
	WireVersion int32
	AppName     string // what the server knows the client by
	Topology    string // "standalone", "replica set NAME", "sharded", "embedded"
	// Address is the hosts, or the engine's directory; never with credentials.
	Address string
	// Identity tells servers apart: the same for the same hosts or directory.
	Identity string
	// Throwaway: the server is this process's own and removed with its data in the end.
	Throwaway bool
	// Predicate is the form of range filters that this server can use an index for.
	Predicate splitter.Predicate

	wire    *wire
	options *options.ClientOptions // without the wire
	close   func() error
}

// UnreachableError means that no server answered in time.
type UnreachableError struct {
	Address string
	Timeout time.Duration
	Err     error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no server answered at %s within %v: %s; check that it runs and that --uri is right, or leave --uri out to use the embedded engine", e.Address, e.Timeout, reason(e.Err))
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// LoginError means that a server answered and did not let us in.
type LoginError struct {
	Address string
	Err     error
}

func (e *LoginError) Error() string {
	return fmt.Sprintf("the server at %s refused the login: check user, password and authSource in --uri", e.Address)
}

func (e *LoginError) Unwrap() error { return e.Err }

// URIError means that a connection string is not one.
type URIError struct{ Err error }

func (e *URIError) Error() string {
	return fmt.Sprintf("--uri: %v; it looks like mongodb://host:27017 or mongodb+srv://host", e.Err)
}

func (e *URIError) Unwrap() error { return e.Err }

// Open connects and asks the server what it is. It fails with *URIError, *UnreachableError or *InUseError. Close the
// target after use.
func Open(ctx context.Context, c Config) (*Target, error) {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Notice == nil {
		c.Notice = func(string) {}
	}
	if c.URI != "" {
		return connect(ctx, c, c.URI)
	}
	return openEmbedded(ctx, c)
}

// CheckURI returns a *URIError when a connection string is not one. An empty one is fine.
func CheckURI(uri string) error {
	if uri == "" {
		return nil
	}
	if _, err := connstring.ParseAndValidate(uri); err != nil {
		return &URIError{withoutSecret(err, uri)}
	}
	return nil
}

func connect(ctx context.Context, c Config, uri string) (*Target, error) {
	cs, err := connstring.ParseAndValidate(uri)
	if err != nil {
		return nil, &URIError{withoutSecret(err, uri)}
	}
	t := &Target{Address: strings.Join(cs.Hosts, ",")}
	t.Identity = "mongodb://" + t.Address
	if c.Throwaway != "" { // another server may get its port
		t.Identity, t.Throwaway = "throw-away:"+c.Throwaway, true
	}
	o := options.Client().ApplyURI(uri)
	t.nameApp(c, o)
	if err := t.dial(ctx, c, o); err != nil {
		return nil, err
	}
	return t, nil
}

// nameApp tells the server who it is that connects, unless the connection string does.
func (t *Target) nameApp(c Config, o *options.ClientOptions) {
	switch {
	case o.AppName != nil && *o.AppName != "":
	case c.AppName != "":
		o.SetAppName(c.AppName)
	default:
		o.SetAppName("mrbench " + c.Version)
	}
	t.AppName = *o.AppName
}

// dial connects with o and learns what the server is.
func (t *Target) dial(ctx context.Context, c Config, o *options.ClientOptions) error {
	o.SetServerSelectionTimeout(c.Timeout)
	if o.ConnectTimeout == nil {
		o.SetConnectTimeout(c.Timeout)
	}
	if c.Monitor != nil {
		o.SetMonitor(c.Monitor)
	}
	uncounted := *o
	t.options, t.wire = &uncounted, newWire(o.Dialer)
	client, err := mongo.Connect(ctx, o.SetDialer(t.wire))
	if err != nil {
		return &UnreachableError{t.Address, c.Timeout, err}
	}
	t.Client = client
	if err := t.ask(ctx); err != nil {
		t.disconnect()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if text := err.Error(); strings.Contains(text, "auth error") || strings.Contains(text, "AuthenticationFailed") {
			return &LoginError{t.Address, err}
		}
		if _, ok := errors.AsType[mongo.CommandError](err); ok {
			return fmt.Errorf("server at %s: %w", t.Address, err)
		}
		return &UnreachableError{t.Address, c.Timeout, err}
	}
	return nil
}

// ask sends hello and buildInfo.
func (t *Target) ask(ctx context.Context) error {
	admin := t.Client.Database("admin")
	var hello struct {
		MaxWireVersion int32  `bson:"maxWireVersion"`
		Msg            string `bson:"msg"`
		SetName        string `bson:"setName"`
	}
	// isMaster is known to every version that this driver talks to; hello only since 4.4.2.
	if err := admin.RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Decode(&hello); err != nil {
		return err
	}
	var build struct {
		Version      string        `bson:"version"`
		VersionArray []int32       `bson:"versionArray"`
		Mrbench      bson.RawValue `bson:"mrbench"`
	}
	if err := admin.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&build); err != nil {
		return err
	}
	t.Kind, t.Version, t.WireVersion = MongoDB, build.Version, hello.MaxWireVersion
	switch {
	case build.Mrbench.Type != 0:
		t.Kind, t.Topology = Embedded, "embedded"
	case hello.Msg == "isdbgrid":
		t.Topology = "sharded"
	case hello.SetName != "":
		t.Topology = "replica set " + hello.SetName
	default:
		t.Topology = "standalone"
	}
	t.Predicate = splitter.Brackets
	if len(build.VersionArray) > 0 && build.VersionArray[0] >= 5 {
		t.Predicate = splitter.Expr
	}
	return nil
}

// Bytes is what went over the client's connections so far, as it went over the wire.
func (t *Target) Bytes() (sent, received int64) { return t.wire.sent.Load(), t.wire.received.Load() }

// Observer is another client of the same server, with connections of its own that Bytes does not count. Disconnect it
// after use.
func (t *Target) Observer(ctx context.Context) (*mongo.Client, error) {
	o := *t.options
	return mongo.Connect(ctx, o.SetMaxPoolSize(1).SetMinPoolSize(0))
}

// closeTimeout is how long a client may take to say goodbye.
const closeTimeout = 5 * time.Second

func (t *Target) disconnect() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = t.Client.Disconnect(ctx) // nothing depends on it any more
}

// Close ends the connections, and the engine when it is this process's own.
func (t *Target) Close() error {
	if t == nil {
		return nil
	}
	t.disconnect()
	if t.close == nil {
		return nil
	}
	return t.close()
}
