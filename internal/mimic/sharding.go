package mimic

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/mongofake"
)

var shardNames = []string{"s1", "s2"} //nolint:gochecknoglobals // a constant

func (s *Server) config(coll string) *mongo.Collection {
	return s.inside.Database("config").Collection(coll)
}

func (s *Server) makeShards(ctx context.Context) error {
	if err := s.startsBalancing(ctx); err != nil {
		return err
	}
	if s.c.NoShards {
		return nil
	}
	for _, name := range shardNames {
		if err := s.startShard(ctx, name); err != nil {
			return err
		}
		_, err := s.config("shards").InsertOne(ctx, bson.D{{Key: "_id", Value: name}, {Key: "host", Value: s.shardHost(name)}, {Key: "state", Value: int32(1)}})
		if err != nil {
			return err
		}
	}
	return nil
}

// shardedColl is a document of config.collections.
type shardedColl struct {
	NS   string           `bson:"_id"`
	Key  bson.D           `bson:"key"`
	UUID primitive.Binary `bson:"uuid"`
}

// sharded finds what config says of a collection; nil when it is not sharded.
func (s *Server) sharded(ctx context.Context, ns string) (*shardedColl, error) {
	var c shardedColl
	err := s.config("collections").FindOne(ctx, bson.D{{Key: "_id", Value: ns}, {Key: "dropped", Value: bson.D{{Key: "$ne", Value: true}}}}).Decode(&c)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return &c, err
}

// owner is the filter and the fields by which chunks name their collection: ns before 5.0, uuid since.
func (s *Server) owner(c *shardedColl) bson.D {
	if s.atLeast(5, 0) {
		return bson.D{{Key: "uuid", Value: c.UUID}}
	}
	return bson.D{{Key: "ns", Value: c.NS}}
}

// router answers the commands of a cluster's administration.
func (s *Server) router(ctx context.Context, c mongofake.Command) (bson.D, error) {
	ok := bson.D{{Key: "ok", Value: 1.0}}
	switch c.Name {
	case "listShards":
		var docs bson.A
		cur, err := s.config("shards").Find(ctx, bson.D{})
		if err == nil {
			err = cur.All(ctx, &docs)
		}
		return bson.D{{Key: "shards", Value: docs}, {Key: "ok", Value: 1.0}}, err
	case "balancerStatus", "balancerStart", "balancerStop":
		return s.balancer(ctx, c.Name)
	case "getParameter":
		if c.Body.Lookup("featureCompatibilityVersion").Type != 0 {
			return bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "no option found to get"}}, nil
		}
	case "enableSharding":
		name, _ := c.Body.Lookup(c.Name).StringValueOK()
		_, err := s.config("databases").UpdateOne(ctx, bson.D{{Key: "_id", Value: name}}, bson.D{{Key: "$set", Value: bson.D{
			{Key: "primary", Value: "s1"},
			{Key: "partitioned", Value: true},
			{Key: "version", Value: bson.D{{Key: "uuid", Value: newUUID()}, {Key: "lastMod", Value: int32(1)}}},
		}}}, options.Update().SetUpsert(true))
		return ok, err
	case "shardCollection":
		return s.shardCommand(ctx, c)
	case "split":
		return s.split(ctx, c)
	case "moveChunk":
		return s.move(ctx, c)
	case "collStats":
		return s.collStats(ctx, c)
	case "insert", "update":
		return s.shardWrite(ctx, c)
	}
	return nil, nil
}

func (s *Server) shardCommand(ctx context.Context, c mongofake.Command) (bson.D, error) {
	ns, _ := c.Body.Lookup(c.Name).StringValueOK()
	var key bson.D
	if err := bson.Unmarshal(c.Body.Lookup("key").Document(), &key); err != nil {
		return nil, err
	}
	if own, err := s.refuseSharding(ctx, c, ns, key); own != nil || err != nil {
		return own, err
	}
	initial, _ := c.Body.Lookup("numInitialChunks").AsInt64OK()
	if err := s.shard(ctx, ns, key, initial); err != nil {
		return nil, err
	}
	made, err := s.sharded(ctx, ns)
	if err != nil || made == nil {
		return nil, fmt.Errorf("%s: %w", ns, err)
	}
	return bson.D{{Key: "collectionsharded", Value: ns}, {Key: "collectionUUID", Value: made.UUID}, {Key: "ok", Value: 1.0}}, nil
}

