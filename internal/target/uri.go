package target

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/x/mongo/driver/connstring"
)

// shownOptions are the options of connection strings whose values are no secrets. Of others, also of those that are spelled
// wrong, values are never shown.
var shownOptions = map[string]bool{ //nolint:gochecknoglobals // a constant
	"appname": true, "authmechanism": true, "authsource": true, "compressors": true, "connect": true, "connecttimeoutms": true,
	"directconnection": true, "gssapiservicename": true, "heartbeatfrequencyms": true, "heartbeatintervalms": true, "j": true,
	"journal": true, "loadbalanced": true, "localthresholdms": true, "maxconnecting": true, "maxidletimems": true, "maxpoolsize": true,
	"maxstaleness": true, "maxstalenessseconds": true, "minpoolsize": true, "readconcernlevel": true, "readpreference": true,
	"readpreferencetags": true, "replicaset": true, "retryreads": true, "retrywrites": true, "safe": true, "servermonitoringmode": true,
	"serverselectiontimeoutms": true, "sockettimeoutms": true, "srvmaxhosts": true, "srvservicename": true, "ssl": true,
	"sslcertificateauthorityfile": true, "sslclientcertificatekeyfile": true, "sslinsecure": true, "timeoutms": true, "tls": true,
	"tlsallowinvalidcertificates": true, "tlsallowinvalidhostnames": true, "tlscafile": true, "tlscertificatefile": true,
	"tlscertificatekeyfile": true, "tlsdisableocspendpointcheck": true, "tlsinsecure": true, "tlsprivatekeyfile": true,
	"uuidrepresentation": true, "w": true, "wtimeout": true, "wtimeoutms": true, "zlibcompressionlevel": true, "zstdcompressionlevel": true,
}

// shownProperties are those of authMechanismProperties.
var shownProperties = []string{"SERVICE_NAME", "SERVICE_REALM", "SERVICE_HOST", "CANONICALIZE_HOST_NAME", "ENVIRONMENT", "TOKEN_RESOURCE"} //nolint:gochecknoglobals // a constant

// uriParts are those of a connection string, as they are written.
type uriParts struct {
	scheme             string // with ://, "" none
	user, password     string
	hasUser, hasSecret bool
	hosts              string // and the database
	query              string // without ?
	hasQuery           bool
}

// partsOf cuts a connection string, also one that is none. Everything up to the last @ is taken for credentials, so that a
// password with characters that should have been escaped is found too.
func partsOf(uri string) (p uriParts) {
	rest := uri
	if scheme, after, ok := strings.Cut(uri, "://"); ok {
		p.scheme, rest = scheme+"://", after
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		p.hasUser = true
		p.user, p.password, p.hasSecret = strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
	}
	p.hosts, p.query, p.hasQuery = strings.Cut(rest, "?")
	return p
}

// options calls f for the name and value of each option, as they are written; it returns the query with what f makes of the values.
func (p uriParts) options(f func(name, value string) string) string {
	var out strings.Builder
	for len(p.query) > 0 {
		pair, end := p.query, ""
		if i := strings.IndexAny(p.query, "&;"); i >= 0 {
			pair, end = p.query[:i], p.query[i:i+1]
		}
		p.query = p.query[len(pair)+len(end):]
		name, value, ok := strings.Cut(pair, "=")
		out.WriteString(name)
		if ok {
			out.WriteString("=" + f(name, value))
		}
		out.WriteString(end)
	}
	return out.String()
}

