package mimic

import (
	"context"
	"net"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// shardHost is where a shard says that it is; one that does not listen by itself is at the router.
func (s *Server) shardHost(name string) string {
	if x := s.shards[name]; x != nil {
		return name + "/" + x.address
	}
	return name + "/" + s.address
}

// startShard has the only member of a shard's replica set listen, until ctx ends. It has the documents of the whole cluster.
func (s *Server) startShard(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	x := &Server{c: s.c, major: s.major, minor: s.minor, engine: s.engine, inside: s.inside, member: name, cancel: cancel}
	x.c.Topology, x.c.Own = ReplicaSet, nil
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return err
	}
	x.address = listener.Addr().String()
	s.work.Go(func() { x.accept(ctx, listener) })
	if s.shards == nil {
		s.shards = map[string]*Server{}
	}
	s.shards[name] = x
	return nil
}

// Shard is the member of a shard, to be asked past the router.
func (s *Server) Shard(name string) *Server { return s.shards[name] }

// Connections are how many are open to it.
func (s *Server) Connections() int { return int(s.open.Load()) }

// Down has a shard answer nobody any more.
func (s *Server) Down() { s.cancel() }

// strange reports whether this is a shard that does not know the users of its cluster.
func (s *Server) strange() bool { return s.member != "" && s.c.Auth && !s.c.ShardUsers }

// unknownUser refuses the login of a user who is not known; nil: it does not.
func (s *Server) unknownUser(c mongofake.Command) bson.D {
	if !s.strange() {
		return nil
	}
	switch c.Name {
	case "saslStart", "saslContinue":
		return refuse(18, "Authentication failed.")
	case "replSetGetStatus", "replSetGetConfig": // which the engine is not asked for
		return refuse(13, "command "+c.Name+" requires authentication")
	}
	return nil
}
