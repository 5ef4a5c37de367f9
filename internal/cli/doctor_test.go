package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"mrbench/internal/target"
)

func TestDoctor(t *testing.T) {
	s := newSession(t)
	s.columns = 80
	code, out, errs := s.run("doctor")
	if code != 0 {
		t.Fatal(code, errs)
	}
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	code, out, errs = s.run("doctor", "-o", "json")
	if code != 0 {
		t.Fatal(code, errs)
	}
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	states := map[string]target.State{}
	for _, c := range d.Capabilities {
		states[c.Name] = c.State
	}
	if states[target.CapMapReduce] != target.Works || states[target.CapChunks] != target.Refused || len(d.Outlook) == 0 || d.Limits.Batch != 100_000 {
		t.Errorf("%+v", d)
	}
	if code, _, errs = s.run("doctor", "a", "b"); code != exitUsage || !strings.Contains(errs, "takes one job") {
		t.Error(code, errs)
	}
}

func TestDoctorOfAJob(t *testing.T) {
	s := newSession(t)
	ask := func(file string) diagnosis {
		t.Helper()
		path, err := filepath.Abs("../../testdata/jobs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := s.run("doctor", path, "-o", "json")
		if code != 0 {
			t.Fatal(code, errs)
		}
		var d diagnosis
		if err := json.Unmarshal([]byte(out), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		file     string
		pipeline bool
		says     string
	}{
		{"sum-by-group.js", true, ""},
		{"refused-values-length.js", false, "reduce-counts-values"},
	} {
		d := ask(c.file)
		if d.Job == nil || d.Job.Pipeline != c.pipeline || !strings.Contains(d.Job.Refusal, c.says) || c.pipeline == (len(d.Job.Lint) > 0) {
			t.Errorf("%s: %+v", c.file, d.Job)
		}
		for _, change := range d.Outlook { // it has neither jsMode nor a sharded output
			if change.JSMode || change.Sharded {
				t.Errorf("%s: %+v", c.file, change)
			}
		}
	}
	if code, _, errs := s.run("doctor", "none.js"); code != exitUsage || !strings.Contains(errs, "none.js") {
		t.Error(code, errs)
	}
}
