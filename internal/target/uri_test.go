package target

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Connection strings of every kind pass, and what is wrong with one is said without asking anybody.
func TestCheckURI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ uri, says string }{
		{"", ""},
		{"mongodb://a,b,c/?replicaSet=rs0&readPreference=secondaryPreferred&readPreferenceTags=dc:east&maxStalenessSeconds=120&readConcernLevel=majority", ""},
		{"mongodb://u:p@a/db?authSource=admin&w=majority&wtimeoutMS=1000&journal=true&retryWrites=false&compressors=zstd,snappy&appName=mine", ""},
		{"mongodb+srv://u:p@cluster0.abc.mongodb.net/?retryWrites=true&w=majority", ""},
		{"mongodb+srv://cluster0.abc.mongodb.net/db?srvMaxHosts=2&srvServiceName=custom&tls=false", ""},
		{"mongodb+srv://cluster0.abc.mongodb.net/?srvMaxHosts=2", ""},
		{"mongodb://lb.example.net/?loadBalanced=true", ""},
		{"mongodb://CN=ann@h/?tls=true&authMechanism=MONGODB-X509&authSource=$external", ""},
		{"mongodb://key:secret@h/?authMechanism=MONGODB-AWS&authSource=%24external&authMechanismProperties=AWS_SESSION_TOKEN:abc", ""},
		{"mongodb://h/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:azure,TOKEN_RESOURCE:api", ""},
		{"mongodb://h/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:k8s", ""},
		{"mongodb://%2Ftmp%2Fmongodb.sock", ""},
		{"mongodb+srv://a.example.net:27017", "without a port"},
		{"mongodb+srv://a.example.net,b.example.net", "names one host"},
		{"mongodb+srv://u:p@a.example.net/?w=-1", "w"},
		{"mongodb://h/?readPreference=near", ""}, // the driver refuses it when it connects
		{"mongodb://a,b/?directConnection=true", "direct connection"},
		{"localhost:27017", "it looks like mongodb://host:27017"},
	} {
		began := time.Now()
		err := CheckURI(c.uri)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, not %q", c.uri, err, c.says)
		}
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("%s took %v: was a name looked up?", c.uri, d)
		}
	}
}

// What a connection string names and can't be used is told from a server that does not answer.
func TestUnusableURI(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none.pem")
	bad := filepath.Join(t.TempDir(), "bad.pem")
	if err := os.WriteFile(bad, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ uri, says string }{
		{"mongodb://h/?tls=true&tlsCAFile=" + none, "no such file"},
		{"mongodb://h/?tls=true&tlsCertificateKeyFile=" + bad + "&tlsCertificateKeyFilePassword=s3cr3t", "tls"},
		{"mongodb://h/?readPreference=near", "near"},
	} {
		_, err := Open(t.Context(), Config{URI: c.uri, Timeout: 50 * time.Millisecond})
		if _, ok := errors.AsType[*URIError](err); !ok || !strings.Contains(err.Error(), c.says) && c.says != "tls" || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %T %v", c.uri, err, err)
		}
	}
	_, err := Open(t.Context(), Config{URI: "mongodb+srv://u:s3cr3t@mrbench.invalid/?retryWrites=true", Timeout: time.Second})
	if u, ok := errors.AsType[*UnreachableError](err); !ok || u.Address != "mrbench.invalid" || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("%T %v", err, err)
	}
}

// The connection string's own name, timeout, reads and writes are kept.
func TestReadsOfTheURI(t *testing.T) {
	t.Parallel()
	x := &Target{}
	c := Config{Version: "1", Timeout: DefaultTimeout}
	o, err := x.read(c, "mongodb://h/?appName=mine&serverSelectionTimeoutMS=1500&readPreference=nearest&readPreferenceTags=dc:east&maxStalenessSeconds=90&readConcernLevel=majority&w=2&journal=true")
	if err != nil {
		t.Fatal(err)
	}
	w := x.Wishes
	if *o.AppName != "mine" || x.timeout != 1500*time.Millisecond || w.ReadPreference.String() != "nearest(maxStaleness=1m30s tagSet=dc=east)" || w.ReadConcern.Level != "majority" || w.WriteConcern.W != 2 {
		t.Errorf("%v %v %+v", *o.AppName, x.timeout, w)
	}
	if o.ReadPreference.String() != "primary" || o.ReadConcern != nil || o.WriteConcern != w.WriteConcern {
		t.Errorf("the client reads from %v with %v and writes with %v", o.ReadPreference, o.ReadConcern, o.WriteConcern)
	}
	x = &Target{}
	if o, err = x.read(c, "mongodb://h/?w=0"); err != nil || *o.AppName != "mrbench 1" || o.WriteConcern != nil || x.Wishes.WriteConcern.W != 0 || x.timeout != 0 {
		t.Errorf("%v %v %+v", err, o.WriteConcern, x.Wishes)
	}
	if _, err = x.read(Config{Version: "1", Timeout: time.Second}, "mongodb://h/?serverSelectionTimeoutMS=1500"); err != nil || x.timeout != 0 {
		t.Errorf("%v %v", err, x.timeout)
	}
}

func TestScrub(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, uri, want string }{
		{`bad "p\"ä%/s": p%22%C3%A4%25%2Fs`, "mongodb://u:p%22%C3%A4%25%2Fs@h", `bad "***": ***`},
		{"a cat sat: a", "mongodb://u:a@h", "*** cat sat: ***"},
		{"token tok/en1", "mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:tok%2Fen1", "token ***"},
		{`"mongodb://u:other@h" is one too many`, "", `"mongodb://u:***@h" is one too many`},
		{"nothing", "mongodb://h", "nothing"},
	} {
		if got := Scrub(c.text, c.uri); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}
