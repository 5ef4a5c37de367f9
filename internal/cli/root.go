package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"
	"github.com/vbauerster/mpb/v8"
	"go.mongodb.org/mongo-driver/event"

	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/internal/throwaway"
)

// common holds the flags of every command.
type common struct {
	uri     string
	private privateFlags
	ns      target.Namespace
	key     string
	dataDir string
	output  string
	config  string
	timeout time.Duration
	quiet   bool
	noColor bool
}

// app is one run of the program.
type app struct {
	env      Env
	name     string // of the command
	v        *viper.Viper
	common   common
	profiles profiles
	appName  string                       // of the next client, by which the server knows what it runs; "" the program's
	monitor  *event.CommandMonitor        // of the next client; nil: none
	private  *throwaway.Server            // of --mongod, once it is started
	fail     context.CancelCauseFunc      // ends the work
	above    atomic.Pointer[mpb.Progress] // the bars on Stderr that lines have to go above; nil when there are none
}

// Run runs the program and returns its exit code. It is over when everything it started is.
func Run(ctx context.Context, env Env) int {
	if env.Now == nil {
		env.Now = time.Now
	}
	a := &app{env: env, v: newViper()}
	ctx, stop := a.watch(ctx)
	defer stop()
	defer a.stopPrivate() // after a panic too
	root := a.newRoot()
	root.SetArgs(append([]string{}, env.Args...))
	err := a.diedMeanwhile(ctx, root.ExecuteContext(ctx))
	a.stopPrivate()
	if perr := a.profiles.stop(env.path); err == nil {
		err = perr
	}
	code := exitCode(ctx, err)
	if unread(env.Stdout, err) && ctx.Err() == nil {
		code = exitUnread
	}
	if err != nil && code != exitUnread {
		if i, ok := errors.AsType[*interruptError](context.Cause(ctx)); ok {
			err = i
		}
		a.printError(code, err)
	}
	return code
}

// watch ends the context at the first signal. Signals are released then, so that a second one ends the process.
func (a *app) watch(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a.fail = cancel
	if a.env.Signals == nil {
		return ctx, func() { cancel(nil) }
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-a.env.Signals:
			if a.env.ReleaseSignals != nil {
				a.env.ReleaseSignals()
			}
			cancel(&interruptError{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil); <-done }
}

func (a *app) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mrbench",
		Short: "Measures how fast a job goes on MongoDB, and whether its fast variants give the same answer",
		Long: `mrbench measures how fast a job goes on MongoDB, and whether its fast variants still give
the same answer: mapReduce as written, sorted, in ranges, with separate output databases, with
jsMode, and the aggregation pipeline that does the same.

With --uri it works on a MongoDB server; with --mongod on one that is started for this command and
removed after it; without, on an embedded engine whose data is kept in the user's data directory. Settings come from flags, then MRBENCH_* variables (MRBENCH_DATA_DIR for
--data-dir), then mrbench.yaml, which holds flags' names without dashes in front.`,
		Example: `  mrbench seed --docs 1e6         fill test.uniques
  mrbench run --threads 4         one variant beside the aggregation
  mrbench run --ladder            all variants`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			if c := closest(args[0], names); c != "" {
				return usageError("unknown command %q; did you mean %s?", args[0], c)
			}
			return usageError("unknown command %q; commands are %s", args[0], strings.Join(names, ", "))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.name = cmd.Name()
			if err := a.settings(cmd); err != nil {
				return err
			}
			if err := a.checkFormat(cmd); err != nil {
				return err
			}
			if err := a.checkPrivate(cmd); err != nil {
				return err
			}
			if err := target.CheckURI(a.common.uri); err != nil {
				return err
			}
			return a.profiles.start(a.env.path)
		},
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(a.help)
	a.commonFlags(root)
	a.profiles.flags(root)
	root.AddCommand(a.newSeed(), a.newSplit(), a.newRun(), a.newTune(), a.newStudy(), a.newTranslate(), a.newCompare(), a.newPredict(), a.newReport(), a.newDoctor(), a.newServe(), a.newClean(), a.newVersion(), a.newCompletion(), a.newGen())
	a.helpCommand(root)
	a.completeRest(root)
	return root
}

