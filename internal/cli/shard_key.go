package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/cluster"
	"mrbench/seed"
)

// shardOptions are the flags of seed that concern a sharded cluster.
type shardOptions struct {
	shardKey     bson.D // nil: the collection is not sharded
	presplit     int    // 0: two chunks a shard
	stopBalancer bool

	indexMoot string // what was asked for of the index, when it is the shard key's and has to be there from the start
}

func (o *shardOptions) flags(c *cobra.Command) {
	c.Flags().Var(&value[bson.D]{&o.shardKey, "key", parseShardKey, shardKeyText}, "shard-key",
		"shard the new collection by this field on a sharded cluster: dim0, dim0:hashed, or dim0,_id")
	intFlag(c, &o.presplit, "presplit", 0, 1, 10_000, "chunks to cut the sharded collection into before it is loaded, evenly over the shards (default two a shard)")
	stopBalancerFlag(c, &o.stopBalancer)
}

func stopBalancerFlag(c *cobra.Command, p *bool) {
	c.Flags().BoolVar(p, "stop-balancer", false, "stop the cluster's balancer while this command works; it is started again afterwards if it was on")
}

// parseShardKey accepts fields by commas, or one that is hashed.
func parseShardKey(s string) (bson.D, error) {
	var key bson.D
	for part := range strings.SplitSeq(s, ",") {
		name, kind, has := strings.Cut(part, ":")
		field, err := parseKey(name)
		switch {
		case err != nil:
			return nil, err
		case has && kind != "hashed":
			return nil, fmt.Errorf("%s: only :hashed can follow a field", part)
		case slices.ContainsFunc(key, func(e bson.E) bool { return e.Key == field }):
			return nil, fmt.Errorf("%q is listed twice", field)
		}
		e := bson.E{Key: field, Value: int32(1)}
		if has {
			e.Value = "hashed"
		}
		key = append(key, e)
	}
	if len(key) > 1 && hashedKey(key) {
		return nil, errors.New("a hashed field stands alone, as in dim0:hashed")
	}
	return key, nil
}

func hashedKey(key bson.D) bool { return key[0].Value == "hashed" }

func shardKeyText(key bson.D) string {
	parts := make([]string, len(key))
	for i, e := range key {
		if parts[i] = e.Key; e.Value == "hashed" {
			parts[i] += ":hashed"
		}
	}
	return strings.Join(parts, ",")
}

// checkSharding finds what does not go together with sharding. The index on the field is the shard key's when they are the same.
func (o *seedOptions) checkSharding(field string, set func(...string) string) error {
	if n := set("emit", "count-only", "plan"); n != "" && o.stopBalancer {
		return usageError("--%s loads nothing: --stop-balancer has no part in it", n)
	}
	if o.shardKey == nil {
		if o.presplit > 0 {
			return usageError("--presplit cuts a collection that is sharded by --shard-key: name the key")
		}
		return nil
	}
	if n := set("append", "resume"); n != "" {
		return usageError("--shard-key shards a collection that seed creates: --%s adds to one that is there; leave one of them out", n)
	}
	if n := set("emit", "count-only", "plan"); n != "" {
		return usageError("--%s loads nothing: --shard-key has no part in it", n)
	}
	if cluster.SameKey(o.shardKey, bson.D{{Key: field, Value: int32(1)}}) {
		if n := o.index; n != string(seed.IndexBefore) && set("index") != "" {
			o.indexMoot = n
		}
		o.index = string(seed.IndexBefore)
	}
	return nil
}
