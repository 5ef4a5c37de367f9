package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mimic"
	"mrbench/internal/mongofake"
)

// authority signs certificates for a test.
type authority struct {
	t    *testing.T
	dir  string
	file string // its own certificate
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	n    int64 // certificates so far
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	template := x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	raw, key := a.sign(&template)
	var err error
	if a.cert, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	a.key = key
	a.file = a.write("ca.pem", &pem.Block{Type: "CERTIFICATE", Bytes: raw})
	return a
}

// sign makes a certificate with a key of its own, valid from an hour ago unless the template says when.
func (a *authority) sign(template *x509.Certificate) (raw []byte, key *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.n++
	template.SerialNumber = big.NewInt(a.n)
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	template.NotBefore = template.NotAfter.Add(-2 * time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	if raw, err = x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer); err != nil {
		a.t.Fatal(err)
	}
	return raw, key
}

func (a *authority) write(name string, blocks ...*pem.Block) string {
	a.t.Helper()
	var text []byte
	for _, b := range blocks {
		text = append(text, pem.EncodeToMemory(b)...)
	}
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// signClient makes a certificate of a client.
func (a *authority) signClient(name string) (raw []byte, key *ecdsa.PrivateKey) {
	a.t.Helper()
	return a.sign(&x509.Certificate{
		Subject:  pkix.Name{CommonName: name, OrganizationalUnit: []string{"reports"}},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// client writes a certificate of a client and its key, encrypted in the old way when there is a password, to one file.
func (a *authority) client(name, password string) string {
	a.t.Helper()
	raw, key := a.signClient(name)
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	block := &pem.Block{Type: "EC PRIVATE KEY", Bytes: der}
	if password != "" {
		//lint:ignore SA1019 keys that servers' tools encrypted like that are in use
		if block, err = x509.EncryptPEMBlock(rand.Reader, block.Type, der, []byte(password), x509.PEMCipherAES256); err != nil { //nolint:staticcheck // see above
			a.t.Fatal(err)
		}
	}
	return a.write(name+".pem", &pem.Block{Type: "CERTIFICATE", Bytes: raw}, block)
}

// server is what a server for 127.0.0.1 shows, that wants clients' certificates.
func (a *authority) server(change func(*x509.Certificate)) *tls.Config {
	a.t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	raw, key := a.sign(template)
	known := x509.NewCertPool()
	known.AddCert(a.cert)
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known,
	}
}

// behindTLS has a server behind TLS until the test ends, and returns the address to connect to.
func behindTLS(t *testing.T, c *tls.Config, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); _ = l.Close(); work.Wait() })
	work.Go(func() {
		for {
			front, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				secure := tls.Server(front, c)
				defer secure.Close()
				stop := context.AfterFunc(ctx, func() { _ = front.Close() })
				defer stop()
				if secure.HandshakeContext(ctx) != nil {
					return
				}
				back, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
				if err != nil {
					return
				}
				work.Go(func() { _, _ = io.Copy(back, secure); _ = back.Close() })
				_, _ = io.Copy(secure, back)
				_ = back.Close()
			})
		}
	})
	return l.Addr().String()
}

