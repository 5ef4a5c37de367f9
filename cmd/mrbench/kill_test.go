package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"mrbench/internal/throwaway/fakemongod"
)

// TestMain lets the test's own program be mrbench, so that a process of it can be killed.
func TestMain(m *testing.M) {
	fakemongod.Main()
	if os.Getenv("MRBENCH_BE_MRBENCH") != "" {
		main()
	}
	os.Exit(m.Run())
}

func mrbench(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, append(args, "--data-dir", filepath.Join(dir, "data"))...)
	c.Dir = dir
	c.Env = append(os.Environ(), "MRBENCH_BE_MRBENCH=1")
	return c
}

// A load whose process is killed again and again, and resumed, loads each document once. Half of
// the documents have no _id, so that a document which is loaded twice would be there twice.
func TestKilledLoadIsResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	const docs = 60_000
	for _, name := range []string{"d.ndjson", "d.json.gz"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var b strings.Builder
			b.WriteString(map[bool]string{true: "["}[strings.Contains(name, ".json.")])
			sep := map[bool]string{true: ",\n", false: "\n"}[strings.Contains(name, ".json.")]
			for i := range docs {
				if i > 0 {
					b.WriteString(sep)
				}
				id := ""
				if i%2 == 0 {
					id = fmt.Sprintf(`"_id":%d,`, i)
				}
				fmt.Fprintf(&b, `{%s"dim0":%d,"text":"%s"}`, id, i, strings.Repeat("x", 150))
			}
			b.WriteString(map[bool]string{true: "]"}[strings.Contains(name, ".json.")])
			f, err := os.Create(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, ".gz") {
				z := gzip.NewWriter(f)
				_, err = z.Write([]byte(b.String()))
				_ = z.Close()
			} else {
				_, err = f.WriteString(b.String())
			}
			if cerr := f.Close(); err != nil || cerr != nil {
				t.Fatal(err, cerr)
			}
			args := []string{"seed", "--from", name, "--batch", "100", "--writers", "3", "-o", "json"}
			kills := 0
			for {
				c := mrbench(t, dir, args...)
				var out, errs strings.Builder
				c.Stdout, c.Stderr = &out, &errs
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				if kills < 8 {
					time.AfterFunc(time.Duration(100+rand.IntN(700))*time.Millisecond, func() { _ = c.Process.Kill() })
				}
				err := c.Wait()
				if err == nil {
					var r struct{ Documents, Earlier, Counted int64 }
					if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
						t.Fatal(err)
					}
					if r.Documents+r.Earlier != docs || r.Counted != docs {
						t.Errorf("after %d kills: %+v", kills, r)
					}
					t.Logf("%d kills, the last part had %d documents", kills, r.Documents)
					break
				}
				if c.ProcessState.Exited() {
					// It was killed before it made the collection or the checkpoint, or asks to be resumed.
					switch text := errs.String(); {
					case strings.Contains(text, "no unfinished load"):
						args = without(args, "--resume")
					case strings.Contains(text, "go on with --resume"):
						args = append(without(args, "--resume"), "--resume")
					case strings.Contains(text, "already holds 60,000 documents; name another collection"):
						t.Logf("%d kills, the last one when all was loaded", kills)
						return
					default:
						t.Fatalf("after %d kills: %s", kills, text)
					}
					continue
				}
				kills++
				args = append(without(args, "--resume"), "--resume")
			}
			// The index shows each value once: none is missing and none is there twice.
			c := mrbench(t, dir, "run", "--create-index", "--rows", "agg", "-o", "json", "--quiet")
			out, err := c.Output()
			if err != nil || !strings.Contains(string(out), fmt.Sprintf(`"keys": %d`, docs)) {
				t.Errorf("%v: %.2000s", err, out)
			}
		})
	}
}

func without(list []string, word string) []string {
	var rest []string
	for _, w := range list {
		if w != word {
			rest = append(rest, w)
		}
	}
	return rest
}
