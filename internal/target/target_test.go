package target

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func TestRedact(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"mongodb://h:1/db?w=1", "mongodb://h:1/db?w=1"},
		{"mongodb://h:1/db?tlsCertificateKeyFilePasword=secret", "mongodb://h:1/db?tlsCertificateKeyFilePasword=***"}, // spelled wrong
		{"mongodb://u@h", "mongodb://u@h"},
		{"mongodb://u:secret@h:1,h2:2/db?w=2", "mongodb://u:***@h:1,h2:2/db?w=2"},
		{"mongodb+srv://u:secret@h", "mongodb+srv://u:***@h"},
		{"mongodb://u:se@cr:e/t?@h/db", "mongodb://u:***@h/db"},
		{"mongodb://h/?tlsCertificateKeyFilePassword=secret&w=1", "mongodb://h/?tlsCertificateKeyFilePassword=***&w=1"},
		{"mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:secret", "mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:***"},
		{"mongodb://h/?authMechanismProperties=ENVIRONMENT%3Aazure%2CAWS_SESSION_TOKEN%3Ase%2Fcret", "mongodb://h/?authMechanismProperties=ENVIRONMENT:azure,AWS_SESSION_TOKEN:***"},
		{"u:secret@h", "u:***@h"},
		{"nonsense", "nonsense"},
	} {
		if got := Redact(c.in); got != c.want {
			t.Errorf("Redact(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestErrorsKeepThePassword(t *testing.T) {
	for _, uri := range []string{
		"mongodb://u:s3cr3t@", "mongodb://u:s3cr3t@h:99999999/", "mongodb://u:s3cr3t@h/?w=-1", "mongodb://u:s3cr3t/@h", "http://u:s3cr3t@h",
		"mongodb://u:s3cr3t%zz@h", "mongodb://u:s3cr3t@127.0.0.1:1",
	} {
		_, err := Open(t.Context(), Config{URI: uri, Timeout: 50 * time.Millisecond})
		if err == nil {
			t.Fatalf("%s opened", uri)
		}
		if strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Config{URI: "mongodb://" + address, Timeout: 100 * time.Millisecond})
	u, ok := errors.AsType[*UnreachableError](err)
	if !ok || u.Address != address {
		t.Fatalf("%T %v", err, err)
	}
	if !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), address) {
		t.Error(err)
	}
}

func TestOpenStopsWhenCancelled(t *testing.T) {
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Open(ctx, Config{URI: "mongodb://127.0.0.1:1", Timeout: time.Minute}); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func TestURIError(t *testing.T) {
	_, err := Open(t.Context(), Config{URI: "localhost:27017"})
	if _, ok := errors.AsType[*URIError](err); !ok || !strings.Contains(err.Error(), "mongodb://") {
		t.Errorf("%T %v", err, err)
	}
}

func TestParseNamespace(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"test.uniques", ""},
		{"a.b.c", ""},
		{"test", "database.collection"},
		{".x", "database.collection"},
		{"x.", "database.collection"},
		{"", "database.collection"},
		{"admin.x", "refused"},
		{"config.chunks", "refused"},
		{"local.oplog.rs", "refused"},
		{"test.system.profile", "belongs to the server"},
		{"te st.x", "character"},
		{"test.a$b", "character"},
		{strings.Repeat("d", 64) + ".x", "longer"},
	} {
		ns, err := ParseNamespace(c.in)
		if c.want == "" {
			if err != nil || ns.String() != c.in {
				t.Errorf("%q: %v, %v", c.in, ns, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.in, err, c.want)
		}
	}
}
