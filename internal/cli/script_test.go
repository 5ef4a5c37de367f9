package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts run the real commands in this process. Beside testscript's own commands there are
//
//	mrbench args…            must end with exit code 0
//	exits CODE args…         must end with that exit code
//	width N                  every line of the last output has at most N characters
//	json PATH VALUE          the last output is JSON and holds the value at the path (a.b.0.c); ? is any but null
//	columns N                the terminal is N characters wide from now on
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"mrbench": func(ts *testscript.TestScript, neg bool, args []string) {
				if code := runScript(t, ts, args); (code == 0) == neg {
					ts.Fatalf("exit code %d", code)
				}
			},
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				if code := runScript(t, ts, args[1:]); code != want {
					ts.Fatalf("exit code %d, want %d", code, want)
				}
			},
			"columns": func(ts *testscript.TestScript, _ bool, args []string) { ts.Setenv("COLUMNS", args[0]) },
			"width":   scriptWidth,
			"json":    scriptJSON,
		},
	})
}

func runScript(t *testing.T, ts *testscript.TestScript, args []string) int {
	var out, errs bytes.Buffer
	code := Run(t.Context(), Env{
		Args: args, Dir: ts.MkAbs("."), Home: ts.Getenv("WORK"), Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &errs, Now: time.Now,
		LookupEnv: func(k string) (string, bool) { v := ts.Getenv(k); return v, v != "" },
	})
	_, _ = ts.Stdout().Write(out.Bytes())
	_, _ = ts.Stderr().Write(errs.Bytes())
	return code
}

func scriptWidth(ts *testscript.TestScript, _ bool, args []string) {
	limit, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > limit {
			ts.Fatalf("line of %d characters: %s", n, line)
		}
	}
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	source := "stdout"
	if filepath.Ext(args[0]) == ".ndjson" {
		source, args = args[0], args[1:]
	}
	var v any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(source)))
	d.UseNumber()
	ts.Check(d.Decode(&v))
	for step := range strings.SplitSeq(args[0], ".") {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[step]
			if !ok {
				if neg {
					return
				}
				ts.Fatalf("%s: no field %s", args[0], step)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			ts.Check(err)
			if i >= len(x) {
				ts.Fatalf("%s: %d elements", args[0], len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%s: no field %s in %v", args[0], step, v)
		}
	}
	if got := fmt.Sprint(v); (got == args[1] || args[1] == "?" && v != nil) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}
