// Package cluster is what a sharded cluster is made of, seen through its mongos: shards, balancer, running migrations, the chunks
// of a collection; and how an empty collection is sharded and spread before it is loaded.
//
// Reading changes nothing. What a user may not see is left out, never an error. Writing is Create, for a collection that the caller
// made, and StopBalancer and StartBalancer, which concern the whole cluster. It speaks to MongoDB 3.6 to 8.x through the driver, and
// knows nothing of the embedded engine. Tested on internal/mimic and on real clusters.
package cluster
