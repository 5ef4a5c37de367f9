// Package cli is the command line: one file per command, settings, exit codes
// and what people read.
//
// [Run] runs the real root command on an [Env] that holds everything a process
// has: arguments, environment, streams, clock, terminal, signals. Nothing here
// asks the os package for those, so tests run whole commands in-process and in
// parallel. Data goes to Stdout, all else to Stderr. Each command is a
// newXCommand that declares flags and a runX that takes a context; measuring,
// comparing and rendering are the packages below.
//
// The scripts under testdata/script show every command with its output, error
// texts and exit codes.
package cli
