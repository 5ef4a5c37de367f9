package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mimic"
)

// A document without the shard key ends a load before 4.4, by its place and with what to do; later versions take it.
func TestSeedOfDocumentsWithoutTheShardKey(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 400 {
		if i == 350 {
			lines.WriteString("{\"name\": \"none\"}\n")
			continue
		}
		fmt.Fprintf(&lines, "{\"k\": %d}\n", i)
	}
	const template = `{"k": {"$gen": "int", "min": 1, "max": 1000, "missing": 0.2}}`
	const arrays = `{"k": {"$gen": "array", "of": {"$gen": "int", "min": 1, "max": 9}, "min": 1, "max": 2, "missing": 0.5}}`
	for _, c := range []struct {
		name, version string
		args          []string
		says          []string // nil: all is loaded
	}{
		{"a file, 4.0", "4.0.3", []string{"--from", "x.ndjson"}, []string{"x.ndjson: line 351, byte 3740 was refused", "(code 61, 1 in its batch)", `name: "none" } does not contain shard key for pattern { k: 1 }`}},
		{"a file in order, 4.0", "4.0.3", []string{"--from", "x.ndjson", "--ordered"}, []string{"x.ndjson: line 351, byte 3740 was refused"}},
		{"a file, 5.0", "5.0.3", []string{"--from", "x.ndjson"}, nil},
		{"generated, 4.0", "4.0.3", []string{"--template", "t.json", "--docs", "400"}, []string{"test.x: document ", "(code 61, ", "does not contain shard key for pattern { k: 1 }"}},
		{"an array, 5.0", "5.0.3", []string{"--template", "a.json", "--docs", "400"}, []string{"test.x: document ", "(code 61, ", "Shard key cannot contain array values"}},
		{"generated, 4.4", "4.4.29", []string{"--template", "t.json", "--docs", "400"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Version: c.version, Topology: mimic.Mongos})
			s := newSession(t)
			for name, text := range map[string]string{"x.ndjson": lines.String(), "t.json": template, "a.json": arrays} {
				if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := append([]string{"seed", "--uri", m.URI(), "--ns", "test.x", "--shard-key", "k", "--batch", "50", "--writers", "2"}, c.args...)
			code, _, stderr := s.run(args...)
			if c.says == nil {
				n, err := m.Inside().Database("test").Collection("x").CountDocuments(t.Context(), bson.D{})
				if code != exitOK || n != 400 || err != nil {
					t.Errorf("exit code %d, %d documents: %s", code, n, stderr)
				}
				return
			}
			if code != exitFailed {
				t.Errorf("exit code %d", code)
			}
			for _, part := range append(c.says, "before MongoDB 4.4 every document must have all fields of the shard key, and in no version may one be an array: mend the document") {
				if !strings.Contains(stderr, part) {
					t.Errorf("no %q in %s", part, stderr)
				}
			}
		})
	}
}
