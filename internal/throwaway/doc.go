// Package throwaway starts a MongoDB server of one's own binaries for the time of one command: a mongod, a replica set, or a
// sharded cluster with its mongos. All of it listens on loopback only, on ports that were free, and keeps its data in one
// temporary directory. Stop kills it and removes the directory: nothing in it is worth a clean shutdown.
//
// What is started is recorded in a state directory, which outlives a crash: the directory, and each process with the time of
// its start, so that a process that got a recycled number is left alone. The record is locked as long as its owner lives;
// Sweep, which Start calls, kills and removes what dead owners left. On Linux servers also die with their owner.
//
// Only flags that every mongod from 3.6 to 8 takes are used. Tests run a fake mongod and mongos (package fakemongod).
package throwaway
