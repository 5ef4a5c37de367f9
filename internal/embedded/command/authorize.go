package command

import (
	"slices"
	"strings"

	"mrbench/internal/embedded/auth"
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// who is the user of this connection, as it is now; nil when nobody has logged in, or the user is gone.
func (c *Session) who() *account {
	if c.user == nil {
		return nil
	}
	now := c.s.users.get(c.user.id)
	if now != nil && now.uuid != c.user.uuid {
		now = nil // another one of the same name
	}
	c.user = now
	return now
}

// Stranger reports whether this connection has to log in and has not: its requests should be small and soon.
func (c *Session) Stranger() bool { return c.guest && c.who() == nil }

// owner tells the cursors and sessions of one user from those of another.
func (c *Session) owner() string {
	if !c.guest || c.user == nil {
		return ""
	}
	return c.user.id
}

// own makes a logical session's id one of this user's: nobody reaches another's by its id alone.
func (c *Session) own(id []byte) []byte {
	owner := c.owner()
	if owner == "" {
		return id
	}
	return append(append(make([]byte, 0, len(id)+1+len(owner)), id...), "\x00"+owner...)
}

// first reports whether a stranger may do what makes the first user: from this machine, while there is none.
func (c *Session) first() bool { return c.local && c.s.users.empty() }

// admit refuses a stranger everything but what a login needs. Nothing of the request has been read yet.
func (c *call) admit() error {
	if c.cmd.rule.open || !c.sess.Stranger() {
		return nil
	}
	if c.cmd.name == "createUser" && c.sess.first() {
		return nil
	}
	return mongoerr.New(mongoerr.Unauthorized, "command %s requires authentication", c.cmd.name)
}

// authorize holds a user to the rights of its roles.
func (c *call) authorize() error {
	r := c.cmd.rule
	if !c.sess.guest || r.open {
		return nil
	}
	if c.sess.who() == nil {
		if c.cmd.name == "createUser" && c.db == "admin" {
			return nil // admitted as the first; add looks again
		}
		return mongoerr.New(mongoerr.Unauthorized, "command %s requires authentication", c.cmd.name)
	}
	switch {
	case r.anyone:
		return nil
	case r.check != nil:
		return r.check(c)
	}
	if coll := c.target(); coll.Type == bsonx.TypeString {
		return c.mustOn(store.NS{DB: c.db, Coll: coll.Str()}, r.oneOf)
	}
	return c.must(c.db, r.oneOf)
}

// may reports whether the user has one of the rights on a database.
func (c *call) may(db string, oneOf auth.Rights) bool {
	if !c.sess.guest {
		return true
	}
	a := c.sess.who()
	return a != nil && a.grants.On(db)&oneOf != 0
}

func (c *call) must(db string, oneOf auth.Rights) error {
	if c.may(db, oneOf) {
		return nil
	}
	return mongoerr.New(mongoerr.Unauthorized, "not authorized on %s to execute command %s", db, c.cmd.name)
}

// mustOn is must for a collection: admin's own collections, which hold the users, are for those who manage users.
func (c *call) mustOn(ns store.NS, oneOf auth.Rights) error {
	if ns.DB == "admin" && strings.HasPrefix(ns.Coll, "system.") {
		return c.must("admin", auth.Users)
	}
	return c.must(ns.DB, oneOf)
}

// named is must for commands that name a whole namespace.
func named(oneOf auth.Rights) func(*call) error {
	return func(c *call) error {
		ns, err := c.fullNS()
		if err != nil {
			return err
		}
		return c.mustOn(ns, oneOf)
	}
}

func authorizeRename(c *call) error {
	if err := named(auth.Write | auth.Manage)(c); err != nil {
		return err
	}
	to, err := c.text("to")
	if err != nil {
		return err
	}
	db, _, _ := strings.Cut(to, ".")
	return c.must(db, auth.Write|auth.Manage)
}

func authorizeExplain(c *call) error {
	inner, _, err := c.explained()
	if err != nil {
		return err
	}
	return inner.authorize()
}

func authorizeCreate(c *call) error {
	coll, err := c.collName(c.target())
	if err != nil {
		return err
	}
	if err := c.mustOn(store.NS{DB: c.db, Coll: coll}, auth.Write|auth.Manage); err != nil {
		return err
	}
	on := c.arg("viewOn")
	if on.Type != bsonx.TypeString {
		return nil
	}
	if err := c.mustOn(store.NS{DB: c.db, Coll: on.Str()}, auth.Read|auth.Manage); err != nil {
		return err
	}
	return c.authorizeStages(c.arg("pipeline"))
}

func authorizeAggregate(c *call) error {
	if coll := c.target(); coll.Type == bsonx.TypeString {
		if err := c.mustOn(store.NS{DB: c.db, Coll: coll.Str()}, auth.Read); err != nil {
			return err
		}
	}
	return c.authorizeStages(c.arg("pipeline"))
}

// authorizeStages looks for the stages that reach other collections, wherever they stand. What merely looks like such a
// stage, inside of a literal, is held to be one.
func (c *call) authorizeStages(v bsonx.Value) error {
	if v.Type != docType && v.Type != bsonx.TypeArray {
		return nil
	}
	for it := v.Elems(); it.Next(); {
		var err error
		arg := it.Value()
		switch string(it.Name()) {
		case "$lookup", "$graphLookup":
			if arg.Type == docType {
				err = c.mustOn(c.otherNS(arg.Doc().Get("from")), auth.Read)
			}
		case "$unionWith":
			err = c.mustOn(c.otherNS(arg), auth.Read)
		case "$out":
			err = c.mustOn(c.otherNS(arg), auth.Write)
		case "$merge":
			if arg.Type == docType {
				err = c.mustOn(c.otherNS(arg.Doc().Get("into")), auth.Write)
			} else {
				err = c.mustOn(c.otherNS(arg), auth.Write)
			}
		case "$currentOp":
			err = c.must("admin", auth.Monitor)
		}
		if err == nil {
			err = c.authorizeStages(arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// otherNS is a collection as stages name one: "coll" or {db, coll}.
func (c *call) otherNS(v bsonx.Value) store.NS {
	ns := store.NS{DB: c.db}
	switch v.Type {
	case bsonx.TypeString:
		ns.Coll = v.Str()
	case docType:
		if db := v.Doc().Get("db"); db.Type == bsonx.TypeString {
			ns.DB = db.Str()
		}
		if coll := v.Doc().Get("coll"); coll.Type == bsonx.TypeString {
			ns.Coll = coll.Str()
		}
	}
	return ns
}

func authorizeMapReduce(c *call) error {
	coll, err := c.collName(c.target())
	if err != nil {
		return err
	}
	if err := c.mustOn(store.NS{DB: c.db, Coll: coll}, auth.Read); err != nil {
		return err
	}
	out := c.arg("out")
	if out.Type == docType {
		d := out.Doc()
		if !d.Get("inline").IsMissing() {
			return nil
		}
		db := d.Get("db")
		if db.Type == bsonx.TypeString && db.Str() != "" {
			return c.must(db.Str(), auth.Write)
		}
	}
	return c.must(c.db, auth.Write)
}

func authorizeCurrentOp(c *call) error {
	if c.arg("$ownOps").Truthy() {
		return nil
	}
	return c.must("admin", auth.Monitor)
}

// authorizeKillOp lets users stop what is their own.
func authorizeKillOp(c *call) error {
	if id, ok := c.arg("op").AsInt64(); ok && c.s.ops.isOf(int32(id), c.sess.owner()) {
		return nil
	}
	return c.must("admin", auth.Operate)
}

// isOf reports whether a running command is that user's.
func (o *ops) isOf(id int32, owner string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.running[id]
	return p != nil && p.user == owner
}

// shown is the command as currentOp shows it: without secrets.
func (c *call) shown() bsonx.Doc {
	if !slices.Contains([]string{"createUser", "updateUser", "saslStart", "saslContinue", "hello", "isMaster"}, c.cmd.name) {
		return trimmed(c.body)
	}
	return build(func(w *builder) {
		for it := c.body.Iter(); it.Next(); {
			switch name := string(it.Name()); name {
			case "pwd", "payload", "speculativeAuthenticate":
				w.str(name, "xxx")
			default:
				w.value(name, it.Value())
			}
		}
	})
}
