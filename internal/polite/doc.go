// Package polite holds work back while a server is busy with what matters more.
//
// A [Governor] is asked before each command of a job is sent. It looks at the server when its last look is older than a
// second, and while a limit is passed it lets nothing through; a command that runs is never stopped. It goes on when all
// limits are kept again with some room, one command a look, so that the next look sees what the last one did.
//
// Shards behind a router are asked past it, each by a connection of its own. A command for one shard waits for that shard and for the
// router, one for no shard in particular waits for all of them. A shard that refuses or can't be reached holds nothing back.
//
// What may not be looked at, or is not there on this kind of server, is left out and named once by [Governor.Unwatched]. It writes
// nothing to the server. Tests drive it by a scripted server within a bubble of synctest, and on internal/mimic in internal/cli.
package polite
