package fakemongod

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Environment variables of the fakes.
const (
	envProgram = "MRBENCH_FAKE_PROGRAM"
	envVersion = "MRBENCH_FAKE_VERSION"
	envFail    = "MRBENCH_FAKE_FAIL"
	envMarks   = "MRBENCH_FAKE_MARKS"
)

// Failures. Each can be limited to a role, as in "s2:exit": the name of the replica set, "mongod" or "mongos".
const (
	Exit      = "exit"      // at once, with code 1 and a line in the log
	Silent    = "silent"    // runs and never listens
	Stubborn  = "stubborn"  // ignores SIGTERM
	PortTaken = "port"      // the first time, as if another program had the port
	Stranger  = "stranger"  // the same, while another program answers on the port
	NoVote    = "novote"    // the set never has a primary
	DieLater  = "die"       // with code 14 at the first mapReduce
	Library   = "library"   // can't be started at all: a shared library is missing
	NoShard   = "noshard"   // a mongos refuses to add shards
	Another   = "another"   // it is another program
	BadConfig = "badconfig" // refuses to initiate the set
)

// Install writes programs mongod and mongos into a directory. The test's main has to call Main. version is what they say they
// are; fails are failures.
func Install(t testing.TB, dir, version string, fails ...string) (mongod string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"mongod", "mongos"} {
		script := fmt.Sprintf("#!/bin/sh\n%s=%s %s=%s %s='%s' %s='%s' exec '%s' \"$@\"\n",
			envProgram, program, envVersion, version, envFail, strings.Join(fails, ","), envMarks, dir, self)
		// A file that is open for writing in a process which was just forked can't be started.
		syscall.ForkLock.RLock()
		err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755)
		syscall.ForkLock.RUnlock()
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "mongod")
}
