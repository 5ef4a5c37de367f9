package command

import "testing"

// TestHelloThatWaits: nobody is kept waiting, and half a request to wait is refused.
func TestHelloThatWaits(t *testing.T) {
	c := testServer(t, t.Logf).NewSession("test")
	defer c.Close()
	version := `"topologyVersion": {"processId": {"$oid": "0123456789abcdef01234567"}, "counter": {"$numberLong": "0"}}`
	for cmd, code := range map[string]int32{
		`{"hello": 1, ` + version + `}`:                                    31368,
		`{"hello": 1, "maxAwaitTimeMS": 100}`:                              31368,
		`{"hello": 1, ` + version + `, "maxAwaitTimeMS": 1000000000}`:      0,
		`{"isMaster": true, ` + version + `, "maxAwaitTimeMS": 100000000}`: 0,
	} {
		r := ask(t, c, jd(t, cmd))
		if got, _ := r.Lookup("code").Int32OK(); got != code || code == 0 && !r.Lookup("topologyVersion").IsZero() {
			t.Errorf("%s: %s", cmd, r)
		}
	}
}