// A server behind TLS is worked on with certificates, and what is wrong with one is said in a line.
func TestTLS(t *testing.T) {
	t.Parallel()
	const password = "k3y-s3cr3t"
	ours, others := newAuthority(t), newAuthority(t)
	m := mimic.Start(t, mimic.Config{})
	uniques(t, m, 100)
	plain, err := url.Parse(m.URI())
	if err != nil {
		t.Fatal(err)
	}
	normal := behindTLS(t, ours.server(nil), m.URI())
	old := ours.server(nil)
	old.MaxVersion = tls.VersionTLS12
	misnamed := ours.server(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"db.example.net"} })
	expired := ours.server(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) })
	ann, locked, stranger := ours.client("ann", ""), ours.client("locked", password), others.client("stranger", "")
	pkcs8, older := ours.lockedClient("pkcs8", password), ours.write("older.pem", olderKey(t))
	ca := "tls=true&tlsCAFile=" + ours.file
	none := filepath.Join(ours.dir, "none.pem")
	for _, c := range []struct {
		name, host, query string
		code              int
		says              []string
	}{
		{"both sides", normal, ca + "&tlsCertificateKeyFile=" + ann, exitOK, nil},
		{"TLS 1.2", behindTLS(t, old, m.URI()), ca + "&tlsCertificateKeyFile=" + ann, exitOK, nil},
		{"an encrypted key", normal, ca + "&tlsCertificateKeyFile=" + locked + "&tlsCertificateKeyFilePassword=" + password, exitOK, nil},
		{"a wrong password of it", normal, ca + "&tlsCertificateKeyFile=" + locked + "&tlsCertificateKeyFilePassword=wr0ng-s3cr3t", exitUsage, []string{"password"}},
		{"no password of it", normal, ca + "&tlsCertificateKeyFile=" + locked, exitUsage, []string{"password"}},
		{"an encrypted key of PKCS #8", normal, ca + "&tlsCertificateKeyFile=" + pkcs8 + "&tlsCertificateKeyFilePassword=" + password, exitOK, nil},
		{"a wrong password of that", normal, ca + "&tlsCertificateKeyFile=" + pkcs8 + "&tlsCertificateKeyFilePassword=wr0ng-s3cr3t", exitUsage, []string{"incorrect password: check tlsCertificateKeyFilePassword"}},
		{"no password of that", normal, ca + "&tlsCertificateKeyFile=" + pkcs8, exitUsage, []string{"check tlsCertificateKeyFilePassword"}},
		{"an older encryption", normal, ca + "&tlsCertificateKeyFile=" + older + "&tlsCertificateKeyFilePassword=" + password, exitUsage, []string{"tlsCertificateKeyFile: ", "openssl pkcs8 -topk8 -v2 aes-256-cbc"}},
		{"another authority", normal, "tls=true&tlsCAFile=" + others.file + "&tlsCertificateKeyFile=" + ann, exitUnreachable, []string{"unknown authority", "tlsCAFile"}},
		{"the system's authorities", normal, "tls=true&tlsCertificateKeyFile=" + ann, exitUnreachable, []string{"x509:", "tlsCAFile"}},
		{"another name", behindTLS(t, misnamed, m.URI()), ca + "&tlsCertificateKeyFile=" + ann, exitUnreachable, []string{"127.0.0.1", "the name in --uri"}},
		{"an expired certificate", behindTLS(t, expired, m.URI()), ca + "&tlsCertificateKeyFile=" + ann, exitUnreachable, []string{"expired", "clock"}},
		{"no certificate of the client", normal, ca, exitUnreachable, []string{"tlsCertificateKeyFile"}},
		{"none, in TLS 1.2", behindTLS(t, old, m.URI()), ca, exitUnreachable, []string{"tlsCertificateKeyFile"}},
		{"one that the server does not know", normal, ca + "&tlsCertificateKeyFile=" + stranger, exitUnreachable, []string{"unknown certificate authority; ", "tlsCertificateKeyFile"}},
		{"no such file of an authority", normal, "tls=true&tlsCAFile=" + none, exitUsage, []string{"no such file", "none.pem"}},
		{"no such file", normal, ca + "&tlsCertificateKeyFile=" + none, exitUsage, []string{"no such file", "none.pem"}},
		{"no key in the file", normal, ca + "&tlsCertificateKeyFile=" + ours.file, exitUsage, []string{"PRIVATE KEY", "tlsCertificateKeyFile"}},
		{"without TLS", normal, "", exitUnreachable, []string{"tls"}},
		{"the server has none", plain.Host, ca, exitUnreachable, []string{"tls"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			uri := "mongodb://" + c.host + "/?" + c.query
			wait := []string{"--timeout", "20s"}
			if c.code == exitUnreachable {
				wait = []string{"--timeout", "1500ms"}
			}
			for _, args := range [][]string{{"doctor"}, {"run", "--rows", "mr,agg", "--sample-every", "0"}} {
				code, stdout, stderr := s.run(append(append(args, "--uri", uri), wait...)...)
				if code != c.code || code != exitOK && strings.Count(stderr, "\n") != 1 {
					t.Fatalf("%s: exit code %d: %s", args[0], code, stderr)
				}
				for _, part := range c.says {
					if !strings.Contains(stderr, part) {
						t.Errorf("%s: no %q in %s", args[0], part, stderr)
					}
				}
				if strings.Contains(stdout+stderr, "s3cr3t") {
					t.Errorf("%s tells the password: %s%s", args[0], stdout, stderr)
				}
				if c.code != exitOK {
					break // it is the same for all
				}
			}
		})
	}
}

