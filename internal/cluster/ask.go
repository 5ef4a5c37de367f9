package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readpref"
)

// Cluster is what there is behind a mongos.
type Cluster struct {
	Shards     []Shard     `json:"shards"` // by name; empty when the user may not see them
	Balancer   Balancer    `json:"balancer"`
	Migrations []Migration `json:"migrations,omitempty"` // that run, as far as the user may see them
}

// Shard is a replica set that holds a part of the data.
type Shard struct {
	Name     string `bson:"_id" json:"name"`
	Host     string `bson:"host" json:"host"` // "s1/host:port,host:port"
	Draining bool   `bson:"draining" json:"draining,omitempty"`
}

// Migration is a chunk on its way. From and To are "" where that is not known.
type Migration struct {
	NS   string `bson:"ns" json:"ns"`
	From string `bson:"fromShard" json:"from,omitempty"`
	To   string `bson:"toShard" json:"to,omitempty"`
}

func (m Migration) String() string {
	if m.From == "" || m.To == "" {
		return m.NS
	}
	return m.NS + " from " + m.From + " to " + m.To
}

// Names are the shards' names.
func (c *Cluster) Names() []string {
	names := make([]string, len(c.Shards))
	for i, s := range c.Shards {
		names[i] = s.Name
	}
	return names
}

// Ask finds out what the cluster is made of; nil when the server is no mongos. Only a server that can't be talked to is an error.
func Ask(ctx context.Context, client *mongo.Client) (*Cluster, error) {
	if is, err := isMongos(ctx, client); err != nil || !is {
		return nil, err
	}
	c, err := &Cluster{}, error(nil)
	if c.Shards, err = Shards(ctx, client); err != nil {
		return nil, err
	}
	if c.Balancer, err = askBalancer(ctx, client); err != nil {
		return nil, err
	}
	c.Migrations, err = migrations(ctx, client)
	return c, err
}

func isMongos(ctx context.Context, client *mongo.Client) (bool, error) {
	hello, err := client.Database("admin").RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Raw()
	if err != nil {
		return false, fmt.Errorf("isMaster: %w", err)
	}
	msg, _ := hello.Lookup("msg").StringValueOK()
	return msg == "isdbgrid", nil
}

// config is the database of the cluster's metadata, read where it is newest.
func config(client *mongo.Client, coll string) *mongo.Collection {
	return client.Database("config", options.Database().SetReadPreference(readpref.Primary())).Collection(coll)
}

// refused reports whether a server answered, with a refusal.
func refused(err error) bool {
	_, is := commandError(err)
	return is && !mongo.IsNetworkError(err)
}

// find reads documents of the config database. What the server refuses is empty.
func find[T any](ctx context.Context, client *mongo.Client, coll string, filter bson.D) ([]T, error) {
	list, err := mustFind[T](ctx, client, coll, filter)
	if refused(err) {
		return nil, nil
	}
	return list, err
}

func mustFind[T any](ctx context.Context, client *mongo.Client, coll string, filter bson.D, o ...*options.FindOptions) ([]T, error) {
	var list []T
	cur, err := config(client, coll).Find(ctx, filter, o...)
	if err == nil {
		err = cur.All(ctx, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("find in config.%s: %w", coll, err)
	}
	return list, nil
}

// Shards are those behind a mongos, by name; none when the user may not see them.
func Shards(ctx context.Context, client *mongo.Client) (list []Shard, err error) {
	var reply struct {
		Shards []Shard `bson:"shards"`
	}
	err = client.Database("admin").RunCommand(ctx, bson.D{{Key: "listShards", Value: 1}}).Decode(&reply)
	list = reply.Shards
	if refused(err) {
		list, err = find[Shard](ctx, client, "shards", bson.D{})
	}
	if err != nil {
		return nil, fmt.Errorf("listShards: %w", err)
	}
	slices.SortFunc(list, func(a, b Shard) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// migrations looks in all the places where versions note them: what the balancer has under way, locks of collections before 4.4, and
// operations that run.
func migrations(ctx context.Context, client *mongo.Client) ([]Migration, error) {
	list, err := find[Migration](ctx, client, "migrations", bson.D{})
	if err != nil {
		return nil, err
	}
	locks, err := find[struct {
		NS string `bson:"_id"`
	}](ctx, client, "locks", bson.D{{Key: "state", Value: 2}, {Key: "why", Value: primitive.Regex{Pattern: "migrating", Options: "i"}}})
	if err != nil {
		return nil, err
	}
	ops, err := movingOps(ctx, client)
	if err != nil {
		return nil, err
	}
	for _, m := range ops {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	for _, l := range locks { // which say the collection only
		if !slices.ContainsFunc(list, func(m Migration) bool { return m.NS == l.NS }) {
			list = append(list, Migration{NS: l.NS})
		}
	}
	return list, nil
}

// movingOps are the operations of shards that move a chunk.
func movingOps(ctx context.Context, client *mongo.Client) ([]Migration, error) {
	exists := bson.D{{Key: "$exists", Value: true}}
	names := []string{"moveChunk", "_shardsvrMoveRange"}
	any := bson.A{}
	for _, n := range names {
		any = append(any, bson.D{{Key: "command." + n, Value: exists}})
	}
	cur, err := client.Database("admin").Aggregate(ctx, mongo.Pipeline{
		{{Key: "$currentOp", Value: bson.D{{Key: "allUsers", Value: true}}}},
		{{Key: "$match", Value: bson.D{{Key: "$or", Value: any}}}},
	})
	if err != nil {
		if refused(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("$currentOp: %w", err)
	}
	defer cur.Close(ctx)
	var list []Migration
	for cur.Next(ctx) {
		for _, n := range names {
			ns, ok := cur.Current.Lookup("command", n).StringValueOK()
			if !ok {
				continue
			}
			m := Migration{NS: ns}
			m.From, _ = cur.Current.Lookup("command", "fromShard").StringValueOK()
			m.To, _ = cur.Current.Lookup("command", "toShard").StringValueOK()
			if !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	if err := cur.Err(); err != nil && !refused(err) {
		return nil, fmt.Errorf("$currentOp: %w", err)
	}
	return list, nil
}