// secretsIn hides what is secret of an option's value and passes each secret to found.
func secretsIn(name, value string, found func(string)) string {
	name = strings.ToLower(unescape(name))
	switch {
	case shownOptions[name]:
		return value
	case name != "authmechanismproperties":
		found(value)
		return "***"
	}
	var words []string
	for word := range strings.SplitSeq(unescape(value), ",") {
		property, secret, ok := strings.Cut(word, ":")
		if ok && !slices.Contains(shownProperties, strings.ToUpper(property)) {
			found(secret)
			word = property + ":***"
		}
		words = append(words, word)
	}
	return strings.Join(words, ",")
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// Redact returns a connection string without its password and other secrets.
func Redact(uri string) string {
	p := partsOf(uri)
	text := p.scheme
	if p.hasUser {
		text += p.user
		if p.hasSecret {
			text += ":***"
		}
		text += "@"
	}
	text += p.hosts
	if p.hasQuery {
		text += "?" + p.options(func(name, value string) string { return secretsIn(name, value, func(string) {}) })
	}
	return text
}

// UserOf is the user of a connection string with the database it is of, as servers name it; "" when there is none.
func UserOf(uri string) string {
	p := partsOf(uri)
	if !p.hasUser {
		return ""
	}
	db := "admin"
	if _, name, ok := strings.Cut(p.hosts, "/"); ok && name != "" {
		db = unescape(name)
	}
	p.options(func(name, value string) string {
		if strings.EqualFold(unescape(name), "authSource") {
			db = unescape(value)
		}
		return value
	})
	return unescape(p.user) + "@" + db
}

// anyURI finds connection strings within a text.
var anyURI = regexp.MustCompile(`(?i)mongodb(\+srv)?://\S*`)

// Scrub takes the secrets of a connection string out of a text, in whatever form they are, and those of every other connection string in it.
func Scrub(text, uri string) string {
	if uri != "" {
		text = strings.ReplaceAll(text, uri, Redact(uri))
		for _, s := range secrets(uri) {
			text = hide(text, s)
		}
	}
	return anyURI.ReplaceAllStringFunc(text, Redact)
}

// secrets are those of a connection string, in all the forms that a text may have them in, longest first.
func secrets(uri string) (all []string) {
	p := partsOf(uri)
	add := func(s string) {
		plain := []string{s, unescape(s)}
		if path, err := url.PathUnescape(s); err == nil {
			plain = append(plain, path)
		}
		for _, s := range plain {
			quoted := strconv.Quote(s)
			all = append(all, s, url.QueryEscape(s), url.PathEscape(s), quoted[1:len(quoted)-1])
			if b, err := json.Marshal(s); err == nil {
				all = append(all, string(b[1:len(b)-1]))
			}
		}
	}
	if p.hasSecret {
		add(p.password)
	}
	p.options(func(name, value string) string { return secretsIn(name, value, add) })
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}

// hide replaces a secret. A short one is replaced only where it stands by itself: it may be a part of any word.
func hide(text, secret string) string {
	if utf8.RuneCountInString(secret) >= 4 {
		return strings.ReplaceAll(text, secret, "***")
	}
	r, err := regexp.Compile(`(^|[^\pL\pN])` + regexp.QuoteMeta(secret) + `($|[^\pL\pN])`)
	if err != nil {
		return text
	}
	return r.ReplaceAllString(text, "${1}***${2}")
}

// withoutSecret rewords an error whose text may quote the connection string.
func withoutSecret(err error, uri string) error {
	text := Scrub(err.Error(), uri)
	for _, p := range []string{"error parsing uri: ", "error validating uri: "} {
		text = strings.TrimPrefix(text, p)
	}
	for _, p := range []string{"failed to find ", "no password provided", "x509: ", "tls: ", "pkcs8: "} {
		if strings.HasPrefix(text, p) { // the driver does not say which file it means
			text = "tlsCertificateKeyFile: " + strings.TrimPrefix(text, "x509: ")
			switch {
			case strings.Contains(text, "password"), strings.Contains(text, "failed to parse private key") && strings.Contains(uri, "tlsCertificateKeyFilePassword"):
				text += ": check tlsCertificateKeyFilePassword"
			case strings.Contains(text, "pkcs8: "): // of a scheme that the driver does not know
				text += ": encrypt the key anew, with openssl pkcs8 -topk8 -v2 aes-256-cbc"
			}
			break
		}
	}
	return errors.New(text)
}

const srvScheme = "mongodb+srv://"

// CheckURI returns a *URIError when a connection string is not one. An empty one is fine. No name is looked up.
func CheckURI(uri string) error {
	if uri == "" {
		return nil
	}
	check := uri
	if p := partsOf(uri); strings.EqualFold(p.scheme, srvScheme) {
		// The driver would ask the DNS for a list of hosts: all else can be checked without.
		check = "mongodb://" + uri[len(srvScheme):]
		if p.hasQuery {
			kept := srvOption.ReplaceAllString(p.query, "")
			check = strings.TrimSuffix(check, p.query) + kept
		}
		if host, _, _ := strings.Cut(p.hosts, "/"); strings.ContainsAny(host, ",:") {
			return &URIError{Err: errors.New("with mongodb+srv it names one host, without a port: its servers are found by DNS")}
		}
	}
	if _, err := connstring.ParseAndValidate(check); err != nil {
		return &URIError{Err: withoutSecret(err, uri)}
	}
	return nil
}

// srvOption finds those options that only connection strings with SRV have.
var srvOption = regexp.MustCompile(`(?i)(?:srvMaxHosts|srvServiceName)=[^&;]*[&;]?`)
