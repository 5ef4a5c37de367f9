package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

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
	// Timeout for finding the server; 0 is DefaultTimeout, and before that what the connection string says.
	Timeout time.Duration
	// Notice gets lines for a person, such as which engine is used. May be nil.
	Notice func(string)
	// Throwaway names the server that was started for this process alone; "" when it is another's.
	Throwaway string
	// Monitor hears of the client's commands. May be nil.
	Monitor *event.CommandMonitor
	// Getenv looks up a variable of the process, for logins by workload identity. May be nil.
	Getenv func(string) string
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

	// Wishes are what the connection string says of reads and writes. The client itself reads from the primary, and
	// what it writes is acknowledged.
	Wishes Wishes

	wire      *wire
	options   *options.ClientOptions // without the wire
	uri       string
	mechanism string        // of the login
	build     bson.Raw      // what buildInfo said when the server was found
	timeout   time.Duration // the connection string's, for finding the server; 0 it says none
	close     func() error
}

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

func connect(ctx context.Context, c Config, uri string) (*Target, error) {
	if err := CheckURI(uri); err != nil {
		return nil, err
	}
	t := &Target{uri: uri}
	o, err := t.read(c, uri)
	if err != nil {
		return nil, err
	}
	err = t.dial(ctx, c, o)
	if wantsAPI(err) {
		if o, err = t.read(c, uri); err == nil {
			err = t.dial(ctx, c, o.SetServerAPIOptions(options.ServerAPI(options.ServerAPIVersion1)))
		}
	}
	if err != nil {
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

// read makes options of a connection string, and keeps what it says of reads and writes.
func (t *Target) read(c Config, uri string) (*options.ClientOptions, error) {
	o := options.Client().ApplyURI(uri)
	if err := o.Validate(); err != nil {
		if dns, ok := errors.AsType[*net.DNSError](err); ok {
			host, _, _ := strings.Cut(partsOf(uri).hosts, "/")
			return nil, &UnreachableError{host, c.Timeout, dns}
		}
		return nil, &URIError{Err: withoutSecret(err, uri), valid: true}
	}
	loginOfPod(o, c.Getenv)
	t.nameApp(c, o)
	if c.Timeout == DefaultTimeout && o.ServerSelectionTimeout != nil {
		t.timeout = *o.ServerSelectionTimeout
	}
	if o.Auth != nil {
		t.mechanism = o.Auth.AuthMechanism
	}
	t.Address = strings.Join(o.Hosts, ",")
	t.Identity = "mongodb://" + t.Address
	if c.Throwaway != "" { // another server may get its port
		t.Identity, t.Throwaway = "throw-away:"+c.Throwaway, true
	}
	t.Wishes = takeWishes(o)
	return o, nil
}

// dial connects with o and learns what the server is.
func (t *Target) dial(ctx context.Context, c Config, o *options.ClientOptions) error {
	if t.timeout > 0 {
		c.Timeout = t.timeout
	}
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
		return &URIError{Err: withoutSecret(err, t.uri), valid: true} // nobody was talked to yet
	}
	t.Client = client
	if err := t.ask(ctx); err != nil {
		t.disconnect()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if text := err.Error(); strings.Contains(text, "auth error") || strings.Contains(text, "AuthenticationFailed") {
			return &LoginError{t.Address, t.mechanism, err}
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
	var err error
	if t.build, err = admin.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Raw(); err != nil {
		return err
	}
	if err := bson.Unmarshal(t.build, &build); err != nil {
		return fmt.Errorf("buildInfo: %w", err)
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
