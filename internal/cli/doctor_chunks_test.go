package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"mrbench/internal/mimic"
	"mrbench/internal/target"
)

// On a cluster doctor says whether chunks can be ranges of the key.
func TestDoctorOfChunks(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Topology: mimic.Mongos})
	s := newSession(t)
	for ns, key := range map[string]string{"test.ranged": "dim0", "test.hashed": "dim0:hashed", "test.other": "_id"} {
		if code, _, stderr := s.run("seed", "--uri", m.URI(), "--ns", ns, "--docs", "50", "--shard-key", key); code != exitOK {
			t.Fatalf("%s: %s", ns, stderr)
		}
	}
	for _, c := range []struct {
		ns    string
		state target.State
		why   string
	}{
		{"test.none", target.Refused, "not sharded"}, {"test.ranged", target.Works, "{dim0: 1}"},
		{"test.hashed", target.Refused, "hashed"}, {"test.other", target.Refused, "does not start with dim0"},
	} {
		code, out, errs := s.run("doctor", "--uri", m.URI(), "--ns", c.ns, "-o", "json")
		var d diagnosis
		if code != exitOK || json.Unmarshal([]byte(out), &d) != nil {
			t.Fatal(code, errs)
		}
		for _, x := range d.Capabilities {
			if x.Name == target.CapChunks && (x.State != c.state || !strings.Contains(x.Reason, c.why)) {
				t.Errorf("%s: %+v", c.ns, x)
			}
			if x.Name == target.CapTelemetry && !strings.Contains(x.Reason, "router") {
				t.Errorf("%+v", x)
			}
		}
	}
}
