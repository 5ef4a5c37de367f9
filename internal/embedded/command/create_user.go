package command

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/auth"
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

var createUserArgs = []string{
	"pwd", "customData", "roles", "authenticationRestrictions", "mechanisms", "digestPassword", "passwordDigestor",
}

// createUser adds a user with a password and built-in roles.
func createUser(ctx context.Context, c *call) error {
	name, err := c.userName()
	if err != nil {
		return err
	}
	if c.db == systemDB || c.db == "config" {
		return mongoerr.New(mongoerr.BadValue, "Cannot create users in the %s database", c.db)
	}
	a := &account{id: c.db + "." + name, uuid: newUUID(), name: name, db: c.db}
	if c.arg("roles").IsMissing() {
		return missingField("createUser", "roles")
	}
	if c.arg("pwd").IsMissing() {
		return mongoerr.New(mongoerr.BadValue, "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db")
	}
	if err := c.editUser(a); err != nil {
		return err
	}
	a.grants = auth.NewGrants(a.roles)
	return c.s.users.add(ctx, a, c.sess.Stranger())
}

// userName is the user that the command's first field names.
func (c *call) userName() (string, error) {
	v := c.target()
	if v.Type != bsonx.TypeString {
		return "", wrongType(c.cmd.name, c.name, v, "string")
	}
	name := v.Str()
	if name == "" || strings.ContainsRune(name, 0) {
		return "", mongoerr.New(mongoerr.BadValue, "User name must be a string of at least one character, none of them NUL")
	}
	return name, nil
}

// editUser puts what createUser or updateUser say of a user into a.
func (c *call) editUser(a *account) error {
	if err := c.refuseUserOptions(); err != nil {
		return err
	}
	if v := c.arg("roles"); !v.IsMissing() {
		roles, err := c.parseRoles(v)
		if err != nil {
			return err
		}
		a.roles = roles
	}
	if v := c.arg("customData"); !v.IsMissing() {
		d, err := document(c.cmd.name, "customData", v)
		if err != nil {
			return err
		}
		a.custom = bson.Raw(bytes.Clone(d))
	}
	return c.editPassword(a)
}

// refuseUserOptions refuses what would be a false promise.
func (c *call) refuseUserOptions() error {
	if v := c.arg("authenticationRestrictions"); v.Type == bsonx.TypeArray && v.Doc().Len() > 0 {
		return mongoerr.New(mongoerr.CommandNotSupported, "authenticationRestrictions are not supported")
	}
	digest, err := c.flag("digestPassword", true)
	if err != nil {
		return err
	}
	if by := c.arg("passwordDigestor"); !digest || by.Type == bsonx.TypeString && by.Str() != "server" {
		return mongoerr.New(mongoerr.BadValue, "Use of SCRAM-SHA-256 requires undigested passwords")
	}
	return nil
}

func (c *call) editPassword(a *account) error {
	mechanisms := auth.Mechanisms()
	named := c.arg("mechanisms")
	if !named.IsMissing() {
		if named.Type != bsonx.TypeArray {
			return wrongType(c.cmd.name, "mechanisms", named, "array")
		}
		mechanisms = mechanisms[:0]
		for it := named.Elems(); it.Next(); {
			v := it.Value()
			if v.Type != bsonx.TypeString || !auth.Mechanism(v.Str()).Known() {
				return mongoerr.New(mongoerr.BadValue, "Unknown auth mechanism '%s'", v)
			}
			mechanisms = append(mechanisms, auth.Mechanism(v.Str()))
		}
		if len(mechanisms) == 0 {
			return mongoerr.New(mongoerr.BadValue, "mechanisms field must not be empty")
		}
	}
	pwd := c.arg("pwd")
	if pwd.IsMissing() {
		if named.IsMissing() {
			return nil
		}
		return keepMechanisms(a, mechanisms)
	}
	if pwd.Type != bsonx.TypeString {
		return wrongType(c.cmd.name, "pwd", pwd, "string")
	}
	creds, err := auth.NewCredentials(a.name, pwd.Str(), mechanisms)
	switch {
	case errors.Is(err, auth.ErrPassword):
		return mongoerr.New(mongoerr.BadValue, "%v", auth.ErrPassword)
	case err != nil:
		return err
	}
	a.creds = creds
	return nil
}

// keepMechanisms takes the other mechanisms away; a new one needs the password.
func keepMechanisms(a *account, keep []auth.Mechanism) error {
	for _, m := range keep {
		if a.creds.Of(m) == nil {
			return mongoerr.New(mongoerr.BadValue, "mechanisms field must be a subset of previously set mechanisms")
		}
	}
	if !slices.Contains(keep, auth.SHA1) {
		a.creds.SHA1 = nil
	}
	if !slices.Contains(keep, auth.SHA256) {
		a.creds.SHA256 = nil
	}
	return nil
}

// parseRoles reads a list of roles, each a name (on the command's database) or {role, db}, and checks that they exist
// and are this user's to give.
func (c *call) parseRoles(v bsonx.Value) ([]auth.Role, error) {
	if v.Type != bsonx.TypeArray {
		return nil, wrongType(c.cmd.name, "roles", v, "array")
	}
	list := []auth.Role{}
	for it := v.Elems(); it.Next(); {
		r := auth.Role{DB: c.db}
		switch e := it.Value(); e.Type {
		case bsonx.TypeString:
			r.Role = e.Str()
		case docType:
			role, db := e.Doc().Get("role"), e.Doc().Get("db")
			if role.Type != bsonx.TypeString || db.Type != bsonx.TypeString {
				return nil, mongoerr.New(mongoerr.BadValue, "Role objects need the text fields role and db, not %s", e)
			}
			r.Role, r.DB = role.Str(), db.Str()
		default:
			return nil, mongoerr.New(mongoerr.BadValue, "Values in 'roles' array must be sub-documents or strings")
		}
		if !r.Exists() {
			return nil, mongoerr.New(mongoerr.RoleNotFound, "Could not find role: %s@%s", r.Role, r.DB)
		}
		if c.sess.who() != nil && !c.may(r.DB, auth.Users) {
			return nil, mongoerr.New(mongoerr.Unauthorized, "Not authorized to grant role: %s@%s", r.Role, r.DB)
		}
		if !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	return list, nil
}
