package cli

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand is the real root command and all below it.
func everyCommand(t *testing.T) []*cobra.Command {
	t.Helper()
	s := newSession(t)
	a := &app{env: s.environ(nil, &bytes.Buffer{}, &bytes.Buffer{}), v: newViper()}
	return allCommands(a.newRoot())
}

// Every command, also one that comes tomorrow, has a manual that says what it is for, how it is called and how it ends.
func TestEveryCommandHasAManual(t *testing.T) {
	t.Parallel()
	for _, c := range everyCommand(t) {
		name := c.CommandPath()
		if len(c.Long) <= len(c.Short) {
			t.Errorf("%s: Long says no more than Short", name)
		}
		if r, _ := utf8.DecodeRuneInString(c.Short); !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZ", r) || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: Short %q is no line of a list: a capital first, no full stop", name, c.Short)
		}
		if !strings.HasPrefix(c.Example, "  ") || !strings.Contains(c.Example, "mrbench") {
			t.Errorf("%s: no Example with an indented command line", name)
		}
		m := manualOf(c)
		if !slices.ContainsFunc(m.exits, func(e entry) bool { return e.name == "0" }) || !slices.ContainsFunc(m.exits, func(e entry) bool { return e.name == "2" }) {
			t.Errorf("%s: EXIT STATUS does not tell what 0 and 2 are", name)
		}
		for _, e := range m.exits {
			if !regexp.MustCompile(`^\d+(, \d+)*$`).MatchString(e.name) || e.text == "" {
				t.Errorf("%s: exit status %+v", name, e)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			if len(usage) < 10 || strings.HasSuffix(usage, ".") {
				t.Errorf("%s --%s: usage %q", name, f.Name, usage)
			}
			if value == "string" || value == "strings" || value == "stringArray" {
				t.Errorf("%s --%s: say in `…` in its usage what the text is, such as file, directory or name", name, f.Name)
			}
		})
		for _, width := range []int{80, 100} {
			for line := range strings.Lines(m.text(width)) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s --help at %d columns: line of %d: %s", name, width, n, line)
				}
			}
		}
		// An option that is named in a text exists.
		for _, option := range regexp.MustCompile(`(?:^|[ (])--([a-z][a-z-]+)`).FindAllStringSubmatch(c.Long+"\n"+c.Example, -1) {
			if !anyFlag(c.Root(), option[1]) {
				t.Errorf("%s: its manual speaks of --%s, which no command has", name, option[1])
			}
		}
	}
}

func anyFlag(root *cobra.Command, name string) bool {
	if name == "help" {
		return true
	}
	for _, c := range allCommands(root) {
		if c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil {
			return true
		}
	}
	return false
}

// Groups name flags that exist, each once.
func TestFlagGroups(t *testing.T) {
	t.Parallel()
	commands := map[string]*cobra.Command{}
	for _, c := range everyCommand(t) {
		commands[c.Name()] = c
	}
	for name, groups := range flagGroups {
		c := commands[name]
		if c == nil {
			t.Errorf("flagGroups: no command %s", name)
			continue
		}
		seen := map[string]bool{}
		for _, g := range groups {
			for f := range strings.FieldsSeq(g.names) {
				if c.LocalFlags().Lookup(f) == nil {
					t.Errorf("%s: group %q names --%s, which it does not have", name, g.title, f)
				}
				if seen[f] {
					t.Errorf("%s: --%s is in two groups", name, f)
				}
				seen[f] = true
			}
		}
	}
}

// Each flag that takes a value completes to something on purpose: words, files, directories or nothing.
func TestEveryFlagCompletes(t *testing.T) {
	t.Parallel()
	for _, c := range everyCommand(t) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			owner := c
			if c.PersistentFlags().Lookup(f.Name) != nil {
				owner = c.Root()
			}
			if _, has := owner.GetFlagCompletionFunc(f.Name); !has && f.Value.Type() != "bool" {
				t.Errorf("%s --%s has no completion", c.CommandPath(), f.Name)
			}
		})
	}
}

