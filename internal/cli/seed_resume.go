package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/seed"
	"mrbench/seed/source"
	"mrbench/splitter"
)

// checkResume finds what does not go together with --resume.
func (o *seedOptions) checkResume(set func(...string) string) error {
	if !o.resume {
		return nil
	}
	switch n := set("drop", "append", "count-only", "plan"); {
	case len(o.from) == 0:
		return usageError("--resume goes on with a load of files: name them with --from, as before")
	case n != "":
		return usageError("--resume goes on where the load stopped: --%s has no part in it", n)
	case slices.Contains(o.from, "-"):
		return usageError("--resume: standard input can not be read again: keep it in a file and load that")
	case unacknowledged(o.writeConcern):
		return usageError("--resume: with write concern 0 nothing says what arrived: load the files again with --drop")
	}
	return nil
}

func unacknowledged(concern string) bool { return strings.TrimSpace(concern) == "0" }

// resume takes up the checkpoint of the load that is to go on.
func (a *app) resume(c *checkpoints) (*seed.Checkpoint, error) {
	p, err := c.load()
	if err == nil && p == nil {
		err = usageError("--resume: no unfinished load of these files into %s is known here: use the same --from, --format, --select, --columns, "+
			"--folders, --ns, --uri and --data-dir as before, or leave --resume out", a.common.ns)
	}
	return p, err
}

// notFinished says how to go on after a load that err stopped.
func (a *app) notFinished(err error, o seedOptions, r *seed.Report, c *checkpoints) {
	_, broken := errors.AsType[*source.RecordError](err)
	ns := a.common.ns
	there := int64(0)
	if r != nil {
		there = r.Documents + r.Earlier
	}
	switch {
	case a.common.private.mongod != "": // what there is goes with the server
	case a.name != "seed" && there > 0: // run, which can't go on
		a.insist("%s is filled in part, with %s; fill it anew with:\n  %s", ns, documents(there), a.command(fmt.Sprintf("seed --drop --docs %d", o.docs)))
	case there == 0 && c != nil && broken:
		_ = c.remove() // the files are at fault, and nothing was sent: a later load begins anew in any case
	case there == 0 && (c == nil || c.last == nil):
		if r != nil && !o.add && !o.resume {
			a.insist("no document in %s was confirmed: load again with --drop, or mrbench clean --data drops it", ns)
		}
	case len(o.from) == 0 && o.ordered:
		a.insist("%s is filled in part, with %s; seed it again with --drop", ns, documents(there))
	case len(o.from) == 0:
		a.insist("%s is filled in part, with %s; add the others with:\n  %s", ns, documents(there),
			a.sameCommand([]string{"drop", "append", "on-duplicate", "shard-key", "presplit"}, "--append", "--on-duplicate", "skip"))
	case c != nil && c.last != nil:
		a.insist("%s is filled in part, with %s; go on with:\n  %s", ns, documents(there),
			a.sameCommand([]string{"drop", "append", "resume", "overwrite", "shard-key", "presplit"}, "--resume"))
	case unacknowledged(o.writeConcern):
		a.insist("%s is filled in part, and with write concern 0 it is not known how far: load the files again with --drop", ns)
	default:
		a.insist("%s is filled in part, with %s; what was read can not be read again from where it stopped, as it is no ordinary file: load it again with --drop",
			ns, documents(there))
	}
}

// sameCommand is this command line without some flags and with others, for a shell.
func (a *app) sameCommand(without []string, with ...string) string {
	words := []string{"mrbench"}
	add := with
	// Flags of all commands may come before the command's name.
	name := max(0, slices.Index(a.env.Args, a.name))
	for i := 0; i < len(a.env.Args); i++ {
		arg := a.env.Args[i]
		flag, value, joined := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if strings.HasPrefix(arg, "--") && slices.Contains(without, flag) {
			if slices.Contains([]string{"on-duplicate", "shard-key", "presplit"}, flag) && !joined { // whose value is a word of its own
				i++
			}
			continue
		}
		switch {
		case strings.HasPrefix(arg, "--uri=") && joined:
			arg = "--uri=" + target.Redact(value)
		case i > 0 && a.env.Args[i-1] == "--uri":
			arg = target.Redact(arg)
		}
		words = append(words, shellWord(arg))
		if i == name { // behind the command's name: files may come last
			words = append(words, add...)
			add = nil
		}
	}
	return strings.Join(append(words, add...), " ")
}

// explainFill adds the next step to errors of a load from files.
func (a *app) explainFill(err error, o seedOptions, c *checkpoints) error {
	if e, ok := errors.AsType[*seed.NotEmptyError](err); ok && c != nil {
		if p, lerr := c.load(); lerr == nil && p != nil {
			return withCode(exitFailed, "%s already holds %s documents, of a load of these files that did not finish: go on with --resume, or begin anew with --drop",
				e.NS, report.Thousands(e.Documents))
		}
	}
	err = explainShardKey(err)
	if e, ok := errors.AsType[*source.RecordError](err); ok && o.skipBad == "" {
		return fmt.Errorf("%w; --skip-bad FILE writes such records to a file and goes on", e)
	}
	if e, ok := errors.AsType[*seed.DocumentError](err); ok && e.Code == 11000 && o.onDuplicate == string(seed.DuplicateStop) && !o.ordered {
		return fmt.Errorf("%w; --on-duplicate skip leaves out and counts documents whose key is there", e)
	}
	if splitter.Killed(err) {
		return fmt.Errorf("an insert was stopped on the server by someone (killOp, or the end of its session), so the load ends: %w", err)
	}
	return err
}

// loadFlags are the flags of seed that say how a load behaves when something goes wrong, and what it shows.
func (o *seedOptions) loadFlags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.resume, "resume", false, "go on with a load of the same files that was interrupted, without loading a document twice")
	intFlag(c, &o.retries, "retries", seed.DefaultRetries, 0, 1000, "how often a batch is sent again when the network or an election fails it")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show a line for each writer while it runs")
	f.BoolVar(&o.overwrite, "overwrite", false, "let --emit and --skip-bad replace a file")
}
