package target

import "testing"

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
