package cli

import (
	"testing"

	"mrbench/internal/mimic"
)

// A server is asked once what it is and can do, however many rows a run has.
func TestServerIsAskedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]mimic.Config{"standalone": {}, "set": {Version: "4.4.29", Topology: mimic.ReplicaSet}, "router": {Topology: mimic.Mongos}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, c)
			uniques(t, m, 200)
			asked := func(rows string) map[string]int {
				before := len(m.Commands())
				if code, _, stderr := newSession(t).run("run", "--uri", m.URI(), "--rows", rows, "--ranges", "2", "--sample-every", "0"); code != exitOK {
					t.Fatal(stderr)
				}
				n := map[string]int{}
				for _, c := range m.Commands()[before:] {
					n[c.Name]++
				}
				return n
			}
			few, many := asked("agg"), asked("agg,agg-ranges,mr,mr-ranges")
			for _, probe := range []string{"buildInfo", "connectionStatus", "getParameter", "hostInfo", "replSetGetStatus", "getCmdLineOpts", "listShards", "balancerStatus"} {
				if many[probe] > few[probe] {
					t.Errorf("%s: %d times for four rows, %d for one", probe, many[probe], few[probe])
				}
			}
			for _, probe := range []string{"buildInfo", "connectionStatus"} {
				if few[probe] != 1 {
					t.Errorf("%s: %d times", probe, few[probe])
				}
			}
		})
	}
}
