package fakemongod

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// member is a server and what it is in its replica set.
type member struct {
	*process
	server *mimic.Server

	mu      sync.Mutex
	hosts   []string
	primary string // "" before the set is initiated
	elected time.Time
	shards  int
}

// electionTime is how long a set has no primary.
const electionTime = 50 * time.Millisecond

func (p *process) serve() int {
	m := &member{process: p}
	dir := p.flags["dbpath"]
	c := mimic.Config{Version: os.Getenv(envVersion), Address: p.address, NoShards: true, Own: m.own}
	switch {
	case p.program == "mongos":
		c.Topology = mimic.Mongos
		dir = filepath.Join(".", "fake-mongos")
		if err := m.findConfig(); err != nil {
			return complain(exitUsage, "no config server: %v", err)
		}
	case p.flags["replSet"] != "":
		c.Topology = mimic.ReplicaSet
	}
	m.mu.Lock() // until the server is known
	s, err := mimic.New(c, dir)
	if err != nil {
		m.mu.Unlock()
		logged("E", "Failed to set up listener: SocketException: %v", err)
		return exitNetError
	}
	m.server = s
	m.mu.Unlock()
	logged("I", "waiting for connections on port %s", p.flags["port"])
	if p.fails(Stubborn) {
		select {}
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
	s.Close()
	return 0
}

// findConfig waits for the config server, as a mongos does before it listens.
func (m *member) findConfig() error {
	set, host, ok := strings.Cut(m.flags["configdb"], "/")
	if !ok {
		return fmt.Errorf("--configdb %q names no replica set", m.flags["configdb"])
	}
	return m.ask(host, func(hello bson.Raw) error {
		if name, _ := hello.Lookup("setName").StringValueOK(); name != set || hello.Lookup("configsvr").Type == 0 {
			return fmt.Errorf("%s is no config server of the set %s: %v", host, set, hello)
		}
		return nil
	})
}

// ask has a look at what another fake says that it is.
func (m *member) ask(host string, look func(bson.Raw) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := mongo.Connect(ctx, options.Client().ApplyURI("mongodb://"+host+"/?directConnection=true"))
	if err != nil {
		return err
	}
	defer func() { _ = c.Disconnect(ctx) }()
	hello, err := c.Database("admin").RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Raw()
	if err != nil {
		return err
	}
	if primary, _ := hello.Lookup("ismaster").BooleanOK(); !primary {
		return fmt.Errorf("%s is not primary", host)
	}
	return look(hello)
}

var ok = bson.D{{Key: "ok", Value: 1.0}}

// own answers what the mimic does not know or says differently.
func (m *member) own(ctx context.Context, c mongofake.Command) bson.D {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch c.Name {
	case "getCmdLineOpts":
		return bson.D{{Key: "argv", Value: m.argv}, {Key: "parsed", Value: bson.D{}}, {Key: "ok", Value: 1.0}}
	case "isMaster", "ismaster", "hello":
		if m.flags["replSet"] != "" {
			return m.hello()
		}
	case "replSetInitiate":
		return m.initiate(c.Body)
	case "fakeJoin": // from the member that was told to initiate
		return m.join(c.Body)
	case "addShard":
		return m.addShard(ctx, c.Body)
	case "mapReduce", "mapreduce":
		if m.fails(DieLater) {
			logged("F", "Invariant failure: told to die src/mongo/db/commands/mr.cpp 1")
			os.Exit(exitAbort)
		}
	case "insert", "createIndexes", "create":
		if m.flags["replSet"] != "" && m.primary != m.address {
			return mongofake.Error(mimic.NotPrimary, "not master")
		}
	}
	return nil
}

// hello is a member's, or a ghost's. Callers hold mu.
func (m *member) hello() bson.D {
	var head bson.D
	switch primary := m.primary == m.address && time.Now().After(m.elected) && !m.fails(NoVote); {
	case m.primary == "":
		head = bson.D{
			{Key: "ismaster", Value: false}, {Key: "secondary", Value: false},
			{Key: "info", Value: "Does not have a valid replica set config"}, {Key: "isreplicaset", Value: true},
		}
	default:
		head = bson.D{
			{Key: "hosts", Value: m.hosts}, {Key: "setName", Value: m.flags["replSet"]}, {Key: "setVersion", Value: int32(1)},
			{Key: "ismaster", Value: primary}, {Key: "secondary", Value: m.primary != m.address}, {Key: "me", Value: m.address},
		}
		if time.Now().After(m.elected) && !m.fails(NoVote) {
			head = append(head, bson.E{Key: "primary", Value: m.primary})
		}
		if m.flags["configsvr"] != "" {
			head = append(head, bson.E{Key: "configsvr", Value: int32(2)})
		}
	}
	return append(head, bson.D{
		{Key: "maxBsonObjectSize", Value: int32(16 << 20)},
		{Key: "maxMessageSizeBytes", Value: int32(48_000_000)},
		{Key: "maxWriteBatchSize", Value: int32(100_000)},
		{Key: "logicalSessionTimeoutMinutes", Value: int32(30)},
		{Key: "minWireVersion", Value: int32(0)},
		{Key: "maxWireVersion", Value: int32(7)},
		{Key: "readOnly", Value: false},
		{Key: "ok", Value: 1.0},
	}...)
}

// initiate makes the members a set, of which this one is the primary.
func (m *member) initiate(body bson.Raw) bson.D {
	var c struct {
		Config struct {
			ID      string `bson:"_id"`
			Config  bool   `bson:"configsvr"`
			Members []struct {
				ID   int32 `bson:"_id"`
				Host string
			}
		} `bson:"replSetInitiate"`
	}
	if err := bson.Unmarshal(body, &c); err != nil {
		return mongofake.Error(93, err.Error())
	}
	switch {
	case m.flags["replSet"] == "":
		return mongofake.Error(76, "This node was not started with the replSet option")
	case m.primary != "":
		return mongofake.Error(23, "already initialized")
	case c.Config.ID != m.flags["replSet"]:
		return mongofake.Error(93, "Attempting to initiate a replica set with name "+c.Config.ID+", but command line reports "+m.flags["replSet"])
	case c.Config.Config != (m.flags["configsvr"] != ""):
		return mongofake.Error(93, "Nodes started with the --configsvr flag must have configsvr:true in their config")
	case m.fails(BadConfig):
		return mongofake.Error(93, "told to refuse the configuration")
	}
	var hosts bson.A
	for _, x := range c.Config.Members {
		hosts = append(hosts, x.Host)
	}
	joined := bson.D{{Key: "fakeJoin", Value: m.address}, {Key: "hosts", Value: hosts}}
	for _, x := range c.Config.Members {
		if x.Host == m.address {
			continue
		}
		if err := tell(x.Host, joined); err != nil {
			return mongofake.Error(74, "replSetInitiate quorum check failed because not all proposed set members responded affirmatively: "+err.Error())
		}
	}
	raw, err := bson.Marshal(joined)
	if err != nil {
		return mongofake.Error(1, err.Error())
	}
	return m.join(raw)
}

func tell(host string, cmd bson.D) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := mongo.Connect(ctx, options.Client().ApplyURI("mongodb://"+host+"/?directConnection=true"))
	if err != nil {
		return err
	}
	defer func() { _ = c.Disconnect(ctx) }()
	return c.Database("admin").RunCommand(ctx, cmd).Err()
}

