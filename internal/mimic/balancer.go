package mimic

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/mongofake"
)

// startsBalancing puts down the balancer's state that the configuration asks for.
func (s *Server) startsBalancing(ctx context.Context) error {
	mode := s.c.Balancer
	if mode == "" {
		mode = "off"
	}
	return s.setBalancer(ctx, mode)
}

func (s *Server) setBalancer(ctx context.Context, mode string) error {
	_, err := s.config("settings").UpdateOne(ctx, bson.D{{Key: "_id", Value: "balancer"}}, bson.D{{Key: "$set", Value: bson.D{
		{Key: "mode", Value: mode}, {Key: "stopped", Value: mode == "off"},
	}}}, options.Update().SetUpsert(true))
	return err
}

// balancer answers the commands about it; its state is kept in config.settings, as on a cluster.
func (s *Server) balancer(ctx context.Context, command string) (bson.D, error) {
	switch command {
	case "balancerStart":
		return bson.D{{Key: "ok", Value: 1.0}}, s.setBalancer(ctx, "full")
	case "balancerStop":
		return bson.D{{Key: "ok", Value: 1.0}}, s.setBalancer(ctx, "off")
	}
	var doc struct{ Mode string }
	err := s.config("settings").FindOne(ctx, bson.D{{Key: "_id", Value: "balancer"}}).Decode(&doc)
	return bson.D{{Key: "mode", Value: doc.Mode}, {Key: "inBalancerRound", Value: false}, {Key: "numBalancerRounds", Value: int64(1)}, {Key: "ok", Value: 1.0}}, err
}

// Orphans leaves documents of a sharded collection on a shard that no longer owns them: counts from metadata have them, reads have not.
func (s *Server) Orphans(ns, shard string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.orphans == nil {
		s.orphans = map[string]int64{}
	}
	s.orphans[ns+"/"+shard] = n
}

func (s *Server) orphansOf(ns, shard string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orphans[ns+"/"+shard]
}

// collStats are a sharded collection's, summed up and of each shard; nil for others.
func (s *Server) collStats(ctx context.Context, c mongofake.Command) (bson.D, error) {
	coll, err := s.sharded(ctx, namespace(c))
	if err != nil || coll == nil {
		return nil, err
	}
	db, name := splitNS(coll.NS)
	var whole struct {
		Size, Storage, Indexes int64
		Count                  int64
		IndexSizes             bson.D `bson:"indexSizes"`
	}
	if err := s.inside.Database(db).RunCommand(ctx, bson.D{{Key: "collStats", Value: name}}).Decode(&whole); err != nil {
		return nil, err
	}
	counts, err := s.perShard(ctx, coll, bson.RawValue{})
	if err != nil {
		return nil, err
	}
	average := int32(0)
	if whole.Count > 0 {
		average = int32(whole.Size / whole.Count)
	}
	sizes := bson.D{}
	for _, e := range whole.IndexSizes {
		sizes = append(sizes, bson.E{Key: e.Key, Value: int32(4096)})
	}
	indexes := int32(len(sizes))
	shards, total := bson.D{}, int32(0)
	for _, n := range counts {
		held := int32(n.n + s.orphansOf(coll.NS, n.shard))
		total += held
		shards = append(shards, bson.E{Key: n.shard, Value: bson.D{
			{Key: "ns", Value: coll.NS}, {Key: "size", Value: held * average}, {Key: "count", Value: held}, {Key: "avgObjSize", Value: average},
			{Key: "storageSize", Value: int32(4096)}, {Key: "capped", Value: false}, {Key: "nindexes", Value: indexes},
			{Key: "totalIndexSize", Value: 4096 * indexes}, {Key: "indexSizes", Value: sizes}, {Key: "ok", Value: 1.0},
		}})
	}
	chunks, err := s.config("chunks").CountDocuments(ctx, s.owner(coll))
	return bson.D{
		{Key: "sharded", Value: true}, {Key: "capped", Value: false}, {Key: "ns", Value: coll.NS}, {Key: "count", Value: total},
		{Key: "size", Value: total * average}, {Key: "storageSize", Value: int32(8192)}, {Key: "totalIndexSize", Value: 8192 * indexes},
		{Key: "indexSizes", Value: sizes}, {Key: "avgObjSize", Value: float64(average)}, {Key: "maxSize", Value: int64(0)},
		{Key: "nindexes", Value: indexes}, {Key: "nchunks", Value: int32(chunks)}, {Key: "shards", Value: shards}, {Key: "ok", Value: 1.0},
	}, err
}
