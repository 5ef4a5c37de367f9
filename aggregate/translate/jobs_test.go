package translate_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/aggregate/translate"
	"mrbench/mr/jobfile"
)

const jobsDir = "../../testdata/jobs"

// expectation is what a job's file says in its head: // expect: same, guard, or refused ID LINE.
func expectation(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(jobsDir, name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if s, ok := strings.CutPrefix(string(line), "// expect: "); ok {
			return strings.Fields(s)
		}
	}
	t.Fatalf("%s does not say what is expected of it", name)
	return nil
}

func jobNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(jobsDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".js" {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestJobs runs each job of testdata/jobs as a mapReduce and as its pipeline, on three kinds of data.
//
// same: both answers are equal on clean and on usual data. guard: on clean data they are; on usual data the
// pipeline ends with a message, because there the job's own answer depends on chance or the job fails. On wild data a pipeline
// gives the same answer, or fails.
func TestJobs(t *testing.T) {
	e := newEngine(t)
	data := map[kind]*mongo.Collection{}
	for k, n := range map[kind]int{clean: 250, usual: 500, wild: 400} {
		data[k] = e.fill("data"+strconv.Itoa(int(k)), documents(n, k, uint64(k)+1))
	}
	translated, refused := 0, 0
	for _, name := range jobNames(t) {
		t.Run(strings.TrimSuffix(name, ".js"), func(t *testing.T) {
			want := expectation(t, name)
			j, err := jobfile.Read(os.DirFS(jobsDir), name, name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := translate.Translate(j, translate.Options{})
			if want[0] == "refused" {
				refused++
				f, ok := err.(*translate.Refusal) //nolint:errorlint // returned as it is
				if !ok || f.ID != want[1] || strconv.Itoa(f.Line) != want[2] {
					t.Fatalf("got %v, want %s at line %s", err, want[1], want[2])
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			translated++
			p, err := translate.Translate(j, translate.Options{Plain: true})
			if err != nil {
				t.Fatal(err)
			}
			for k, c := range data {
				o := e.both(c, j, r)
				err := o.same()
				switch {
				case k == wild && (o.guarded() || o.arrayKey()):
				case k == usual && want[0] == "guard":
					if !o.guarded() {
						t.Errorf("usual data: no guard: %v", err)
					}
				case err != nil:
					t.Errorf("data %d: %v\n%s", k, err, pretty(r.Pipeline()))
				case k != wild && (o.mapReduce != nil || o.Keys == 0):
					t.Errorf("data %d proves nothing: %d keys, %v", k, o.Keys, o.mapReduce)
				}
			}
			if o := e.both(data[clean], j, p); o.same() != nil || o.mapReduce != nil {
				t.Errorf("plain, clean data: %v\n%s", o.same(), pretty(p.Pipeline()))
			}
		})
	}
	if translated < 20 || translated+refused < 25 {
		t.Errorf("%d jobs translated, %d refused", translated, refused)
	}
	if !slices.Contains(jobNames(t), "count-by-field.js") {
		t.Error("where are the jobs?")
	}
}
