package polite

import (
	"context"
	"sync"
)

// Shard is a shard behind a router.
type Shard struct {
	Name string
	Host string // as listShards has it: "rs/host:port,host:port"
}

// dial connects to a shard. end closes the connection.
type dial func(ctx context.Context, s Shard, login bool) (ask ask, end func(), err error)

// openShards looks at all shards at the same time.
func openShards(ctx context.Context, c Config, dial dial) []*watcher {
	list := make([]*watcher, len(c.Shards))
	var all sync.WaitGroup
	for i, s := range c.Shards {
		list[i] = &watcher{want: c.Limits, shard: s.Name, host: s.Host}
		all.Go(func() { list[i].openShard(ctx, s, dial, c.Reason) })
	}
	all.Wait()
	return list
}

// openShard finds out what a shard tells. One that does not know the user is asked without a login: everybody may know how far its
// majority is behind, and without access control everybody may know the rest.
func (w *watcher) openShard(ctx context.Context, s Shard, dial dial, why func(error) string) {
	err := w.try(ctx, s, dial, true)
	if loginRefused(err) {
		w.login = err
		err = w.try(ctx, s, dial, false)
	}
	if err != nil {
		w.sources, w.first = nil, nil
		w.notes = []string{"it can't be asked from this machine (" + why(err) + "): only what the router tells of it counts"}
	}
	if !w.watches() {
		w.close()
	}
}

// try opens a connection and looks once.
func (w *watcher) try(ctx context.Context, s Shard, dial dial, login bool) (err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if w.ask, w.end, err = dial(ctx, s, login); err != nil {
		return err
	}
	if err = w.open(ctx); err != nil {
		w.close()
	}
	return err
}

func (w *watcher) close() {
	if w.end != nil {
		w.end()
	}
	w.end = nil
}

// watched are the names of shards that can be asked.
func watched(all []*watcher) (names []string) {
	for _, w := range all {
		if w.shard != "" && w.watches() {
			names = append(names, w.shard)
		}
	}
	return names
}

// besides are the limits that a router is asked for: what some shard says itself is not asked for again, but how long the queues are is
// as long as one shard does not say so.
func (l Limits) besides(all []*watcher) Limits {
	queues := len(all) > 0
	for _, w := range all {
		if !w.watches() {
			queues = false
			continue
		}
		for _, k := range []kind{lag, cacheDirty, cacheUsed, tickets} {
			l.levels[k] = level{}
		}
		queues = queues && w.first.of(w.shard)[queue].known
	}
	if queues {
		l.levels[queue] = level{}
	}
	return l
}
