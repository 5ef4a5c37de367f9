package translate_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"mrbench/aggregate/translate"
	"mrbench/mr/jobfile/lint"
)

// docs/jobs.md has a row for each refusal, caveat and finding, and no others.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for _, m := range []map[string]string{translate.Refusals(), translate.Caveats(), lint.Findings()} {
		maps.Copy(known, m)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell, _, _ := strings.Cut(line[2:], " |")
		for id := range strings.SplitSeq(cell, ", ") {
			id = strings.Trim(id, "`")
			if known[id] == "" {
				t.Errorf("docs/jobs.md lists %s, which nothing says", id)
			}
			listed[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		if !listed[id] {
			t.Errorf("docs/jobs.md has no line for %s", id)
		}
	}
}