// shard makes a collection sharded, in one chunk, or for a hashed key in as many as asked for.
func (s *Server) shard(ctx context.Context, ns string, key bson.D, chunks int64) error {
	db, name := splitNS(ns)
	index := mongo.IndexModel{Keys: key}
	hashed := key[0].Value == "hashed"
	if hashed && chunks == 0 {
		chunks = int64(2 * len(shardNames))
	}
	if hashed {
		index.Keys = bson.D{{Key: key[0].Key, Value: int32(1)}} // the engine has no hashed index
	}
	if key[0].Key != "_id" {
		if _, err := s.inside.Database(db).Collection(name).Indexes().CreateOne(ctx, index); err != nil {
			return err
		}
	}
	specs, err := s.inside.Database(db).ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: name}})
	if err != nil {
		return err
	}
	id := newUUID()
	if len(specs) > 0 && specs[0].UUID != nil {
		id = *specs[0].UUID
	}
	doc := bson.D{{Key: "_id", Value: ns}, {Key: "lastmodEpoch", Value: primitive.NewObjectID()}, {Key: "lastmod", Value: primitive.DateTime(1 << 32)}}
	if s.atLeast(5, 0) {
		doc = append(doc, bson.E{Key: "timestamp", Value: primitive.Timestamp{T: uint32(time.Now().Unix()), I: 1}})
	} else {
		doc = append(doc, bson.E{Key: "dropped", Value: false})
	}
	doc = append(doc, bson.E{Key: "key", Value: key}, bson.E{Key: "unique", Value: false}, bson.E{Key: "uuid", Value: id})
	if _, err := s.config("collections").InsertOne(ctx, doc); err != nil {
		return err
	}
	bounds := []any{primitive.MinKey{}}
	if hashed {
		for i := int64(1); i < chunks; i++ {
			bounds = append(bounds, int64(-1<<63)+i*int64(uint64(1<<63)/uint64(chunks))*2)
		}
	}
	bounds = append(bounds, primitive.MaxKey{})
	c := &shardedColl{NS: ns, Key: key, UUID: id}
	for i := range len(bounds) - 1 {
		if err := s.insertChunk(ctx, c, all(key, bounds[i]), all(key, bounds[i+1]), shardNames[i*len(shardNames)/(len(bounds)-1)]); err != nil {
			return err
		}
	}
	return nil
}

// all is the shard key with one value in every field.
func all(key bson.D, v any) bson.D {
	d := bson.D{}
	for _, e := range key {
		d = append(d, bson.E{Key: e.Key, Value: v})
	}
	return d
}

func (s *Server) insertChunk(ctx context.Context, c *shardedColl, lo, hi bson.D, shard string) error {
	now := primitive.Timestamp{T: uint32(time.Now().Unix()), I: 1}
	id := c.NS + "-"
	for _, e := range lo {
		id += fmt.Sprintf("%s_%v", e.Key, e.Value)
	}
	doc := bson.D{{Key: "_id", Value: id}}
	if s.atLeast(5, 0) {
		doc[0].Value = primitive.NewObjectID()
	}
	doc = append(append(doc, s.owner(c)...),
		bson.E{Key: "min", Value: lo}, bson.E{Key: "max", Value: hi}, bson.E{Key: "shard", Value: shard},
		bson.E{Key: "lastmod", Value: primitive.Timestamp{T: 1, I: 0}}, bson.E{Key: "lastmodEpoch", Value: primitive.NewObjectID()},
		bson.E{Key: "history", Value: bson.A{bson.D{{Key: "validAfter", Value: now}, {Key: "shard", Value: shard}}}})
	if s.atLeast(5, 0) {
		doc = without(doc, "lastmodEpoch")
	}
	_, err := s.config("chunks").InsertOne(ctx, doc)
	return err
}

type chunk struct {
	ID       any    `bson:"_id"`
	Min, Max bson.D `bson:",omitempty"`
	Shard    string
}

// chunkOf finds the chunk that a key is in.
func (s *Server) chunkOf(ctx context.Context, c *shardedColl, key bson.RawValue) (*chunk, error) {
	filter := append(s.owner(c), bson.E{Key: "min", Value: bson.D{{Key: "$lte", Value: key}}}, bson.E{Key: "max", Value: bson.D{{Key: "$gt", Value: key}}})
	var x chunk
	err := s.config("chunks").FindOne(ctx, filter).Decode(&x)
	return &x, err
}

