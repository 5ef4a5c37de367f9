package cli

import (
	"errors"
	"strings"

	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/seed"
	"mrbench/splitter"
)

// explain adds the next step to errors of the libraries, in terms of this program's flags.
func (a *app) explain(err error, t *target.Target) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*splitter.NoCollectionError](err); ok {
		if t.Throwaway {
			return withCode(exitFailed, "%s does not exist on a server that was just started: --docs 1e6 fills it first, with run and tune", e.NS)
		}
		return withCode(exitFailed, "%s does not exist on %s; fill it with: %s", e.NS, where(t), a.command("seed --docs 1e6"))
	}
	if e, ok := errors.AsType[*splitter.NoIndexError](err); ok {
		if e.Beside() || len(e.Then) > 0 {
			return withCode(exitFailed, "%s; %s", e.Problem(), e.WayOut())
		}
		return withCode(exitFailed, "%s; make one with: %s", e.Problem(), a.command("run --create-index"))
	}
	if e, ok := errors.AsType[*seed.NotEmptyError](err); ok {
		return withCode(exitFailed, "%s already holds %s documents; name another collection with --ns, or replace it with --drop", e.NS, report.Thousands(e.Documents))
	}
	return err
}

func where(t *target.Target) string {
	if t.Kind == target.Embedded {
		return "the embedded engine (" + t.Address + ")"
	}
	return t.Address
}

// command is a command line that works on the same collection as this one.
func (a *app) command(s string) string {
	args := []string{"mrbench", s}
	c := a.common
	if ns := c.ns.String(); ns != "test.uniques" {
		args = append(args, "--ns", ns)
	}
	if c.key != "dim0" {
		args = append(args, "--key", c.key)
	}
	if c.private.mongod != "" {
		args = append(args, "--mongod", shellWord(c.private.mongod), "--topology", c.private.topology.String())
	} else if c.uri != "" {
		args = append(args, "--uri", target.Redact(c.uri))
	}
	if c.dataDir != "" {
		args = append(args, "--data-dir", c.dataDir)
	}
	return strings.Join(args, " ")
}
