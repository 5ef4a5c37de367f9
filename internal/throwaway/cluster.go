package throwaway

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sourcegraph/conc/pool"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// startAll starts what the topology asks for and sets URI.
func (s *Server) startAll(ctx context.Context) (err error) {
	var nodes []*node
	defer func() {
		for _, n := range nodes {
			if n.client != nil {
				_ = n.client.Disconnect(context.WithoutCancel(ctx))
			}
		}
	}()
	cache := s.cache()
	switch s.c.Topology.Kind {
	case ReplSet:
		set, err := s.set(ctx, setName, "mongod", s.c.Topology.N, cache, &nodes, "--oplogSize", oplogMegabytes)
		s.URI = "mongodb://" + strings.Join(set.hosts(), ",") + "/?replicaSet=" + setName
		return err
	case Sharded:
		return s.cluster(ctx, cache, &nodes)
	}
	n, err := s.mongod("mongod", "data", cache)
	if err != nil {
		return err
	}
	nodes = append(nodes, n)
	if err := s.start(ctx, n); err != nil {
		return err
	}
	s.URI = "mongodb://" + n.address + "/"
	return nil
}

// Names of replica sets. Those of shards are s1, s2, …
const (
	setName    = "rs0"
	configName = "cfg"
)

// Gigabytes of cache. A mongod refuses less than a quarter.
const (
	leastCache  = 0.25
	configCache = 0.25
)

// cache is what one mongod with documents may use: as a mongod alone on the machine does by default, shared by all of them. 0
// leaves the default, when it is not known what the machine has.
func (s *Server) cache() float64 {
	nodes := s.c.Topology.dataNodes()
	if s.c.Memory <= 0 {
		if nodes == 1 {
			return 0
		}
		return leastCache
	}
	gigabytes := float64(s.c.Memory) / (1 << 30)
	return max(leastCache, (gigabytes-1)/2/float64(nodes))
}

// oplogMegabytes is enough for a benchmark's last moments; by default it would grow to a part of the disk.
const oplogMegabytes = "1024"

// replicaSet is the members of a set.
type replicaSet []*node

func (r replicaSet) hosts() []string {
	var h []string
	for _, n := range r {
		h = append(h, n.address)
	}
	return h
}

// set starts the members of a replica set, initiates it and waits until it has a primary and the others are secondaries.
func (s *Server) set(ctx context.Context, name, what string, members int, cache float64, all *[]*node, more ...string) (replicaSet, error) {
	var set replicaSet
	for i := range members {
		called, dir := what, name
		if members > 1 {
			called, dir = fmt.Sprintf("%s, member %d", what, i+1), fmt.Sprintf("%s-%d", name, i+1)
		}
		n, err := s.mongod(called, dir, cache, append([]string{"--replSet", name}, more...)...)
		if err != nil {
			return nil, err
		}
		set = append(set, n)
	}
	s.mu.Lock()
	*all = append(*all, set...)
	s.mu.Unlock()
	p := pool.New().WithContext(ctx).WithCancelOnError().WithFirstError()
	for _, n := range set {
		p.Go(func(ctx context.Context) error { return s.start(ctx, n) })
	}
	if err := p.Wait(); err != nil {
		return nil, err
	}
	config := bson.D{{Key: "_id", Value: name}}
	if name == configName {
		config = append(config, bson.E{Key: "configsvr", Value: true})
	}
	list := bson.A{}
	for i, n := range set {
		list = append(list, bson.D{{Key: "_id", Value: int32(i)}, {Key: "host", Value: n.address}})
	}
	config = append(config, bson.E{Key: "members", Value: list})
	err := s.until(ctx, set[0], "the replica set could not be initiated", func(ctx context.Context) error {
		_, err := set[0].run(ctx, bson.D{{Key: "replSetInitiate", Value: config}})
		ce, refused := errors.AsType[mongo.CommandError](err)
		switch {
		case refused && ce.Code == codeAlreadyInitialized: // the answer to an earlier attempt was lost
			return nil
		case refused && ce.Code == codeInvalidConfig:
			return &finalError{err}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return set, s.until(ctx, set[0], "the replica set was not ready", func(ctx context.Context) error { return set.ready(ctx) })
}

const (
	codeAlreadyInitialized = 23
	codeInvalidConfig      = 93
)

// ready says what the set waits for.
func (r replicaSet) ready(ctx context.Context) error {
	primaries := 0
	for _, n := range r {
		var hello struct {
			Primary   bool `bson:"ismaster"`
			Secondary bool
		}
		// isMaster is known to all versions under this name.
		if err := n.client.Database("admin").RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Decode(&hello); err != nil {
			return err
		}
		switch {
		case hello.Primary:
			primaries++
		case !hello.Secondary:
			return fmt.Errorf("%s is neither primary nor secondary yet", n.address)
		}
	}
	if primaries != 1 {
		return errors.New("no primary has been elected yet")
	}
	return nil
}

// cluster starts config server and shards at once, then the mongos, and adds the shards.
func (s *Server) cluster(ctx context.Context, cache float64, all *[]*node) error {
	shards := make([]replicaSet, s.c.Topology.N)
	var router *node
	p := pool.New().WithContext(ctx).WithCancelOnError().WithFirstError()
	p.Go(func(ctx context.Context) error {
		config, err := s.set(ctx, configName, "mongod of the config server", 1, configCache, all, "--configsvr")
		if err != nil {
			return err
		}
		where := configName + "/" + config[0].address
		n := &node{name: "mongos", bin: s.mongosBin.path, mark: where, args: []string{"--configdb", where}}
		s.mu.Lock()
		*all = append(*all, n)
		s.mu.Unlock()
		router = n
		return s.start(ctx, n)
	})
	for i := range shards {
		p.Go(func(ctx context.Context) (err error) {
			name := fmt.Sprintf("s%d", i+1)
			shards[i], err = s.set(ctx, name, "mongod of shard "+name, 1, cache, all, "--shardsvr", "--oplogSize", oplogMegabytes)
			return err
		})
	}
	if err := p.Wait(); err != nil {
		return err
	}
	for i, shard := range shards {
		name := fmt.Sprintf("s%d", i+1)
		err := s.until(ctx, router, "shard "+name+" could not be added", func(ctx context.Context) error {
			// A shard that is there already, because an answer was lost, is added again without an error.
			_, err := router.run(ctx, bson.D{{Key: "addShard", Value: name + "/" + shard[0].address}, {Key: "name", Value: name}})
			return err
		})
		if err != nil {
			return err
		}
	}
	s.URI = "mongodb://" + router.address + "/"
	return nil
}
