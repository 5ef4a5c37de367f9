package command

import (
	"context"
	"strings"

	"mrbench/internal/embedded/auth"
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// exchange is a login under way on a connection.
type exchange struct {
	id        int32
	talk      *auth.Conversation
	who       *account // nil: unknown, which shows at the end alone
	lacks     bool     // the user is there, but can't log in by this mechanism
	skipEmpty bool     // the client wants no empty message after the last one
	proved    bool     // the empty message is awaited
}

// errLogin answers every failed login in the same words, whatever was wrong.
func errLogin() error { return mongoerr.New(mongoerr.AuthenticationFailed, "Authentication failed.") }

// saslStart takes a client's first message.
func saslStart(_ context.Context, c *call) error { return c.beginLogin(&c.builder, c.db, c.body) }

// beginLogin starts an exchange from the fields of a saslStart and appends the reply's fields to w.
func (c *call) beginLogin(w *builder, db string, d bsonx.Doc) error {
	c.sess.login = nil
	mechanism := d.Get("mechanism")
	if mechanism.Type != bsonx.TypeString {
		return wrongType("saslStart", "mechanism", mechanism, "string")
	}
	m := auth.Mechanism(mechanism.Str())
	if !m.Known() {
		return mongoerr.New(mongoerr.MechanismUnavailable, "Unsupported mechanism '%.64s' on authentication database '%s'", m, db)
	}
	payload := d.Get("payload")
	if payload.Type != bsonx.TypeBinary {
		return wrongType("saslStart", "payload", payload, "binData")
	}
	c.sess.logins++
	x := &exchange{id: c.sess.logins}
	if o := d.Get("options"); o.Type == docType {
		x.skipEmpty = o.Doc().Get("skipEmptyExchange").Truthy()
	}
	_, first := payload.Binary()
	talk, reply, err := auth.NewConversation(m, first, func(user string) (*auth.Credential, bool) {
		var cred *auth.Credential
		cred, x.who = c.s.users.credential(m, db+"."+user)
		x.lacks = x.who == nil && c.s.users.get(db+"."+user) != nil
		return cred, x.who != nil
	})
	if err != nil {
		c.s.log("login from %s on %s by %s: %v", c.sess.remote, db, m, err)
		return errLogin()
	}
	x.talk = talk
	c.sess.login = x
	w.login(x, reply, false)
	return nil
}

// saslContinue takes a client's other messages. The connection is the user's once the exchange is over.
func saslContinue(_ context.Context, c *call) error {
	x := c.sess.login
	c.sess.login = nil
	if x == nil {
		return mongoerr.New(mongoerr.ProtocolError, "No SASL session state found")
	}
	if id, ok := c.arg("conversationId").AsInt64(); !ok || id != int64(x.id) {
		return mongoerr.New(mongoerr.ProtocolError, "sasl: Mismatched conversation id")
	}
	payload := c.arg("payload")
	if payload.Type != bsonx.TypeBinary {
		return wrongType("saslContinue", "payload", payload, "binData")
	}
	_, message := payload.Binary()
	if x.proved {
		if len(message) != 0 {
			return errLogin()
		}
		c.sess.user = x.who
		c.login(x, nil, true)
		return nil
	}
	reply, err := x.talk.Finish(message)
	if err != nil {
		c.s.log("login from %s as %.64q failed: %v", c.sess.remote, x.talk.User, err)
		return errLogin()
	}
	if x.skipEmpty {
		c.sess.user = x.who
	} else {
		x.proved = true
		c.sess.login = x
	}
	c.login(x, reply, x.skipEmpty)
	return nil
}

func (w *builder) login(x *exchange, payload []byte, done bool) {
	w.int32("conversationId", x.id)
	w.bool("done", done)
	w.binary("payload", payload)
}

// speculate begins a login inside of hello. What can't begin is left out; the client then asks again.
func (c *call) speculate(v bsonx.Value) {
	if v.Type != docType {
		return
	}
	d := v.Doc()
	if it := d.Iter(); !it.Next() || string(it.Name()) != "saslStart" {
		return
	}
	db := d.Get("db")
	if db.Type != bsonx.TypeString {
		return
	}
	before := len(c.b)
	at := c.startDoc("speculativeAuthenticate")
	// A client that guessed the wrong mechanism would not try the other one after an answer.
	if err := c.beginLogin(&c.builder, db.Str(), d); err != nil || c.sess.login.lacks {
		c.sess.login = nil
		c.b = c.b[:before]
		return
	}
	c.end(at)
}

// supportedMechanisms answers "db.user" with what that user can log in by; a user that is not there seems to have all.
func (c *call) supportedMechanisms(v bsonx.Value) {
	if v.Type != bsonx.TypeString || !strings.Contains(v.Str(), ".") {
		return
	}
	var names []string
	if a := c.s.users.get(v.Str()); a != nil {
		names = a.creds.Mechanisms()
	} else {
		names = auth.Credentials{SHA1: &auth.Credential{}, SHA256: &auth.Credential{}}.Mechanisms()
	}
	c.strings("saslSupportedMechs", names)
}

// logout ends what the login on this database began.
func logout(_ context.Context, c *call) error {
	c.sess.login = nil
	if c.sess.user != nil && c.sess.user.db == c.db {
		c.sess.user = nil
	}
	return nil
}
