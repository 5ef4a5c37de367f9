package auth

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/xdg-go/stringprep"
)

// Mechanism is a SASL mechanism by its name on the wire.
type Mechanism string

// The mechanisms there are.
const (
	SHA1   Mechanism = "SCRAM-SHA-1"
	SHA256 Mechanism = "SCRAM-SHA-256"
)

// Mechanisms lists them as a server offers them.
func Mechanisms() []Mechanism { return []Mechanism{SHA1, SHA256} }

// Known reports whether m is one of Mechanisms.
func (m Mechanism) Known() bool { return m == SHA1 || m == SHA256 }

func (m Mechanism) hash() func() hash.Hash {
	if m == SHA1 {
		return sha1.New
	}
	return sha256.New
}

// size of the hash in bytes.
func (m Mechanism) size() int { return m.hash()().Size() }

// saltSize leaves room for the block number in one hash, as MongoDB does.
func (m Mechanism) saltSize() int { return m.size() - 4 }

// Iterations is how often the key derivation repeats, as MongoDB has it by default.
func (m Mechanism) Iterations() int {
	if m == SHA1 {
		return 10000
	}
	return 15000
}

// Credential is what is kept of a password, of one mechanism.
type Credential struct {
	Iterations int    `bson:"iterationCount"`
	Salt       []byte `bson:"salt"`
	StoredKey  []byte `bson:"storedKey"`
	ServerKey  []byte `bson:"serverKey"`
}

// Credentials are those of one user. A mechanism that is nil can't be used.
type Credentials struct {
	SHA1   *Credential `bson:"SCRAM-SHA-1,omitempty"`
	SHA256 *Credential `bson:"SCRAM-SHA-256,omitempty"`
}

// Of returns the credential of a mechanism; nil if there is none.
func (c Credentials) Of(m Mechanism) *Credential {
	switch m {
	case SHA1:
		return c.SHA1
	case SHA256:
		return c.SHA256
	}
	return nil
}

// Mechanisms lists the names of those that can be used.
func (c Credentials) Mechanisms() (names []string) {
	for _, m := range Mechanisms() {
		if c.Of(m) != nil {
			names = append(names, string(m))
		}
	}
	return names
}

// ErrPassword says that a password can't be one.
var ErrPassword = errors.New("password must be text without control characters, and not empty")

// NewCredentials derives what is kept of a password for each of the mechanisms, with fresh salts.
// ErrPassword when it is empty or SCRAM-SHA-256 can't take it.
func NewCredentials(user, password string, mechanisms []Mechanism) (c Credentials, err error) {
	for _, m := range mechanisms {
		salt := make([]byte, m.saltSize())
		_, _ = rand.Read(salt) // never fails
		one, err := derive(m, user, password, salt, m.Iterations())
		if err != nil {
			return Credentials{}, err
		}
		if m == SHA1 {
			c.SHA1 = one
		} else {
			c.SHA256 = one
		}
	}
	return c, nil
}

// derive is RFC 5802's derivation, on the password as MongoDB prepares it for the mechanism.
func derive(m Mechanism, user, password string, salt []byte, iterations int) (*Credential, error) {
	if password == "" || strings.ContainsRune(password, 0) {
		return nil, ErrPassword
	}
	if m == SHA1 { // the digest is of the protocol's past, and what clients still use as the password
		sum := md5.Sum([]byte(user + ":mongo:" + password))
		password = hex.EncodeToString(sum[:])
	} else {
		var err error
		if password, err = stringprep.SASLprep.Prepare(password); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPassword, err)
		}
		if password == "" {
			return nil, ErrPassword
		}
	}
	return deriveRaw(m, password, salt, iterations)
}

func deriveRaw(m Mechanism, password string, salt []byte, iterations int) (*Credential, error) {
	salted, err := pbkdf2.Key(m.hash(), password, salt, iterations, m.size())
	if err != nil {
		return nil, fmt.Errorf("derive a key for %s: %w", m, err)
	}
	stored := m.sum(m.mac(salted, "Client Key"))
	return &Credential{Iterations: iterations, Salt: salt, StoredKey: stored, ServerKey: m.mac(salted, "Server Key")}, nil
}

func (m Mechanism) mac(key []byte, text string) []byte {
	h := hmac.New(m.hash(), key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func (m Mechanism) sum(b []byte) []byte {
	h := m.hash()()
	h.Write(b)
	return h.Sum(nil)
}

// Decoy is the credential of a user that does not exist: always the same for the same name and secret, so
// that a stranger can't tell; no password fits it.
func Decoy(m Mechanism, secret []byte, name string) *Credential {
	part := func(what string) []byte { return m.mac(secret, what+"\x00"+string(m)+"\x00"+name) }
	return &Credential{
		Iterations: m.Iterations(), Salt: part("salt")[:m.saltSize()], StoredKey: part("stored"), ServerKey: part("server"),
	}
}