// What shells ask is asked here: cobra's __complete with the words typed so far.
func TestCompletionOfValues(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if code, _, stderr := s.run("run", "--docs", "500", "--rows", "mr,agg"); code != 0 {
		t.Fatal(stderr)
	}
	saved, err := filepath.Glob(filepath.Join(s.dir, ".local", "share", "mrbench", "results", "*.ndjson"))
	if err != nil || len(saved) != 1 {
		t.Fatalf("%v %v", saved, err)
	}
	id := strings.TrimSuffix(filepath.Base(saved[0]), ".ndjson")
	const nothing, files, directories, noSpace = ":4", ":0", ":16", ":6"
	for _, c := range []struct {
		typed string
		want  []string // all of them are offered
		not   []string
		how   string
	}{
		{"", []string{"run", "seed", "compare", "completion", "gen"}, []string{"__complete"}, nothing},
		{"run --strategy ", []string{"auto", "splitVector", "walk"}, nil, nothing},
		{"run --layout ", []string{"one", "separate"}, nil, nothing},
		{"run --rows ", rowIDs(), nil, noSpace},
		{"tune --rows ", tuneRows(), nil, noSpace},
		{"tune --job ", nil, nil, files},
		{"tune --budget ", nil, nil, nothing},
		{"run --rows mr,agg,", []string{"mr,agg,mr-sort", "mr,agg,agg-covered"}, []string{"mr,agg,agg", "mr,agg,mr"}, noSpace},
		{"run -o ", []string{"table", "json", "csv", "markdown"}, nil, nothing},
		{"run --threads ", nil, nil, nothing},
		{"run --save ", nil, nil, files},
		{"run --config ", nil, nil, files},
		{"run --data-dir ", nil, nil, directories},
		{"run ", nil, []string{"run"}, nothing},
		{"seed --generator ", []string{"uniques", "guid", "people", "reviews", "template"}, nil, nothing},
		{"seed --write-concern ", []string{"0", "1", "majority", "majority,j"}, nil, nothing},
		{"seed --index ", []string{"before", "after", "none"}, nil, nothing},
		{"seed --sweep ", []string{"batch=", "writers=", "write-concern="}, nil, noSpace},
		{"seed --from ", nil, nil, files},
		{"compare ", []string{"latest", id}, nil, files},
		{"compare " + id + " ", []string{"latest"}, []string{id}, files},
		{"completion ", shells, nil, nothing},
		{"gen ", []string{"man"}, nil, nothing},
		{"gen man ", nil, nil, directories},
	} {
		args := strings.Split("__complete "+c.typed, " ")
		_, out, _ := s.run(args...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if how := lines[len(lines)-1]; how != c.how {
			t.Errorf("%q: directive %s, want %s", c.typed, how, c.how)
		}
		var words []string
		for _, l := range lines[:len(lines)-1] {
			word, _, _ := strings.Cut(l, "\t")
			words = append(words, word)
		}
		for _, w := range c.want {
			if !slices.Contains(words, w) {
				t.Errorf("%q does not offer %s: %v", c.typed, w, words)
			}
		}
		for _, w := range c.not {
			if slices.Contains(words, w) {
				t.Errorf("%q offers %s", c.typed, w)
			}
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	for _, shell := range shells {
		code, out, stderr := s.run("completion", shell)
		if code != 0 || !strings.Contains(out, "mrbench") || stderr != "" {
			t.Errorf("%s: %d %q", shell, code, stderr)
		}
		if path, err := exec.LookPath(shell); err == nil && shell != "powershell" {
			check := exec.Command(path, "-n")
			check.Stdin = strings.NewReader(out)
			if said, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s -n: %v %s", shell, err, said)
			}
		}
	}
	if code, _, stderr := s.run("completion", "csh"); code != exitUsage || !strings.Contains(stderr, "one of bash, zsh, fish, powershell") {
		t.Errorf("csh: %d %q", code, stderr)
	}
}

// There is a page for every command, troff has no complaint about any, and a second run writes the same.
func TestManualPages(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.env["SOURCE_DATE_EPOCH"] = "1700000000"
	if code, _, stderr := s.run("gen", "man", "pages"); code != 0 {
		t.Fatal(stderr)
	}
	groff, noGroff := exec.LookPath("groff")
	mandoc, noMandoc := exec.LookPath("mandoc")
	for _, c := range everyCommand(t) {
		if c.Name() == "help" {
			continue
		}
		file := filepath.Join(s.dir, "pages", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		page := read(t, file)
		for _, want := range []string{".TH \"", "\"2023\\-11\\-14\"", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH EXAMPLES\n", ".SH EXIT STATUS\n", ".SH SEE ALSO\n"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %q", file, want)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, `\fB\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)+`\fR`) {
				t.Errorf("%s does not have --%s", file, f.Name)
			}
		})
		for n, l := range strings.Split(page, "\n") {
			if strings.HasPrefix(l, "'") || strings.HasPrefix(l, ".") && !regexp.MustCompile(`^\.(TH|SH|TP|PP|B|BR|nf|fi)\b`).MatchString(l) {
				t.Errorf("%s:%d: a line of text that troff takes for a request: %s", file, n+1, l)
			}
			if i := strings.IndexFunc(l, func(r rune) bool { return r > 126 }); i >= 0 {
				t.Errorf("%s:%d: a character that not every troff has: %s", file, n+1, l)
			}
		}
		if noGroff == nil {
			if said, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", file).CombinedOutput(); err != nil || len(said) > 0 {
				t.Errorf("groff: %v %s", err, said)
			}
		}
		if noMandoc == nil {
			if said, err := exec.Command(mandoc, "-Tlint", "-Wwarning", file).CombinedOutput(); err != nil {
				t.Errorf("mandoc: %v %s", err, said)
			}
		}
	}
	first := read(t, filepath.Join(s.dir, "pages", "mrbench-run.1"))
	if code, _, stderr := s.run("gen", "man", "pages"); code != 0 {
		t.Fatal(stderr)
	}
	if d := cmp.Diff(first, read(t, filepath.Join(s.dir, "pages", "mrbench-run.1"))); d != "" {
		t.Error(d)
	}
}

func TestTroffEscapes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		".hidden":      "\\&.hidden\n",
		"'quoted'":     "\\(aqquoted\\(aq\n",
		`back\slash`:   "back\\eslash\n",
		"--docs 1e6":   "\\-\\-docs 1e6\n",
		"latest~1 ±5%": "latest\\(ti1 \\(+-5%\n",
	} {
		if got := line(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// A manual as a terminal of 80 or 100 columns and as man shows it. The command is made up, so that a new flag of a
// real one does not change what is tested.
func TestManualGolden(t *testing.T) {
	t.Parallel()
	root := &cobra.Command{Use: "tool", Short: "Does things"}
	root.PersistentFlags().StringP("output", "o", "table", "output `format`: table, json")
	c := &cobra.Command{
		Use:   "run [flags] RESULT...",
		Short: "Runs what is given and prints one comparison of it",
		Long: `run does what its flags say, and this paragraph is long enough to be broken at eighty columns and at
a hundred.

A second paragraph: it's about --rows, C:\\temp and latest~1.`,
		Example: `  tool run --docs 1e6         a short one with a remark
  tool run --docs 1000000 --keys 100000 --uri mongodb://localhost:27017 --write-concern majority
  tool run --docs 1000000 --keys 100000 --uri mongodb://localhost:27017       a long one with a remark`,
		Annotations: map[string]string{exitAnnotation: "  0  done\n  1  failed, or there was nothing to be done, or something that is so long that it needs a second line\n  130, 143  interrupted"},
		Run:         func(*cobra.Command, []string) {},
	}
	c.Flags().Int("runs", 3, "how often")
	c.Flags().Bool("ladder", false, "measure all rows")
	c.Flags().StringSlice("then", nil, "further `fields`, which have a text that does not end before the column that is the eightieth")
	c.Flags().String("secret", "", "not shown")
	if err := c.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	root.AddCommand(c)
	m := manualOf(c)
	golden(t, filepath.Join("help", "80.txt"), m.text(80))
	golden(t, filepath.Join("help", "100.txt"), m.text(100))
	golden(t, filepath.Join("help", "page.1"), m.manPage(time.Unix(1_700_000_000, 0), "v1.2.3"))
	golden(t, filepath.Join("help", "root.txt"), manualOf(root).text(80))
}

func TestBuild(t *testing.T) {
	t.Parallel()
	settings := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}
	deps := []*debug.Module{
		{Path: "go.mongodb.org/mongo-driver", Version: "v1.17.10"},
		{Path: "github.com/cockroachdb/pebble/v2", Version: "v2.1.7", Replace: &debug.Module{Version: "v2.1.8"}},
		{Path: "example.com/other", Version: "v1.0.0"},
	}
	b := buildOf(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: settings, Deps: deps})
	b.Go, b.Platform = "go1.26", "linux/amd64"
	want := `mrbench dev-0123456789ab-dirty go1.26 linux/amd64
  commit 0123456789abcdef0123456789abcdef01234567 of 2026-01-02T03:04:05Z, changed since
  MongoDB driver v1.17.10
  pebble (storage of the embedded engine) v2.1.8
`
	if d := cmp.Diff(want, b.text()); d != "" {
		t.Error(d)
	}
	if b := buildOf(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: settings}); b.Version != "v1.2.3" {
		t.Errorf("a release is %s", b.Version)
	}
	if b := buildOf(&debug.BuildInfo{}); b.Version != "dev" || b.text() == "" {
		t.Errorf("without anything recorded: %+v", b)
	}
}

// A date for man pages comes from the environment, else from the commit, else it is today's.
func TestPageDate(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	a := &app{env: s.environ(nil, nil, nil)}
	s.env["SOURCE_DATE_EPOCH"] = "86400"
	if got := a.pageDate().UTC().Format(time.DateOnly); got != "1970-01-02" {
		t.Errorf("got %s", got)
	}
}