func (s *Server) split(ctx context.Context, c mongofake.Command) (bson.D, error) {
	ns, _ := c.Body.Lookup(c.Name).StringValueOK()
	coll, err := s.sharded(ctx, ns)
	if err != nil || coll == nil {
		return refuse(118, ns+" is not sharded"), err
	}
	var at bson.D
	if err := c.Body.Lookup("middle").Unmarshal(&at); err != nil {
		return nil, err
	}
	x, err := s.chunkOf(ctx, coll, c.Body.Lookup("middle"))
	if err != nil {
		return nil, err
	}
	if fmt.Sprint(x.Min) == fmt.Sprint(at) {
		return bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: fmt.Sprintf("new split key %v is a boundary key of existing chunk", at)}}, nil
	}
	if _, err := s.config("chunks").UpdateOne(ctx, bson.D{{Key: "_id", Value: x.ID}}, bson.D{{Key: "$set", Value: bson.D{{Key: "max", Value: at}}}}); err != nil {
		return nil, err
	}
	return bson.D{{Key: "ok", Value: 1.0}}, s.insertChunk(ctx, coll, at, x.Max, x.Shard)
}

func (s *Server) move(ctx context.Context, c mongofake.Command) (bson.D, error) {
	ns, _ := c.Body.Lookup(c.Name).StringValueOK()
	coll, err := s.sharded(ctx, ns)
	if err != nil || coll == nil {
		return refuse(118, ns+" is not sharded"), err
	}
	x, own, err := s.movedChunk(ctx, coll, c)
	if own != nil || err != nil {
		return own, err
	}
	to, _ := c.Body.Lookup("to").StringValueOK()
	if !slices.Contains(shardNames, to) {
		return refuse(70, "Could not move chunk in '"+ns+"' to shard '"+to+"' because that shard does not exist"), nil
	}
	_, err = s.config("chunks").UpdateOne(ctx, bson.D{{Key: "_id", Value: x.ID}}, bson.D{{Key: "$set", Value: bson.D{{Key: "shard", Value: to}}}})
	return bson.D{{Key: "millis", Value: int32(1)}, {Key: "ok", Value: 1.0}}, err
}

type shardCount struct {
	shard string
	n     int64
}

