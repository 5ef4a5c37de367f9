package command

import (
	"context"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/auth"
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

var usersInfoArgs = []string{"showCredentials", "showCustomData", "showPrivileges", "showAuthenticationRestrictions", "filter"}

// usersInfo describes users: of the database (1), by name, by {user, db}, a list of these, or {forAllDBs: true}.
func usersInfo(_ context.Context, c *call) error {
	pick, err := c.pickUsers(c.target())
	if err != nil {
		return err
	}
	var show shownUser
	for name, p := range map[string]*bool{"showCredentials": &show.credentials, "showPrivileges": &show.privileges} {
		if *p, err = c.flag(name, false); err != nil {
			return err
		}
	}
	if show.custom, err = c.flag("showCustomData", true); err != nil {
		return err
	}
	filter, err := c.document("filter")
	if err != nil {
		return err
	}
	match, err := query.ParseFilter(filter, &expr.Scope{})
	if err != nil {
		return err
	}
	me := c.sess.who()
	var docs []bsonx.Doc
	for _, a := range c.s.users.list(pick) {
		if !c.may(a.db, auth.Users) && (a != me || show.credentials) {
			return mongoerr.New(mongoerr.Unauthorized, "not authorized on %s to execute command usersInfo", a.db)
		}
		d := show.doc(a)
		ok, err := match.Match(d)
		if err != nil {
			return err
		}
		if ok {
			docs = append(docs, d)
		}
	}
	// Without the right not even the absence of others is told.
	if !c.may(c.db, auth.Users) && len(docs) == 0 {
		return c.must(c.db, auth.Users)
	}
	at := c.startArray("users")
	for i, d := range docs {
		c.elem(i, bsonx.DocValue(d))
	}
	c.end(at)
	return nil
}

// pickUsers reads whom usersInfo is about.
func (c *call) pickUsers(v bsonx.Value) (func(*account) bool, error) {
	switch {
	case v.IsNumber():
		return func(a *account) bool { return a.db == c.db }, nil
	case v.Type == bsonx.TypeString:
		id := c.db + "." + v.Str()
		return func(a *account) bool { return a.id == id }, nil
	case v.Type == docType && v.Doc().Get("forAllDBs").Truthy():
		return func(*account) bool { return true }, nil
	case v.Type == docType:
		user, db := v.Doc().Get("user"), v.Doc().Get("db")
		if user.Type != bsonx.TypeString || db.Type != bsonx.TypeString {
			return nil, mongoerr.New(mongoerr.BadValue, "UserName must contain the text fields user and db")
		}
		id := db.Str() + "." + user.Str()
		return func(a *account) bool { return a.id == id }, nil
	case v.Type == bsonx.TypeArray:
		var picks []func(*account) bool
		for it := v.Elems(); it.Next(); {
			e := it.Value()
			if e.Type != docType && e.Type != bsonx.TypeString {
				return nil, wrongType(c.cmd.name, c.name+"."+string(it.Name()), e, "string", "object")
			}
			p, err := c.pickUsers(e)
			if err != nil {
				return nil, err
			}
			picks = append(picks, p)
		}
		return func(a *account) bool {
			return slices.ContainsFunc(picks, func(p func(*account) bool) bool { return p(a) })
		}, nil
	}
	return nil, wrongType(c.cmd.name, c.name, v, "string", "object", "array", "int")
}

// shownUser says which parts of a user are shown.
type shownUser struct{ credentials, privileges, custom bool }

func (s shownUser) doc(a *account) bsonx.Doc {
	return build(func(w *builder) {
		w.str("_id", a.id)
		w.uuid("userId", a.uuid)
		w.str("user", a.name)
		w.str("db", a.db)
		if s.custom && len(a.custom) > 0 {
			w.doc("customData", bsonx.Doc(a.custom))
		}
		w.roles("roles", a.roles)
		w.strings("mechanisms", a.creds.Mechanisms())
		if s.credentials {
			if raw, err := bson.Marshal(a.creds); err == nil {
				w.doc("credentials", bsonx.Doc(raw))
			}
		}
		if s.privileges {
			w.roles("inheritedRoles", a.roles)
			w.privileges("inheritedPrivileges", a.grants)
		}
	})
}

func (w *builder) roles(name string, roles []auth.Role) {
	at := w.startArray(name)
	for i, r := range roles {
		doc := w.startElem(i)
		w.str("role", r.Role)
		w.str("db", r.DB)
		w.end(doc)
	}
	w.end(at)
}

// privileges tells rights in MongoDB's terms: the actions that stand for each.
func (w *builder) privileges(name string, g auth.Grants) {
	at := w.startArray(name)
	byDB := g.ByDB()
	for i, db := range slices.Sorted(maps.Keys(byDB)) {
		doc := w.startElem(i)
		res := w.startDoc("resource")
		w.str("db", db)
		w.str("collection", "")
		w.end(res)
		w.strings("actions", actions(byDB[db]))
		w.end(doc)
	}
	w.end(at)
}

func actions(r auth.Rights) []string {
	var list []string
	for _, a := range []struct {
		of    auth.Rights
		names []string
	}{
		{auth.Read, []string{"find", "listCollections", "listIndexes", "collStats", "dbStats"}},
		{auth.Write, []string{"insert", "update", "remove", "createCollection", "dropCollection", "createIndex", "dropIndex"}},
		{auth.Manage, []string{"validate", "createCollection", "dropCollection", "createIndex", "dropIndex", "listCollections", "listIndexes", "collStats", "dbStats"}},
		{auth.Users, []string{"createUser", "dropUser", "grantRole", "revokeRole", "viewUser", "changePassword"}},
		{auth.DropDB, []string{"dropDatabase"}},
		{auth.Monitor, []string{"serverStatus", "inprog", "hostInfo", "listDatabases"}},
		{auth.Operate, []string{"killop", "killAnySession", "fsync"}},
	} {
		if r&a.of != 0 {
			list = append(list, a.names...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
