package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// parse runs a command line up to the point where the command would start, and returns the options.
func parse(t *testing.T, s *session, args ...string) (common, runOptions, error) {
	t.Helper()
	a := &app{env: s.environ(args, nil, nil), v: newViper()}
	root := a.newRoot()
	root.SetArgs(args)
	run, _, err := root.Find([]string{"run"})
	if err != nil {
		t.Fatal(err)
	}
	var o runOptions
	run.RunE = func(cmd *cobra.Command, _ []string) error {
		// The options are the command's own; read them back from its flags.
		f := cmd.Flags()
		var err error
		if o.jsmode, err = f.GetBool("jsmode"); err != nil {
			return err
		}
		o.save = f.Lookup("save").Value.String()
		o.threads = int(mustCount(t, f.Lookup("threads").Value.String()))
		o.docs = mustCount(t, f.Lookup("docs").Value.String())
		if rows := f.Lookup("rows").Value.String(); rows != "" {
			o.rows = strings.Split(rows, ",")
		}
		return o.check(cmd)
	}
	return a.common, o, root.Execute()
}

func mustCount(t *testing.T, s string) int64 {
	t.Helper()
	n, err := parseCount(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPrecedenceOfSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		env  map[string]string
		file string
		want int
	}{
		{"default", nil, nil, "", 4},
		{"file over default", nil, nil, "threads: 5", 5},
		{"environment over file", nil, map[string]string{"MRBENCH_THREADS": "6"}, "threads: 5", 6},
		{"flag over environment", []string{"--threads", "7"}, map[string]string{"MRBENCH_THREADS": "6"}, "threads: 5", 7},
		{"flag over file", []string{"--threads=7"}, nil, "threads: 5", 7},
		{"a flag with the default's value is a flag", []string{"--threads=4"}, nil, "threads: 5", 4},
		{"empty variable is none", nil, map[string]string{"MRBENCH_THREADS": ""}, "threads: 5", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.env = c.env
			if c.file != "" {
				write(t, filepath.Join(s.dir, "mrbench.yaml"), c.file)
			}
			_, o, err := parse(t, s, append([]string{"run"}, c.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			if o.threads != c.want {
				t.Errorf("threads %d, want %d", o.threads, c.want)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestValuesOfTheFile(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	write(t, filepath.Join(s.dir, "mrbench.yaml"), "docs: 2e6\njsmode: true\nrows: [mr, agg]\nsave: x.ndjson\nkeys: 7 # of another command\n")
	_, o, err := parse(t, s, "run")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]any{int64(2_000_000), true, []string{"mr", "agg"}, "x.ndjson"}, []any{o.docs, o.jsmode, o.rows, o.save}); d != "" {
		t.Error(d)
	}
}

func TestWhereTheFileIsFound(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.env = map[string]string{"XDG_CONFIG_HOME": filepath.Join(s.dir, "conf")}
	threads := func(args ...string) int {
		t.Helper()
		_, o, err := parse(t, s, append([]string{"run"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return o.threads
	}
	write(t, filepath.Join(s.dir, "conf", "mrbench", "mrbench.yaml"), "threads: 5")
	if n := threads(); n != 5 {
		t.Errorf("user's file: %d", n)
	}
	write(t, filepath.Join(s.dir, "mrbench.yaml"), "threads: 6")
	if n := threads(); n != 6 {
		t.Errorf("file here: %d", n)
	}
	write(t, filepath.Join(s.dir, "env.yaml"), "threads: 7")
	s.env["MRBENCH_CONFIG"] = "env.yaml"
	if n := threads(); n != 7 {
		t.Errorf("file of MRBENCH_CONFIG: %d", n)
	}
	write(t, filepath.Join(s.dir, "flag.yaml"), "threads: 8")
	if n := threads("--config", "flag.yaml"); n != 8 {
		t.Errorf("file of --config: %d", n)
	}
}

// Whatever is wrong, and wherever it comes from, is one line that names it and what would be right; the exit code is 2.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		env  map[string]string
		file string
		want string
	}{
		{args: "frobnicate", want: `unknown command "frobnicate"; commands are`},
		{args: "sed", want: `unknown command "sed"; did you mean seed?`},
		{args: "seed --dcos 3", want: "unknown flag --dcos"},
		{args: "seed -x", want: "unknown flag -x"},
		{args: "seed --docs", want: "--docs needs a value: documents to write"},
		{args: "seed --docs many", want: `--docs "many": it is a whole number such as 1000000, 1e6, 500k or 10M`},
		{args: "seed --docs 0", want: `--docs "0": it must be at least 1`},
		{args: "seed --docs -5", want: `--docs "-5": it must be at least 1`},
		{args: "seed --writers 0", want: `--writers "0": it is a whole number from 1 to 1000`},
		{args: "seed --seed x", want: `--seed "x": it is a whole number`},
		{args: "seed --index later", want: `--index "later": it is one of before, after, none`},
		{args: "seed --write-concern ,x", want: `--write-concern ",x":`},
		{args: "seed --write-concern 0,j", want: `--write-concern "0,j":`},
		{args: "seed --ns nodot", want: `--ns "nodot": a namespace is database.collection`},
		{args: "seed --ns admin.x", want: "admin, config and local are refused"},
		{args: "run --ns config.x", want: "admin, config and local are refused"},
		{args: "seed --key $x", want: `--key "$x": it is a field name`},
		{args: "seed --ordered=perhaps", want: `--ordered "perhaps": it is true or false`},
		{args: "seed -o csv", want: `--output csv: seed writes table, json`},
		{args: "seed -o pdf", want: `--output "pdf": it is one of table, json, csv, markdown`},
		{args: "seed extra", want: `seed takes no arguments, only flags; "extra" is one too many`},
		{args: "split --strategy guess", want: `--strategy "guess": it is one of auto, splitVector, chunks, bucketAuto, sample, walk`},
		{args: "split --ranges 0", want: `--ranges "0": it is a whole number from 1 to 10000`},
		{args: "run --rows mr,nothing", want: `"nothing" is none of mr, mr-sort,`},
		{args: "run --rows mr,mr", want: `"mr" is listed twice`},
		{args: "run --layout both", want: `--layout "both": it is one of one, separate`},
		{args: "run --ladder --jsmode", want: "--jsmode names one variant and --ladder a fixed list"},
		{args: "run --rows mr --layout one", want: "--layout names one variant and --rows a fixed list"},
		{args: "run --sort --no-sort", want: "--sort and --no-sort exclude each other"},
		{args: "run --timeout soon", want: `--timeout "soon": it is a time such as 5s or 1m30s`},
		{args: "run --save .", want: "--save: result file"},
		{args: "run --uri localhost:27017", want: "--uri: "},
		{args: "compare one", want: `"one" is no result file, no run of`},
		{args: "serve --bind 0.0.0.0", want: `--bind "0.0.0.0": only loopback addresses (127.0.0.1, ::1, localhost) are allowed without --auth`},
		{args: "serve --bind example.com", want: "only loopback addresses"},
		{args: "serve --port 70000", want: `--port "70000": it is a whole number from 0 to 65535`},
		{args: "serve --uri mongodb://h", want: "--uri: serve is for the embedded engine"},
		{args: "run", env: map[string]string{"MRBENCH_THREADS": "no"}, want: `MRBENCH_THREADS "no": it is a whole number from 1 to 1000`},
		{args: "run", file: "threads: 0", want: `mrbench.yaml: threads "0": it is a whole number from 1 to 1000`},
		{args: "run", file: "threds: 3\nurl: x\n", want: "configuration mrbench.yaml: unknown keys threds, url; did you mean threads?"},
		{args: "version", file: "zzzzzzzz: 3", want: "unknown key zzzzzzzz; known are "},
		{args: "run", file: "threads: [", want: "configuration mrbench.yaml:"},
		{args: "run", file: "threads: {a: 1}", want: "mrbench.yaml: threads"},
		{args: "run", file: "ns: local.x", want: "admin, config and local are refused"},
		{args: "seed", file: "drop: true", want: "unknown key drop"},
		{args: "clean", file: "data: true", want: "unknown key data"},
		{args: "run", file: "prepare: rm -rf x", want: "unknown key prepare"},
		{args: "run --config missing.yaml", want: "configuration: open"},
	} {
		t.Run(c.args+c.file, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			s.env = c.env
			if c.file != "" {
				write(t, filepath.Join(s.dir, "mrbench.yaml"), c.file)
			}
			code, stdout, stderr := s.run(strings.Fields(c.args)...)
			if code != exitUsage || stdout != "" {
				t.Errorf("exit code %d, output %q", code, stdout)
			}
			if !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "mrbench: ") {
				t.Errorf("stderr %q, want one line with %q", stderr, c.want)
			}
			if _, err := os.Stat(filepath.Join(s.dir, ".local")); err == nil {
				t.Error("data was written for a command line that is refused")
			}
		})
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want int64
	}{
		{"1000000", 1_000_000},
		{"1_000_000", 1_000_000},
		{"1e6", 1_000_000},
		{"10M", 10_000_000},
		{"500k", 500_000},
		{"1.5M", 1_500_000},
		{"2G", 2_000_000_000},
		{"7", 7},
		{"0", 0},
		{"-1", -1},
		{"2.5E3", 2500},
	} {
		if got, err := parseCount(c.in); err != nil || got != c.want {
			t.Errorf("%q: %d, %v; want %d", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", "x", "k", "1.5", "1e-3", "0x10", "NaN", "Inf", "1e30", "10 M", "M10", "1ee5", "99999999999999999999"} {
		if got, err := parseCount(in); err == nil {
			t.Errorf("%q was taken for %d", in, got)
		}
	}
}

func TestErrorsAreJSONWhenAskedFor(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"seed -o json --docs x", "seed --docs x -o json", "seed --docs x --output=json", "seed -ojson --docs x"} {
		code, _, stderr := newSession(t).run(strings.Fields(args)...)
		want := `{"error":"--docs \"x\": it is a whole number such as 1000000, 1e6, 500k or 10M","kind":"usage","exit_code":2}` + "\n"
		if code != exitUsage || stderr != want {
			t.Errorf("%s: %d %s", args, code, stderr)
		}
	}
}