// join makes this a member. Callers hold mu.
func (m *member) join(body bson.Raw) bson.D {
	var j struct {
		Primary string `bson:"fakeJoin"`
		Hosts   []string
	}
	if err := bson.Unmarshal(body, &j); err != nil {
		return mongofake.Error(93, err.Error())
	}
	m.primary, m.hosts, m.elected = j.Primary, j.Hosts, time.Now().Add(electionTime)
	return ok
}

// addShard looks whether the shard is one.
func (m *member) addShard(ctx context.Context, body bson.Raw) bson.D {
	name, _ := body.Lookup("name").StringValueOK()
	where, _ := body.Lookup("addShard").StringValueOK()
	set, host, _ := strings.Cut(where, "/")
	switch {
	case m.program != "mongos":
		return mongofake.Error(59, "no such command: 'addShard'")
	case m.fails(NoShard):
		return mongofake.Error(96, "told to refuse the shard")
	}
	if err := m.ask(host, func(hello bson.Raw) error {
		if got, _ := hello.Lookup("setName").StringValueOK(); got != set {
			return fmt.Errorf("in seed list %s, host %s does not belong to replica set %s", where, host, set)
		}
		return nil
	}); err != nil {
		return mongofake.Error(96, err.Error())
	}
	if m.shards++; m.shards == 1 {
		// As if an answer had been lost: asked again it has the same effect.
		return mongofake.Error(6, "told to fail once")
	}
	_, err := m.server.Inside().Database("config").Collection("shards").UpdateOne(ctx, bson.D{{Key: "_id", Value: name}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "host", Value: where}, {Key: "state", Value: int32(1)}}}}, options.Update().SetUpsert(true))
	if err != nil {
		return mongofake.Error(1, err.Error())
	}
	return bson.D{{Key: "shardAdded", Value: name}, {Key: "ok", Value: 1.0}}
}
