// Command mrbench measures how fast a job goes on MongoDB, and whether its fast
// variants still give the same answer.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"mrbench/internal/cli"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// A reader of the output that goes away makes writing fail, as on any other error: what a run made is dropped then.
	// Notified, not ignored: commands started from here would ignore it too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	home, _ := os.UserHomeDir()
	os.Exit(cli.Run(context.Background(), cli.Env{
		Args:           os.Args[1:],
		LookupEnv:      os.LookupEnv,
		Home:           home,
		Stdin:          os.Stdin,
		Stdout:         os.Stdout,
		Stderr:         os.Stderr,
		Now:            time.Now,
		Columns:        func() int { return columns(os.Stdout) },
		StderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Signals:        signals,
		ReleaseSignals: func() { signal.Stop(signals) },
	}))
}

func columns(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}
