package target

import (
	"errors"
	"testing"
)

// What the driver knows of servers that did not answer is told in a few words.
func TestReason(t *testing.T) {
	t.Parallel()
	const before = "isMaster: server selection error: server selection timeout, current topology: { Type: ReplicaSetNoPrimary, Servers: ["
	for text, want := range map[string]string{
		before + "] }": "what answers there is no member of that replica set",
		before + "{ Addr: h:1, Type: Unknown }, ] }":                                                         "no answer",
		before + "{ Addr: h:1, Type: Unknown, Last error: dial tcp: lookup h: no such host }, ] }":           "no such host",
		before + "{ Addr: h:1, Type: Unknown, Last error: x509: certificate signed by unknown authority } ]": "x509: certificate signed by unknown authority",
		before + "{ Addr: h:1, Type: RSSecondary, Average RTT: 1 }, ] }":                                     "No primary among the members that answered",
		"serverStatus: context deadline exceeded":                                                            "serverStatus: context deadline exceeded",
	} {
		if got := Reason(errors.New(text)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// What the driver says of a connection is told once, and without its numbers.
func TestPlainReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"connection(h:1[-25]) socket was unexpectedly closed: EOF: connection(h:1[-25]) socket was unexpectedly closed: EOF": "socket was unexpectedly closed: EOF",
		"connection(h:1[-31]) incomplete read of message header: remote error: tls: bad certificate":                         "remote error: tls: bad certificate",
		"tls: failed to verify certificate: x509: certificate signed by unknown authority":                                   "x509: certificate signed by unknown authority",
		"aa: aa": "aa", "aa: ab": "aa: ab", ": ": ":", "": "",
	} {
		if got := plainReason(text); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
