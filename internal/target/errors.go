package target

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
)

// UnreachableError means that no server answered in time.
type UnreachableError struct {
	Address string
	Timeout time.Duration
	Err     error
}

func (e *UnreachableError) Error() string {
	if dns, ok := errors.AsType[*net.DNSError](e.Err); ok && strings.HasPrefix(dns.Name, "_") {
		return fmt.Sprintf("the DNS has no servers for %s: it was asked for %s: %s; check the name and the network, or list the servers in --uri: mongodb://host1,host2",
			e.Address, dns.Name, dns.Err)
	}
	why, hint := Reason(e.Err), "check that it runs and that --uri is right, or leave --uri out to use the embedded engine"
	switch {
	case strings.Contains(why, "tls:") || strings.Contains(why, "x509:"):
		hint = tlsHint(why)
	case strings.Contains(why, "EOF") || strings.Contains(why, "connection reset"):
		hint = "a server that wants TLS, or none, or a certificate, cuts off like that: check tls and tlsCertificateKeyFile in --uri"
	case strings.Contains(why, "No primary"):
		hint = "the set has no primary now: wait for its election, or look at one member alone with directConnection=true"
	}
	return fmt.Sprintf("no server answered at %s within %v: %s; %s", e.Address, e.Timeout, why, hint)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// tlsHint is what to do about a handshake that failed.
func tlsHint(why string) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(why, p) })
	}
	switch {
	case has("certificate is valid for", "doesn't contain any IP SANs", "not valid for any names", "legacy Common Name"):
		return "the name in --uri has to be one of those in the server's certificate"
	case has("expired or is not yet valid"):
		return "the server needs a new certificate, or this machine's clock is wrong"
	case has("x509:"):
		return "check tlsCAFile in --uri: it names the authority that signed the server's certificate"
	case has("remote error:"): // the server's word about what it was shown
		return "the server wants a certificate that its authority signed: check tlsCertificateKeyFile in --uri"
	case has("first record does not look like a TLS handshake"):
		return "the server speaks without TLS: check tls in --uri"
	}
	return "check the options tls, tlsCAFile and tlsCertificateKeyFile in --uri"
}

// LoginError means that a server answered and did not let us in.
type LoginError struct {
	Address string
	// Mechanism is the connection string's authMechanism, "" the server's choice.
	Mechanism string
	Err       error
}

func (e *LoginError) Error() string {
	hint := "check user, password and authSource in --uri"
	switch strings.ToUpper(e.Mechanism) {
	case "MONGODB-X509":
		hint = "the certificate in tlsCertificateKeyFile has to be of a user of $external, named by its subject"
	case "MONGODB-AWS":
		hint = "check the credentials in --uri, in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or of this machine's role"
	case "MONGODB-OIDC":
		hint = "mrbench logs in by workload identity: authMechanismProperties=ENVIRONMENT:azure, gcp or k8s; logins by a browser are not offered"
	}
	if e.Mechanism == "" || strings.HasPrefix(strings.ToUpper(e.Mechanism), "SCRAM") {
		return fmt.Sprintf("the server at %s refused the login: %s", e.Address, hint)
	}
	return fmt.Sprintf("the login by %s at %s failed: %s (%s)", e.Mechanism, e.Address, hint, loginReason(e.Err))
}

func (e *LoginError) Unwrap() error { return e.Err }

// loginReason is what the mechanism says, without what drivers put in front.
func loginReason(err error) string {
	text := err.Error()
	if _, last, ok := strings.Cut(text, "unable to authenticate using mechanism "); ok {
		if _, last, ok := strings.Cut(last, ": "); ok {
			text = last
		}
	}
	if _, last, ok := strings.Cut(text, "auth error: "); ok {
		text = strings.TrimPrefix(last, "round trip error: ")
	}
	text, _, _ = strings.Cut(text, " }")
	return text
}

// URIError means that a connection string is not one, or that what it names can't be used.
type URIError struct {
	Err error
	// valid: it is one, and what is wrong is a file or option that it names.
	valid bool
}

func (e *URIError) Error() string {
	if e.valid {
		return fmt.Sprintf("--uri: %v", e.Err)
	}
	return fmt.Sprintf("--uri: %v; it looks like mongodb://host:27017 or mongodb+srv://host", e.Err)
}

func (e *URIError) Unwrap() error { return e.Err }

// Reason is the shortest text that says why no server was selected.
func Reason(err error) string {
	text := err.Error()
	if strings.Contains(text, "RSSecondary") && !strings.Contains(text, "RSPrimary") && !strings.Contains(text, "Last error: ") {
		return "No primary among the members that answered"
	}
	for _, known := range []string{"connection refused", "no such host", "no such file or directory", "network is unreachable", "connection reset", "i/o timeout"} {
		if strings.Contains(text, known) {
			return known
		}
	}
	// The driver lists what it knows of each server; the last error is the part that tells.
	if _, last, ok := strings.Cut(text, "Last error: "); ok {
		last, _, _ = strings.Cut(last, " }")
		return plainReason(last)
	}
	switch _, servers, ok := strings.Cut(text, "Servers: ["); {
	case !ok:
		return text
	case strings.HasPrefix(servers, "]"):
		return "what answers there is no member of that replica set"
	}
	return "no answer"
}

// inDriver is what the driver puts before an error of a connection.
var inDriver = regexp.MustCompile(`connection\([^()]*\) (?:incomplete read of message header: )?|tls: failed to verify certificate: `)

// plainReason is an error of a connection without what the driver puts before it, and said once.
func plainReason(text string) string {
	text = strings.Join(strings.Fields(inDriver.ReplaceAllString(text, "")), " ")
	if half := len(text) / 2; len(text)%2 == 0 && half > 1 && text[:half-1] == text[half+1:] && text[half-1:half+1] == ": " {
		return text[:half-1]
	}
	return text
}

// codeNoAPIVersion is the refusal of a server that wants each command to name a version of the stable API.
const codeNoAPIVersion = 498870

// wantsAPI reports whether err is the refusal of commands that name no version of the stable API.
func wantsAPI(err error) bool {
	ce, ok := errors.AsType[mongo.CommandError](err)
	return ok && ce.Code == codeNoAPIVersion
}
