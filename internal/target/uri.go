package target

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// Redact returns a connection string without its password. Everything up to the last @ is taken for credentials, so
// that a password with characters that should have been escaped does not get through either.
func Redact(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return uri
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, _, hasPassword := strings.Cut(rest[:at], ":")
		if hasPassword {
			user += ":***"
		}
		rest = user + rest[at:]
	}
	return scheme + "://" + secretOption.ReplaceAllString(rest, "$1***")
}

// secretOption finds query options that hold secrets.
var secretOption = regexp.MustCompile(`(?i)((?:tlsCertificateKeyFilePassword=|sslClientCertificateKeyPassword=|AWS_SESSION_TOKEN:))[^&,]*`)

// withoutSecret rewords an error whose text may quote the connection string.
func withoutSecret(err error, uri string) error {
	text := strings.ReplaceAll(err.Error(), uri, Redact(uri))
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		if at := strings.LastIndex(rest, "@"); at >= 0 {
			if _, password, ok := strings.Cut(rest[:at], ":"); ok && password != "" {
				text = strings.ReplaceAll(text, password, "***")
				if plain, err := url.QueryUnescape(password); err == nil {
					text = strings.ReplaceAll(text, plain, "***")
				}
			}
		}
	}
	return errors.New(strings.TrimPrefix(text, "error parsing uri: "))
}

// reason is the shortest text that says why no server was selected.
func reason(err error) string {
	text := err.Error()
	for _, known := range []string{"connection refused", "no such host", "no such file or directory", "network is unreachable", "connection reset", "i/o timeout"} {
		if strings.Contains(text, known) {
			return known
		}
	}
	// The driver lists what it knows of each server; the last error is the part that tells.
	if _, last, ok := strings.Cut(text, "Last error: "); ok {
		last, _, _ = strings.Cut(last, " }")
		return last
	}
	return text
}
