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
)

// Collection is what config says of a sharded collection.
type Collection struct {
	NS        string
	Key       bson.D  // {dim0: 1}, {dim0: "hashed"}
	Hashed    bool    // one of the key's fields is hashed: chunks are no ranges of its values
	NoBalance bool    // the balancer is told to leave it alone
	Chunks    []Chunk // ascending; they cover the key from MinKey to MaxKey
}

// Chunk is a range [Min, Max) of the shard key.
type Chunk struct {
	Min   bson.Raw `bson:"min"`
	Max   bson.Raw `bson:"max"`
	Shard string   `bson:"shard"`
	Jumbo bool     `bson:"jumbo"` // too large to be moved
}

// PerShard counts the chunks of each shard that has some.
func (c *Collection) PerShard() map[string]int {
	m := map[string]int{}
	for _, x := range c.Chunks {
		m[x.Shard]++
	}
	return m
}

// wire50 is the wire version of 5.0, which finds chunks by the collection's UUID.
const wire50 = 13

// Of reads what config says of a collection; nil when it is not sharded. A user who may not read the database config gets an error
// for which Refused holds.
func Of(ctx context.Context, client *mongo.Client, ns string) (*Collection, error) {
	list, err := mustFind[struct {
		Key          bson.D           `bson:"key"`
		UUID         primitive.Binary `bson:"uuid"`
		Dropped      bool             `bson:"dropped"`
		Unsplittable bool             `bson:"unsplittable"` // since 8.0 collections that are not sharded can be known too
		NoBalance    bool             `bson:"noBalance"`
	}](ctx, client, "collections", bson.D{{Key: "_id", Value: ns}})
	if err != nil || len(list) == 0 || list[0].Dropped || list[0].Unsplittable || len(list[0].Key) == 0 {
		return nil, err
	}
	about := list[0]
	c := &Collection{NS: ns, Key: about.Key, Hashed: hashed(about.Key), NoBalance: about.NoBalance}
	byName, byUUID := bson.D{{Key: "ns", Value: ns}}, bson.D{{Key: "uuid", Value: about.UUID}}
	filters := []bson.D{byName}
	if hello, err := client.Database("admin").RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Raw(); err != nil {
		return nil, fmt.Errorf("isMaster: %w", err)
	} else if wire, _ := hello.Lookup("maxWireVersion").AsInt64OK(); wire >= wire50 {
		filters = []bson.D{byUUID, byName} // by name until the feature compatibility version is raised
	}
	for _, filter := range filters {
		c.Chunks, err = mustFind[Chunk](ctx, client, "chunks", filter, options.Find().SetSort(bson.D{{Key: "min", Value: 1}}).
			SetProjection(bson.D{{Key: "min", Value: 1}, {Key: "max", Value: 1}, {Key: "shard", Value: 1}, {Key: "jumbo", Value: 1}}))
		if err != nil || len(c.Chunks) > 0 {
			break
		}
	}
	return c, err
}

func hashed(key bson.D) bool {
	return slices.ContainsFunc(key, func(e bson.E) bool { return e.Value == "hashed" })
}

// Refused reports whether err is a server's refusal for want of rights.
func Refused(err error) bool {
	e, is := commandError(err)
	return is && e.Code == codeUnauthorized
}

// KeyText is a shard key for a sentence, as in {dim0: 1}.
func KeyText(key bson.D) string {
	parts := make([]string, len(key))
	for i, e := range key {
		parts[i] = fmt.Sprintf("%s: %v", e.Key, e.Value)
		if text, ok := e.Value.(string); ok {
			parts[i] = fmt.Sprintf("%s: %q", e.Key, text)
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// SameKey reports whether two shard keys are the same: numbers are 1 of whatever type.
func SameKey(a, b bson.D) bool { return KeyText(a) == KeyText(b) }

// Documents is the quick count of each shard's documents, from metadata. Like every quick count through a mongos it counts
// orphans, documents that a migration left behind.
func Documents(ctx context.Context, coll *mongo.Collection) (map[string]int64, error) {
	db := coll.Database()
	counted, err := db.RunCommand(ctx, bson.D{{Key: "count", Value: coll.Name()}}).Raw()
	if err != nil {
		return nil, fmt.Errorf("count %s.%s: %w", db.Name(), coll.Name(), err)
	}
	perShard := map[string]int64{}
	if shards, ok := counted.Lookup("shards").DocumentOK(); ok {
		return perShard, each(shards, func(name string, v bson.RawValue) { perShard[name], _ = v.AsInt64OK() })
	}
	stats, err := db.RunCommand(ctx, bson.D{{Key: "collStats", Value: coll.Name()}}).Raw()
	if err != nil {
		return nil, fmt.Errorf("collStats %s.%s: %w", db.Name(), coll.Name(), err)
	}
	shards, _ := stats.Lookup("shards").DocumentOK()
	return perShard, each(shards, func(name string, v bson.RawValue) {
		if d, ok := v.DocumentOK(); ok {
			perShard[name], _ = d.Lookup("count").AsInt64OK()
		}
	})
}

func each(d bson.Raw, do func(string, bson.RawValue)) error {
	if d == nil {
		return nil
	}
	list, err := d.Elements()
	for _, e := range list {
		do(e.Key(), e.Value())
	}
	return err
}
