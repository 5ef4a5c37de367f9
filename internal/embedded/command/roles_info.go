package command

import (
	"context"
	"slices"

	"mrbench/internal/embedded/auth"
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// rolesInfo describes the built-in roles, which are all there are.
func rolesInfo(_ context.Context, c *call) error {
	list := []auth.Role{}
	switch v := c.target(); {
	case v.IsNumber():
		on, err := c.flag("showBuiltinRoles", false)
		if err != nil {
			return err
		}
		if on {
			for _, name := range auth.RoleNames(c.db) {
				list = append(list, auth.Role{Role: name, DB: c.db})
			}
		}
	case v.Type == bsonx.TypeString:
		list = append(list, auth.Role{Role: v.Str(), DB: c.db})
	case v.Type == docType:
		role, db := v.Doc().Get("role"), v.Doc().Get("db")
		if role.Type != bsonx.TypeString || db.Type != bsonx.TypeString {
			return mongoerr.New(mongoerr.BadValue, "RoleName must contain the text fields role and db")
		}
		list = append(list, auth.Role{Role: role.Str(), DB: db.Str()})
	default:
		return wrongType("rolesInfo", c.name, v, "int", "string", "object")
	}
	list = slices.DeleteFunc(list, func(r auth.Role) bool { return !r.Exists() })
	at := c.startArray("roles")
	for i, r := range list {
		doc := c.startElem(i)
		c.str("role", r.Role)
		c.str("db", r.DB)
		c.bool("isBuiltin", true)
		c.roles("roles", nil)
		c.roles("inheritedRoles", nil)
		c.privileges("privileges", auth.NewGrants([]auth.Role{r}))
		c.end(doc)
	}
	c.end(at)
	return nil
}
