package auth

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

// example is an exchange that an RFC prints in full; the password is "pencil".
type example struct {
	mech                               Mechanism
	clientNonce, serverNonce           string
	salt, clientProof, serverSignature string
}

func examples() []example {
	return []example{
		{SHA1, "fyko+d2lbbFgONRv9qkxdawL", "3rfcNHYJY1ZVvWVs7j", "QSXCR+Q6sek8bf92", "v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=", "rmF9pqV8S7suAoZWja4dJRkFsKQ="},
		{
			SHA256, "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0", "W22ZaJ0SNY7soEsUEjb6gQ==", "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
			"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
		},
	}
}

func (e example) credential(t testing.TB) *Credential {
	t.Helper()
	salt, err := base64.StdEncoding.DecodeString(e.salt)
	if err != nil {
		t.Fatal(err)
	}
	c, err := deriveRaw(e.mech, "pencil", salt, 4096)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (e example) final() string {
	return "c=biws,r=" + e.clientNonce + e.serverNonce + ",p=" + e.clientProof
}

// TestExamples: the messages of RFC 5802 and RFC 7677 come out to the letter.
func TestExamples(t *testing.T) {
	for _, e := range examples() {
		find := func(user string) (*Credential, bool) { return e.credential(t), user == "user" }
		c, first, err := newConversation(e.mech, []byte("n,,n=user,r="+e.clientNonce), e.serverNonce, find)
		if err != nil || c.User != "user" {
			t.Fatalf("%s: %v", e.mech, err)
		}
		if want := "r=" + e.clientNonce + e.serverNonce + ",s=" + e.salt + ",i=4096"; string(first) != want {
			t.Errorf("%s: first message %s, want %s", e.mech, first, want)
		}
		last, err := c.Finish([]byte(e.final()))
		if err != nil || string(last) != "v="+e.serverSignature {
			t.Errorf("%s: last message %s (%v)", e.mech, last, err)
		}
	}
}

// TestProofs: nothing but the right proof for this very exchange is taken, and never for an unknown user.
func TestProofs(t *testing.T) {
	for _, e := range examples() {
		for name, final := range map[string]string{
			"other proof":  "c=biws,r=" + e.clientNonce + e.serverNonce + ",p=" + base64.StdEncoding.EncodeToString(make([]byte, e.mech.size())),
			"short proof":  "c=biws,r=" + e.clientNonce + e.serverNonce + ",p=AAAA",
			"no proof":     "c=biws,r=" + e.clientNonce + e.serverNonce,
			"empty":        "",
			"other nonce":  strings.Replace(e.final(), e.serverNonce, "x"+e.serverNonce[1:], 1),
			"part of it":   strings.Replace(e.final(), e.serverNonce, "", 1),
			"other header": strings.Replace(e.final(), "c=biws", "c=eSws", 1),
			"extension":    strings.Replace(e.final(), ",p=", ",x=1,p=", 1),
		} {
			c, _, err := newConversation(e.mech, []byte("n,,n=user,r="+e.clientNonce), e.serverNonce, func(string) (*Credential, bool) { return e.credential(t), true })
			if err != nil {
				t.Fatal(err)
			}
			if reply, err := c.Finish([]byte(final)); err == nil || reply != nil {
				t.Errorf("%s: %s was taken: %s", e.mech, name, reply)
			}
		}
		c, _, err := newConversation(e.mech, []byte("n,,n=user,r="+e.clientNonce), e.serverNonce, func(string) (*Credential, bool) { return e.credential(t), false })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Finish([]byte(e.final())); !errors.Is(err, ErrFailed) {
			t.Errorf("%s: an unknown user with the right proof: %v", e.mech, err)
		}
	}
}

func TestFirstMessages(t *testing.T) {
	for _, c := range []struct{ message, user string }{
		{"n,,n=user,r=abc", "user"},
		{"y,,n=user,r=abc", "user"},
		{"n,a=user,n=user,r=abc", "user"},
		{"n,,n=a=2Cb=3Dc,r=abc", "a,b=c"},
		{"n,,n=user,r=abc,x=1", "user"},
		{"n,a=other,n=user,r=abc", ""},
		{"p=tls-unique,,n=user,r=abc", ""},
		{"n,,n=us=er,r=abc", ""},
		{"n,,n=,r=abc", ""},
		{"n,,n=user,r=", ""},
		{"n,,n=user", ""},
		{"n,,r=abc,n=user", ""},
		{"", ""},
		{",,,,", ""},
	} {
		got := ""
		conv, reply, err := NewConversation(SHA256, []byte(c.message), func(user string) (*Credential, bool) {
			return Decoy(SHA256, []byte("secret"), user), false
		})
		if err == nil {
			got = conv.User
			if !bytes.HasPrefix(reply, []byte("r=abc")) || len(reply) < len("r=abc")+serverNonceSize {
				t.Errorf("%s: reply %s", c.message, reply)
			}
		}
		if got != c.user {
			t.Errorf("%s: user %q (%v), want %q", c.message, got, err, c.user)
		}
	}
}

// TestCredentials: what is kept has nothing of the password, and is another one each time.
func TestCredentials(t *testing.T) {
	a, err := NewCredentials("u", "pass word", Mechanisms())
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewCredentials("u", "pass word", Mechanisms())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range Mechanisms() {
		x, y := a.Of(m), b.Of(m)
		if x.Iterations != m.Iterations() || bytes.Equal(x.Salt, y.Salt) || bytes.Equal(x.StoredKey, y.StoredKey) || len(x.ServerKey) != m.size() {
			t.Errorf("%s: %+v, %+v", m, x, y)
		}
	}
	if a.SHA1.Iterations != 10000 || a.SHA256.Iterations != 15000 || len(a.SHA1.Salt) != 16 || len(a.SHA256.Salt) != 28 {
		t.Errorf("%+v, %+v", a.SHA1, a.SHA256)
	}
	// SASLprep: a soft hyphen is nothing, a no-break space is a space.
	salt := make([]byte, 28)
	x, err := derive(SHA256, "u", "pass\u00a0wo\u00adrd", salt, 4096)
	if err != nil {
		t.Fatal(err)
	}
	if y, err := derive(SHA256, "u", "pass word", salt, 4096); err != nil || !bytes.Equal(x.StoredKey, y.StoredKey) {
		t.Errorf("prepared differently: %v", err)
	}
	for _, bad := range []string{"", "a\x00b", "bell\a", "\u00ad"} {
		if _, err := NewCredentials("u", bad, Mechanisms()); !errors.Is(err, ErrPassword) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestDecoy: it is the same each time, and looks like a user's.
func TestDecoy(t *testing.T) {
	for _, m := range Mechanisms() {
		a, b, c := Decoy(m, []byte("k"), "db.u"), Decoy(m, []byte("k"), "db.u"), Decoy(m, []byte("k"), "db.v")
		if !bytes.Equal(a.Salt, b.Salt) || bytes.Equal(a.Salt, c.Salt) || len(a.Salt) != m.saltSize() || a.Iterations != m.Iterations() {
			t.Errorf("%s: %+v %+v %+v", m, a, b, c)
		}
	}
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		role, db, on string
		want         Rights
	}{
		{"read", "a", "a", Read},
		{"read", "a", "b", 0},
		{"readWrite", "a", "a", Read | Write},
		{"dbOwner", "a", "a", Read | Write | Manage | Users | DropDB},
		{"dbOwner", "a", "admin", 0},
		{"readAnyDatabase", "admin", "b", Read},
		{"readWriteAnyDatabase", "admin", "b", Read | Write},
		{"root", "admin", "b", All},
		{"root", "a", "a", 0}, // there is no such role
		{"clusterMonitor", "admin", "admin", Monitor},
		{"nothing", "admin", "admin", 0},
	} {
		r := Role{c.role, c.db}
		if got := NewGrants([]Role{r}).On(c.on); got != c.want || r.Exists() != (NewGrants([]Role{r}).On(c.db) != 0) {
			t.Errorf("%v on %s: %b, want %b (exists: %v)", r, c.on, got, c.want, r.Exists())
		}
	}
	if a, b := len(RoleNames("admin")), len(RoleNames("a")); a != len(builtins()) || b != 5 {
		t.Errorf("%d roles on admin, %d elsewhere", a, b)
	}
}

// FuzzConversation: no bytes of a client do harm, and none log in.
func FuzzConversation(f *testing.F) {
	for _, e := range examples() {
		f.Add("n,,n=user,r="+e.clientNonce, e.final())
	}
	f.Add("y,a=u,n=u,r=x,m=", "c=,r=,p=")
	f.Fuzz(func(t *testing.T, first, last string) {
		for _, m := range Mechanisms() {
			c, reply, err := NewConversation(m, []byte(first), func(user string) (*Credential, bool) { return Decoy(m, []byte("k"), user), true })
			if err != nil {
				if c != nil || reply != nil {
					t.Fatal("an answer beside an error")
				}
				continue
			}
			if _, err := c.Finish([]byte(last)); err == nil {
				t.Fatalf("%q, %q logged in", first, last)
			}
		}
	})
}
