package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// ErrFailed is a proof that does not fit: wrong password or unknown user.
var ErrFailed = errors.New("authentication failed")

// Lookup finds the credential of a user for the conversation's mechanism. For a user that is not there it gives a
// Decoy and false.
type Lookup func(user string) (c *Credential, known bool)

// Conversation is the server's side of one SCRAM exchange (RFC 5802, without channel binding): NewConversation
// takes the client's first message, Finish its last.
type Conversation struct {
	User string // whom the client wants to be

	mech       Mechanism
	credential *Credential
	known      bool
	gs2        string // the header, which the client repeats
	nonce      string
	transcript string // the first two messages
}

const serverNonceSize = 24

// NewConversation begins an exchange and gives the server's first message. The error is about the message's form.
func NewConversation(m Mechanism, first []byte, find Lookup) (c *Conversation, reply []byte, err error) {
	nonce := make([]byte, serverNonceSize)
	_, _ = rand.Read(nonce) // never fails
	return newConversation(m, first, base64.StdEncoding.EncodeToString(nonce), find)
}

func newConversation(m Mechanism, first []byte, serverNonce string, find Lookup) (*Conversation, []byte, error) {
	parts := strings.SplitN(string(first), ",", 3)
	if len(parts) != 3 {
		return nil, nil, errors.New("first message has no header")
	}
	if parts[0] != "n" && parts[0] != "y" {
		return nil, nil, fmt.Errorf("channel binding %.20q is not supported", parts[0])
	}
	bare := parts[2]
	fields := strings.Split(bare, ",")
	if len(fields) < 2 {
		return nil, nil, errors.New("first message needs a user and a nonce")
	}
	name, ok := strings.CutPrefix(fields[0], "n=")
	if !ok {
		return nil, nil, errors.New("first message must begin with the user")
	}
	user, ok := unescape(name)
	if !ok || user == "" {
		return nil, nil, errors.New("malformed user name")
	}
	if id, ok := strings.CutPrefix(parts[1], "a="); parts[1] != "" && (!ok || id != name) {
		return nil, nil, errors.New("acting for another user is not supported")
	}
	nonce, ok := strings.CutPrefix(fields[1], "r=")
	if !ok || nonce == "" {
		return nil, nil, errors.New("first message has no nonce")
	}
	c := &Conversation{User: user, mech: m, gs2: parts[0] + "," + parts[1] + ",", nonce: nonce + serverNonce}
	c.credential, c.known = find(user)
	reply := fmt.Sprintf("r=%s,s=%s,i=%d", c.nonce, base64.StdEncoding.EncodeToString(c.credential.Salt), c.credential.Iterations)
	c.transcript = bare + "," + reply
	return c, []byte(reply), nil
}

// Finish checks the client's proof and gives the server's own. ErrFailed when the proof does not fit; another error is
// about the message's form.
func (c *Conversation) Finish(final []byte) (reply []byte, err error) {
	text := string(final)
	cut := strings.LastIndex(text, ",p=")
	if cut < 0 {
		return nil, errors.New("last message has no proof")
	}
	without := text[:cut]
	proof, err := base64.StdEncoding.DecodeString(text[cut+len(",p="):])
	if err != nil || len(proof) != c.mech.size() {
		return nil, errors.New("malformed proof")
	}
	fields := strings.Split(without, ",")
	if len(fields) < 2 || fields[0] != "c="+base64.StdEncoding.EncodeToString([]byte(c.gs2)) {
		return nil, errors.New("last message does not repeat the header")
	}
	if subtle.ConstantTimeCompare([]byte(fields[1]), []byte("r="+c.nonce)) != 1 {
		return nil, errors.New("last message does not repeat the nonce")
	}
	signed := c.transcript + "," + without
	key := c.mech.mac(c.credential.StoredKey, signed)
	subtle.XORBytes(key, key, proof)
	fits := subtle.ConstantTimeCompare(c.mech.sum(key), c.credential.StoredKey) == 1
	if !fits || !c.known {
		return nil, ErrFailed
	}
	return []byte("v=" + base64.StdEncoding.EncodeToString(c.mech.mac(c.credential.ServerKey, signed))), nil
}

// unescape reads a name in which "=2C" stands for a comma and "=3D" for an equals sign.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '=' {
			b.WriteByte(s[i])
			continue
		}
		switch {
		case strings.HasPrefix(s[i:], "=2C"):
			b.WriteByte(',')
		case strings.HasPrefix(s[i:], "=3D"):
			b.WriteByte('=')
		default:
			return "", false
		}
		i += 2
	}
	return b.String(), true
}
