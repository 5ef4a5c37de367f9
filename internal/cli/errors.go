package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrbench/internal/target"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPartial     = 3
	exitUnreachable = 4
	exitDiffer      = 5
	exitSlower      = 6
	exitInterrupted = 130
	exitUnread      = 141 // as a process that SIGPIPE ends
	exitTerminated  = 143
)

// codeError is an error with an exit code of its own.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

func withCode(code int, format string, args ...any) error {
	return &codeError{code, fmt.Errorf(format, args...)}
}

func usageError(format string, args ...any) error { return withCode(exitUsage, format, args...) }

// interruptError is the cause of a context that a signal ended.
type interruptError struct{ signal os.Signal }

func (e *interruptError) Error() string {
	if e.signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// exitCode says how the process ends for an error.
func exitCode(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if i, ok := errors.AsType[*interruptError](context.Cause(ctx)); ok {
		if i.signal == syscall.SIGTERM {
			return exitTerminated
		}
		return exitInterrupted
	}
	if c, ok := errors.AsType[*codeError](err); ok {
		return c.code
	}
	if _, ok := errors.AsType[*target.URIError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*target.UnreachableError](err); ok {
		return exitUnreachable
	}
	if _, ok := errors.AsType[*target.LoginError](err); ok {
		return exitUnreachable
	}
	return exitFailed
}

// unread says whether nobody reads the standard output any more (mrbench … | head -1). A server's connection that
// breaks has the same error number and no such path.
func unread(stdout io.Writer, err error) bool {
	f, isFile := stdout.(interface{ Name() string })
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && isFile && e.Path == f.Name() && errors.Is(e, syscall.EPIPE)
}

var kinds = map[int]string{
	exitFailed: "failed", exitUsage: "usage", exitPartial: "partial", exitUnreachable: "unreachable",
	exitDiffer: "differ", exitSlower: "slower", exitInterrupted: "interrupted", exitTerminated: "interrupted",
}

// printError writes one line, or one JSON object when that is the format asked for.
func (a *app) printError(code int, err error) {
	text := a.scrub(strings.Join(strings.Fields(a.rightText(err, err.Error())), " "))
	for _, p := range []string{"seed: ", "source: ", "splitter: ", "mr: ", "aggregate: "} {
		text = strings.TrimPrefix(text, p) // which library said it is of no use to a person
	}
	if a.jsonErrors() {
		b, merr := json.Marshal(struct {
			Error string `json:"error"`
			Kind  string `json:"kind"`
			Exit  int    `json:"exit_code"`
		}{text, kinds[code], code})
		if merr == nil {
			fmt.Fprintf(a.env.Stderr, "%s\n", b)
			return
		}
	}
	fmt.Fprintf(a.env.Stderr, "%s %s\n", a.styleOf(a.env.StderrTerminal).red("mrbench:"), text)
}

// jsonErrors says whether -o json was asked for, also when flags could not be parsed to their end.
func (a *app) jsonErrors() bool {
	if a.common.output == formatJSON {
		return true
	}
	args := a.env.Args
	for i, arg := range args {
		switch arg {
		case "-ojson", "-o=json", "--output=json":
			return true
		case "-o", "--output":
			if i+1 < len(args) && args[i+1] == formatJSON {
				return true
			}
		}
	}
	return false
}

// flagError rewords what the flag parser says: one line with the flag, the value and what is allowed.
func flagError(c *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usageError("--%s %q: %w", e.GetFlag().Name, e.GetValue(), plainNumberError(e.Unwrap(), e.GetFlag()))
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usageError("--%s needs a value: %s", e.GetFlag().Name, strings.ReplaceAll(strings.TrimSpace(e.GetFlag().Usage), "`", ""))
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if f := closest(e.GetSpecifiedName(), flagNames(c)); f != "" && len(e.GetSpecifiedName()) > 1 {
			return usageError("unknown flag --%s; did you mean --%s?", e.GetSpecifiedName(), f)
		}
		return usageError("unknown flag %s; see --help", dashed(e.GetSpecifiedName()))
	}
	return usageError("%w", err)
}

func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// plainNumberError replaces messages that quote Go functions.
func plainNumberError(err error, f *pflag.Flag) error {
	if err == nil || !strings.Contains(err.Error(), "strconv.") && f.Value.Type() != "duration" {
		return err
	}
	switch f.Value.Type() {
	case "bool":
		return errors.New("it is true or false")
	case "duration":
		return errors.New("it is a time such as 5s or 1m30s")
	default:
		if strings.HasPrefix(f.Value.Type(), "uint") {
			return errors.New("it is a whole number, 0 or above")
		}
		return errors.New("it is a whole number")
	}
}

// closest returns the known word that was probably meant, or "".
func closest(word string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := editDistance(word, k); d < distance || strings.HasPrefix(k, word) && len(word) > 1 && best == "" {
			best, distance = k, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := slices.Min([]int{row[j] + 1, row[j+1] + 1, diagonal + cost})
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
