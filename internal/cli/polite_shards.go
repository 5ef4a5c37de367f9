package cli

import (
	"context"

	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/cluster"
	"mrbench/internal/polite"
	"mrbench/internal/target"
)

// shardsToWatch are the shards behind a router whose load limits are about.
func shardsToWatch(ctx context.Context, t *target.Target, l polite.Limits) (list []polite.Shard, err error) {
	if t.Topology != "sharded" || !l.Watches() || l.RouterOnly {
		return nil, nil
	}
	found, err := cluster.Shards(ctx, t.Client)
	for _, s := range found {
		list = append(list, polite.Shard{Name: s.Name, Host: s.Host})
	}
	return list, err
}

// dialShard connects to one of them, past the router.
func dialShard(t *target.Target) func(context.Context, polite.Shard, bool) (*mongo.Client, error) {
	return func(ctx context.Context, s polite.Shard, login bool) (*mongo.Client, error) {
		return t.Shard(ctx, s.Host, login)
	}
}

// planShards adds to a dry run what shards would be asked, which it does not connect to.
func planShards(d *dryRun, shards []polite.Shard, l polite.Limits) {
	if len(shards) == 0 {
		return
	}
	d.line("// $currentOp is left out when every shard tells the length of its queue itself")
	d.line("// and as often to each shard, by a connection of its own with the same login, which is not opened now:")
	for _, s := range shards {
		d.line("//   %s at %s", s.Name, s.Host)
	}
	for _, cmd := range l.Commands(false, true) {
		d.command("admin", cmd, false, "")
	}
}
