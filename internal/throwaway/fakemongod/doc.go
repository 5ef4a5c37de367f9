// Package fakemongod is a mongod and a mongos for tests of what starts them: the test's own program, which a script starts
// with an environment variable set, becomes one in Main. They take the flags that mrbench uses and refuse all others, as the
// real ones do; members of sets are ghosts until they are initiated, a config server wants to be told that it is one, a
// mongos looks for its config server and adds shards that are primaries of their sets. Behind that is package mimic, so that
// commands of mrbench run on them; the documents of a cluster are in the mongos.
//
// They can be told to fail. Only tests import this package.
package fakemongod
