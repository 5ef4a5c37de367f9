package torture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fuzzScript runs internal/torture/fuzz of a repository that holds the given files.
func fuzzScript(t *testing.T, path string, files map[string]string) (out string, ok bool) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	script, err := os.ReadFile("fuzz")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	files["internal/torture/fuzz"] = string(script)
	for name, text := range files {
		to := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(bash, filepath.Join(root, "internal/torture/fuzz"), "200x")
	cmd.Env = os.Environ()
	if path != "" {
		cmd.Env = append(cmd.Env, "PATH="+filepath.Join(root, path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	b, err := cmd.CombinedOutput()
	return string(b), err == nil
}

func target(name, body string) string {
	return "package p\n\nimport \"testing\"\n\nfunc " + name + "(f *testing.F) {\n" + body + "\n}\n"
}

// TestFuzzScriptFindsCrasher: the script fails for an input that breaks a target and for a seed that does, and
// runs the other targets all the same.
func TestFuzzScriptFindsCrasher(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program with the fuzzer")
	}
	fine := target("FuzzFine", `f.Add("a"); f.Fuzz(func(t *testing.T, s string) {})`)
	for _, c := range []struct {
		name, planted, want string
	}{
		{"input", target("FuzzPlanted", `f.Add("a"); f.Fuzz(func(t *testing.T, s string) { if s != "a" { panic("planted") } })`), "Failing input written to testdata"},
		{"seed", target("FuzzPlanted", `f.Add("a"); f.Fuzz(func(t *testing.T, s string) { if s == "a" { t.Error("planted") } })`), "failure while testing seed corpus entry"},
		{"none", target("FuzzPlanted", `f.Add("a"); f.Fuzz(func(t *testing.T, s string) {})`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, ok := fuzzScript(t, "", map[string]string{"go.mod": "module mrbench\n\ngo 1.26\n", "p/planted_test.go": c.planted, "p/fine_test.go": fine})
			if ok != (c.want == "") || !strings.Contains(out, c.want) {
				t.Errorf("passes: %v\n%s", ok, out)
			}
			if !strings.Contains(out, "FuzzFine           execs: ") {
				t.Errorf("the other target did not run:\n%s", out)
			}
		})
	}
}

// TestFuzzScriptOutOfTime: the fuzzer's own failure at the end of its time is none, others are.
func TestFuzzScriptOutOfTime(t *testing.T) {
	const late = "fuzz: elapsed: 2s, execs: 10 (5/sec), new interesting: 0 (total: 1)\n--- FAIL: FuzzX (2.01s)\n    context deadline exceeded\nFAIL\n"
	const found = "--- FAIL: FuzzX (0.1s)\n    --- FAIL: FuzzX (0.00s)\n        panic: oh\n    Failing input written to testdata/fuzz/FuzzX/1\n    context deadline exceeded\nFAIL\n"
	const odd = "--- FAIL: FuzzX (2.01s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n"
	const good = "fuzz: elapsed: 2s, execs: 77 (38/sec), new interesting: 0 (total: 1)\nPASS\n"
	for _, c := range []struct {
		name, first, second string
		ok                  bool
		want                string
	}{
		{"once", late, good, true, "execs: 77 (run again"},
		{"twice", late, late, true, "out of time twice"},
		{"then found", late, found, false, "Failing input"},
		{"found", found, good, false, "Failing input"},
		{"hung", odd, good, false, "fuzzing process hung"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A go command whose test binary says what the case says, and passes if it ends in PASS.
			bin := "#!/bin/sh\nmark=$(dirname \"$0\")/ran\nif [ -e \"$mark\" ]; then cat <<'END'\n" + c.second + "END\n" + exit(c.second) +
				"else touch \"$mark\"; cat <<'END'\n" + c.first + "END\n" + exit(c.first) + "fi\n"
			stub := "#!/bin/sh\ncase \"$1\" in\nenv) dirname \"$(dirname \"$0\")\" ;;\nlist) echo \"$PWD/p\" ;;\n" +
				"test) for a; do [ \"$prev\" = -o ] && out=$a; prev=$a; done; cat >\"$out\" <<'BINARY'\n" + bin + "BINARY\nchmod +x \"$out\" ;;\nesac\n"
			out, ok := fuzzScript(t, "bin", map[string]string{"bin/go": stub, "p/x_test.go": target("FuzzX", "")})
			if ok != c.ok || !strings.Contains(out, c.want) {
				t.Errorf("passes: %v\n%s", ok, out)
			}
		})
	}
}

func exit(output string) string {
	if strings.HasSuffix(output, "PASS\n") {
		return "exit 0\n"
	}
	return "exit 1\n"
}
