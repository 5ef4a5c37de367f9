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
