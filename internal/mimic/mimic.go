package mimic

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/mongofake"
	"mrbench/internal/target"
)

// Topology is how servers are put together.
type Topology int

// The topologies.
const (
	Standalone Topology = iota
	ReplicaSet          // a primary that is alone in its set
	Mongos              // a router in front of two shards, s1 and s2
)

// Config says what to be.
type Config struct {
	Version     string // such as "4.0.3", the default
	Topology    Topology
	NoScripting bool
	// SplitVector is the code that the command is refused with: 13, 20 or 59; 0 runs it.
	SplitVector int32
	// Balancer is the mode of a cluster's balancer at the start: "full", "autoSplitOnly", or "off", the default.
	Balancer string
	// Auth has clients log in; there is the user root with password root and the role root.
	Auth bool
	// Address to listen on, a free port of this machine by default.
	Address string
	// NoShards leaves the cluster of a Mongos without shards.
	NoShards bool
	// Own answers a command instead of the mimic, when it is not nil and does not return nil.
	Own func(ctx context.Context, c mongofake.Command) bson.D
	// Secondary has the member of a replica set be no primary.
	Secondary bool
	// ShardUsers has the shards of a Mongos know the users of the cluster, which they do not by themselves.
	ShardUsers bool
	// BatchSize cuts a pipeline's first batch, so that its cursor is asked for more; 0 leaves it.
	BatchSize int32
}

// Server is a running mimic.
type Server struct {
	c            Config
	major, minor int32
	address      string // of the mimic
	engine       string // host:port of the engine
	inside       *mongo.Client
	listener     net.Listener
	cancel       context.CancelFunc
	work         sync.WaitGroup

	lead           *Server       // the primary of a secondary
	lag            time.Duration // behind it
	second         *Server       // of a primary
	secondaryUntil time.Time     // stepped down

	member string             // of which shard; "" none
	shards map[string]*Server // of a Mongos
	open   atomic.Int32       // connections

	mu     sync.Mutex
	faults []*Fault
	load   func(mongofake.Command) Load
	log    []mongofake.Command

	orphans map[string]int64 // by namespace and shard
}

// Start runs a mimic until the test ends.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	s, err := New(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// New runs a mimic with its data in a directory until Close.
func New(c Config, dir string) (s *Server, err error) {
	if c.Version == "" {
		c.Version = "4.0.3"
	}
	ctx, cancel := context.WithCancel(context.Background())
	s = &Server{c: c, cancel: cancel}
	if n, err := fmt.Sscanf(c.Version, "%d.%d", &s.major, &s.minor); n != 2 {
		return nil, fmt.Errorf("version %q: %w", c.Version, err)
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	serve := target.ServeConfig{DataDir: dir, Version: "test", Network: "tcp", Address: "127.0.0.1:0", Auth: c.Auth}
	if c.Auth {
		serve.Login = target.Login{User: "root", Password: "root"}
	}
	ready, failed := make(chan string, 1), make(chan error, 1)
	serve.Ready = func(v target.Serving) { ready <- v.URI }
	s.work.Go(func() { failed <- target.Serve(ctx, serve) })
	select {
	case uri := <-ready:
		s.engine = strings.TrimPrefix(uri, "mongodb://")
	case err := <-failed:
		return nil, err
	}
	uri := "mongodb://" + s.engine + "/?directConnection=true"
	if c.Auth {
		uri = "mongodb://root:root@" + s.engine + "/?directConnection=true&authSource=admin"
	}
	if s.inside, err = mongo.Connect(ctx, options.Client().ApplyURI(uri)); err != nil {
		return nil, err
	}
	address := "127.0.0.1:0"
	if c.Address != "" {
		address = c.Address
	}
	if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); err != nil {
		return nil, err
	}
	s.address = s.listener.Addr().String()
	if c.Topology == Mongos {
		if err := s.makeShards(ctx); err != nil {
			return nil, err
		}
	}
	s.work.Go(func() { s.accept(ctx, s.listener) })
	return s, nil
}

// Close ends the mimic and waits for what it was doing.
func (s *Server) Close() {
	if s.listener != nil {
		_ = s.listener.Close()
	}
	if s.inside != nil {
		_ = s.inside.Disconnect(context.Background())
	}
	s.cancel()
	s.work.Wait()
}

// URI is the connection string, without a login.
func (s *Server) URI() string { return "mongodb://" + s.address + "/" }

// URIOf is the connection string for a user of the database admin.
func (s *Server) URIOf(user, password string) string {
	return "mongodb://" + url.UserPassword(user, password).String() + "@" + s.address + "/?authSource=admin"
}

// Inside is a client of the engine itself, past the mimic.
func (s *Server) Inside() *mongo.Client { return s.inside }

// Client is a client of the mimic, until the test ends.
func (s *Server) Client(t testing.TB) *mongo.Client {
	t.Helper()
	c, err := mongo.Connect(context.Background(), options.Client().ApplyURI(s.URI()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

// Commands are those that came in so far, handshakes and goodbyes apart.
func (s *Server) Commands() []mongofake.Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]mongofake.Command(nil), s.log...)
}

// User makes a user of the database admin with the password "secret". roles are "role@database".
func (s *Server) User(t testing.TB, name string, roles ...string) {
	t.Helper()
	list := bson.A{}
	for _, r := range roles {
		role, db, _ := strings.Cut(r, "@")
		list = append(list, bson.D{{Key: "role", Value: role}, {Key: "db", Value: db}})
	}
	err := s.inside.Database("admin").RunCommand(t.Context(), bson.D{{Key: "createUser", Value: name}, {Key: "pwd", Value: "secret"}, {Key: "roles", Value: list}}).Err()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *Server) atLeast(major, minor int32) bool {
	return s.major > major || s.major == major && s.minor >= minor
}

func (s *Server) versionArray() bson.A {
	a := bson.A{}
	for _, part := range strings.Split(s.c.Version+".0", ".") {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			n = 0
		}
		a = append(a, int32(n))
	}
	return a
}