// perShard counts the documents that match query in the chunks of each shard. The bounds are compared in BSON's order.
func (s *Server) perShard(ctx context.Context, c *shardedColl, query bson.RawValue) ([]shardCount, error) {
	var chunks []chunk
	cur, err := s.config("chunks").Find(ctx, s.owner(c))
	if err == nil {
		err = cur.All(ctx, &chunks)
	}
	if err != nil {
		return nil, err
	}
	if c.Key[0].Value == "hashed" {
		return s.perHash(ctx, c, chunks, query)
	}
	counts := make([]shardCount, len(shardNames))
	db, name := splitNS(c.NS)
	field := "$" + c.Key[0].Key
	for i, shard := range shardNames {
		counts[i].shard = shard
		var in bson.A
		for _, x := range chunks {
			if x.Shard == shard {
				in = append(in, bson.D{{Key: "$and", Value: bson.A{
					bson.D{{Key: "$gte", Value: bson.A{field, bson.D{{Key: "$literal", Value: x.Min[0].Value}}}}},
					bson.D{{Key: "$lt", Value: bson.A{field, bson.D{{Key: "$literal", Value: x.Max[0].Value}}}}},
				}}})
			}
		}
		if in == nil {
			continue
		}
		parts := bson.A{bson.D{{Key: "$expr", Value: bson.D{{Key: "$or", Value: in}}}}}
		if q, ok := query.DocumentOK(); ok {
			parts = append(parts, q)
		}
		if counts[i].n, err = s.inside.Database(db).Collection(name).CountDocuments(ctx, bson.D{{Key: "$and", Value: parts}}); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// perHash is perShard of a hashed key. The hash is another than a server's, which spreads as well.
func (s *Server) perHash(ctx context.Context, c *shardedColl, chunks []chunk, query bson.RawValue) ([]shardCount, error) {
	counts := make([]shardCount, len(shardNames))
	for i, shard := range shardNames {
		counts[i].shard = shard
	}
	filter := bson.Raw{5, 0, 0, 0, 0}
	if q, ok := query.DocumentOK(); ok {
		filter = q
	}
	db, name := splitNS(c.NS)
	cur, err := s.inside.Database(db).Collection(name).Find(ctx, filter)
	if err != nil {
		return nil, err
	}
	defer cur.Close(ctx)
	for cur.Next(ctx) {
		h := fnv.New64a()
		_, _ = h.Write(cur.Current.Lookup(strings.Split(c.Key[0].Key, ".")...).Value)
		hash := int64(h.Sum64() * 0x9e3779b97f4a7c15) // its high bits are poor for short values
		for _, x := range chunks {
			lo, hasLo := x.Min[0].Value.(int64)
			hi, hasHi := x.Max[0].Value.(int64)
			if (!hasLo || hash >= lo) && (!hasHi || hash < hi) {
				counts[slices.Index(shardNames, x.Shard)].n++
			}
		}
	}
	return counts, cur.Err()
}

// splitVector refuses as the configuration or the topology says.
func (s *Server) splitVector(ctx context.Context, c mongofake.Command) (bson.D, error) {
	switch s.c.SplitVector {
	case 0:
	case 13:
		return refuse(13, "not authorized on "+c.DB+" to execute command { splitVector: ... }"), nil
	case 20:
		return refuse(20, "can't do command: splitVector on sharded collection"), nil
	default:
		return refuse(s.c.SplitVector, "no such command: 'splitVector'"), nil
	}
	if s.c.Topology != Mongos {
		return nil, nil
	}
	ns, _ := c.Body.Lookup(c.Name).StringValueOK()
	if db, _ := splitNS(ns); db != c.DB {
		return refuse(20, "Performing splitVector across dbs isn't supported via mongos"), nil
	}
	coll, err := s.sharded(ctx, ns)
	if coll != nil {
		return refuse(20, "can't do command: splitVector on sharded collection"), err
	}
	return nil, err
}

// routerReply makes the engine's reply a router's.
func (s *Server) routerReply(ctx context.Context, c mongofake.Command, d bson.D) (bson.D, error) {
	if !succeeded(d) {
		return d, nil
	}
	switch c.Name {
	case "createIndexes":
		raw := bson.D{}
		for _, name := range []string{"createdCollectionAutomatically", "numIndexesBefore", "numIndexesAfter"} {
			if v := value(d, name); v != nil {
				raw = append(raw, bson.E{Key: name, Value: v})
			}
		}
		return bson.D{{Key: "raw", Value: bson.D{{Key: s.shardHost("s1"), Value: append(raw, bson.E{Key: "ok", Value: 1.0})}}}, {Key: "ok", Value: 1.0}}, nil
	case "count":
		coll, err := s.sharded(ctx, namespace(c))
		if err != nil || coll == nil {
			return d, err
		}
		counts, err := s.perShard(ctx, coll, c.Body.Lookup("query"))
		shards, total := bson.D{}, int32(0)
		for _, n := range counts {
			if q, ok := c.Body.Lookup("query").DocumentOK(); !ok || len(q) == 5 { // unfiltered: from metadata
				n.n += s.orphansOf(coll.NS, n.shard)
			}
			shards = append(shards, bson.E{Key: n.shard, Value: int32(n.n)})
			total += int32(n.n)
		}
		return append(bson.D{{Key: "shards", Value: shards}}, replace(d, "n", total)...), err
	case "drop":
		return d, s.forget(ctx, bson.D{{Key: "_id", Value: namespace(c)}})
	case "dropDatabase":
		return d, s.forget(ctx, bson.D{{Key: "_id", Value: primitive.Regex{Pattern: "^" + c.DB + `\.`}}})
	}
	return d, nil
}

// forget takes dropped collections out of config.
func (s *Server) forget(ctx context.Context, filter bson.D) error {
	cur, err := s.config("collections").Find(ctx, filter)
	if err != nil {
		return err
	}
	var gone []shardedColl
	if err := cur.All(ctx, &gone); err != nil {
		return err
	}
	for _, c := range gone {
		if _, err := s.config("chunks").DeleteMany(ctx, s.owner(&c)); err != nil {
			return err
		}
		if _, err := s.config("collections").DeleteOne(ctx, bson.D{{Key: "_id", Value: c.NS}}); err != nil {
			return err
		}
	}
	return nil
}

func newUUID() primitive.Binary {
	id := primitive.NewObjectID()
	return primitive.Binary{Subtype: 4, Data: append(id[:], 0, 0, 0, 1)}
}
