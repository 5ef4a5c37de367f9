package target

import (
	"context"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// shardTimeout is how long a shard is looked for, unless the server itself is looked for shorter.
const shardTimeout = 5 * time.Second

// maxAppName is MongoDB's limit, in bytes.
const maxAppName = 128

// Shard is a client of one shard of the cluster, past its router: one connection, and one more to each member to know which is the primary.
// host is what listShards says: "rs/host:port,host:port", or "host:port" of a single server. It has the connection string's TLS options and
// compressors, its user unless login is false, and the name of the target's client with "load" behind it. Only what reads may be sent.
// Disconnect it after use.
func (t *Target) Shard(ctx context.Context, host string, login bool) (*mongo.Client, error) {
	// Of a new set of options: the target's are a router's, and may have it looked up by DNS again.
	o := options.Client().SetMaxPoolSize(1).SetRetryReads(false).SetServerMonitoringMode(options.ServerMonitoringModePoll)
	o.Dialer, o.TLSConfig, o.DisableOCSPEndpointCheck, o.HTTPClient = t.options.Dialer, t.options.TLSConfig, t.options.DisableOCSPEndpointCheck, t.options.HTTPClient
	o.Compressors, o.ZlibLevel, o.ZstdLevel = t.options.Compressors, t.options.ZlibLevel, t.options.ZstdLevel
	o.ServerAPIOptions = t.options.ServerAPIOptions
	if login {
		o.Auth = t.options.Auth
	}
	timeout := shardTimeout
	if d := t.options.ServerSelectionTimeout; d != nil && *d > 0 {
		timeout = min(timeout, *d)
	}
	o.SetServerSelectionTimeout(timeout).SetConnectTimeout(timeout)
	const suffix = " load"
	o.SetAppName(strings.ToValidUTF8(t.AppName[:min(len(t.AppName), maxAppName-len(suffix))], "") + suffix)
	set, members, isSet := strings.Cut(host, "/")
	if isSet {
		o.SetHosts(strings.Split(members, ",")).SetReplicaSet(set)
	} else {
		o.SetHosts([]string{host}).SetDirect(true)
	}
	return mongo.Connect(ctx, o)
}
