// Package compat runs clients that others wrote against the real program: its tests build mrbench, start
// `mrbench serve` on a free port with a data directory of its own, and let each client that is installed do a
// script of everyday work whose results are compared exactly.
//
//	driverv2/  version 2 of the Go driver, a module of its own
//	node/      the Node driver
//	mongosh/   the shell: scripts, and a session typed into it
//
// The script install fetches them. A client that is not there is skipped with a text that says so; with -short all are.
// There is nothing in the package but tests.
package compat
