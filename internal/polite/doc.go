// Package polite holds work back while a server is busy with what matters more.
//
// A [Governor] is asked before each command of a job is sent. It looks at the server when its last look is older than a
// second, and while a limit is passed it lets nothing through; a command that runs is never stopped. It goes on when all
// limits are kept again with some room, one command a look, so that the next look sees what the last one did.
//
// What may not be looked at, or is not there on this kind of server, is left out and named once by [Governor.Unwatched]. It writes
// nothing to the server. Tests drive it by a scripted server within a bubble of synctest, and on internal/mimic in internal/cli.
package polite