// A login by certificate is asked for as servers take it, and a refusal says what is to be looked at.
func TestLoginByCertificate(t *testing.T) {
	t.Parallel()
	const password = "k3y-s3cr3t"
	ours := newAuthority(t)
	key := ours.lockedClient("ann", password)
	for _, c := range []struct {
		name, user string
		refusal    bson.D // nil: the server lets us in
		says       string
	}{
		{"let in", "", nil, ""},
		{"no such user", "", bson.D{
			{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "Could not find user CN=ann,OU=reports for db $external"}, {Key: "code", Value: 11}, {Key: "codeName", Value: "UserNotFound"},
		}, "Could not find user CN=ann,OU=reports"},
		{"another subject", "CN=bob@", bson.D{
			{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "There is no x.509 client certificate matching the user."}, {Key: "code", Value: 18}, {Key: "codeName", Value: "AuthenticationFailed"},
		}, "no x.509 client certificate matching"},
		{"switched off", "", bson.D{
			{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: "x.509 authentication is disabled."}, {Key: "code", Value: 2}, {Key: "codeName", Value: "BadValue"},
		}, "x.509 authentication is disabled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mimic.Start(t, mimic.Config{Own: func(_ context.Context, cmd mongofake.Command) bson.D {
				switch {
				case cmd.Name != "authenticate":
					return nil
				case c.refusal != nil:
					return c.refusal
				}
				return bson.D{{Key: "dbname", Value: "$external"}, {Key: "user", Value: "CN=ann,OU=reports"}, {Key: "ok", Value: 1.0}}
			}})
			uri := "mongodb://" + c.user + behindTLS(t, ours.server(nil), m.URI()) + "/?tls=true&tlsCAFile=" + ours.file + "&tlsCertificateKeyFile=" + key +
				"&tlsCertificateKeyFilePassword=" + password + "&authMechanism=MONGODB-X509"
			code, stdout, stderr := newSession(t).run("doctor", "--uri", uri, "--timeout", "2s")
			asked := 0
			for _, cmd := range m.Commands() {
				if cmd.Name != "authenticate" {
					continue
				}
				asked++
				if mechanism, _ := cmd.Body.Lookup("mechanism").StringValueOK(); mechanism != "MONGODB-X509" || cmd.DB != "$external" {
					t.Errorf("asked to log in by %q in %s", mechanism, cmd.DB)
				}
			}
			if asked == 0 {
				t.Errorf("no login: %s", stderr)
			}
			if strings.Contains(stdout+stderr, "s3cr3t") {
				t.Errorf("the password is told: %s%s", stdout, stderr)
			}
			if c.refusal == nil {
				if code != exitOK {
					t.Errorf("exit code %d: %s", code, stderr)
				}
				return
			}
			if code != exitUnreachable || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			for _, part := range []string{c.says, "tlsCertificateKeyFile", "$external", "MONGODB-X509"} {
				if !strings.Contains(stderr, part) {
					t.Errorf("no %q in %s", part, stderr)
				}
			}

		})
	}
}