func (a *app) commonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	c := &a.common
	c.ns = target.Namespace{DB: "test", Coll: "uniques"}
	c.key = "dim0"
	c.output = formatTable
	f.StringVar(&c.uri, "uri", "", "connection string (`uri`) of a MongoDB server; without it the embedded engine is used")
	a.privateFlags(root)
	f.Var(&value[target.Namespace]{&c.ns, "database.collection", parseNamespace, target.Namespace.String}, "ns", "collection to work on")
	f.Var(&value[string]{&c.key, "field", parseKey, same}, "key", "field whose values are counted, ranges are cut by and documents are seeded with")
	f.StringVar(&c.dataDir, "data-dir", "", "`directory` for the embedded engine, results and records (default "+a.shownDataDir()+")")
	f.VarP(&value[string]{&c.output, "format", parseFormat, same}, "output", "o", outputUsage+strings.Join(allFormats, ", "))
	completeFormats(root)
	f.StringVar(&c.config, "config", "", "settings `file` (default mrbench.yaml here or in the user's configuration directory)")
	f.DurationVar(&c.timeout, "timeout", target.DefaultTimeout, "how long to look for the server")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "nothing on stderr but errors: no progress, no notices")
	f.BoolVar(&c.noColor, "no-color", false, "no colours; NO_COLOR and TERM=dumb mean the same")
}

func parseFormat(s string) (string, error) {
	for _, f := range allFormats {
		if s == f {
			return s, nil
		}
	}
	return "", fmt.Errorf("it is one of %s", strings.Join(allFormats, ", "))
}

func (a *app) shownDataDir() string {
	d := a.env.userDataDir()
	if rel, err := filepath.Rel(a.env.Home, d); a.env.Home != "" && err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.Join("~", rel)
	}
	return d
}

// dataDir is where mrbench keeps what it has to keep.
func (a *app) dataDir() (string, error) {
	if a.common.dataDir != "" {
		return filepath.Abs(a.env.path(a.common.dataDir))
	}
	if d := a.env.userDataDir(); d != "" {
		return d, nil
	}
	return "", usageError("there is no home directory to keep data in: name one with --data-dir")
}

// engineDir is the part of the data directory that belongs to the embedded engine.
func engineDir(dataDir string) string { return filepath.Join(dataDir, "engine") }

func resultsDir(dataDir string) string { return filepath.Join(dataDir, "results") }

// open finds the server that the flags name.
func (a *app) open(ctx context.Context) (*target.Target, error) {
	dir, err := a.dataDir()
	if err != nil && a.common.uri == "" {
		return nil, err
	}
	uri, private, err := a.startPrivate(ctx, dir)
	if err != nil {
		return nil, err
	}
	return target.Open(ctx, target.Config{
		URI: uri, Throwaway: private, DataDir: engineDir(dir), Version: Version(), Timeout: a.common.timeout, Monitor: a.monitor, AppName: a.appName,
		Notice: func(s string) { a.tell("%s", s) }, Getenv: a.env.getenv,
	})
}

// tell writes a line for a person; nothing depends on it.
func (a *app) tell(format string, args ...any) {
	if a.common.quiet {
		return
	}
	if bars := a.above.Load(); bars != nil {
		if _, err := fmt.Fprintf(bars, "%s\n", a.scrub(fmt.Sprintf(format, args...))); err == nil {
			return
		}
	}
	a.insist(format, args...)
}

// insist writes a line that is said nowhere else, also with --quiet.
func (a *app) insist(format string, args ...any) {
	fmt.Fprintf(a.env.Stderr, "%s\n", a.scrub(fmt.Sprintf(format, args...)))
}

// print writes a result in the format asked for: v as JSON, the first table as CSV, all of them as text or Markdown.
func (a *app) print(v any, tables ...*report.Table) error {
	return a.printAs(v, nil, tables...)
}

// printAs is print with a table of its own for CSV.
func (a *app) printAs(v any, csv *report.Table, tables ...*report.Table) error {
	w := a.env.Stdout
	switch a.common.output {
	case formatJSON:
		return report.JSON(w, v)
	case formatCSV:
		if csv == nil {
			csv = tables[0]
		}
		return report.CSV(w, csv)
	case formatMarkdown:
		return report.Markdown(w, tables...)
	case formatGobench:
		if g, ok := v.(interface{ Gobench(io.Writer) error }); ok {
			return g.Gobench(w)
		}
		return usageError("--output %s: there are no times of runs here", formatGobench)
	default:
		if !a.env.blocks() {
			for _, t := range tables {
				t.Bars = nil
			}
		}
		return report.Text(w, a.env.columns(), tables...)
	}
}

// finish closes what must be closed on every way out; the first error counts.
func finish(err *error, closers ...io.Closer) {
	for _, c := range closers {
		if cerr := c.Close(); cerr != nil && *err == nil {
			*err = cerr
		}
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError("%s takes no arguments, only flags; %q is one too many", cmd.Name(), args[0])
	}
	return nil
}
