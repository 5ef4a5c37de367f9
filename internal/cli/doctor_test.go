package cli

import (
	"encoding/json"
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
	if code, _, errs = s.run("doctor", "me"); code != exitUsage || !strings.Contains(errs, "takes no arguments") {
		t.Error(code, errs)
	}
}
