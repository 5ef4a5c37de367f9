package command

import (
	"context"

	"mrbench/internal/embedded/auth"
)

// connectionStatus tells who has logged in on this connection.
func connectionStatus(_ context.Context, c *call) error {
	at := c.startDoc("authInfo")
	who := c.sess.who()
	var roles []auth.Role
	list := c.startArray("authenticatedUsers")
	if who != nil {
		doc := c.startElem(0)
		c.str("user", who.name)
		c.str("db", who.db)
		c.end(doc)
		roles = who.roles
	}
	c.end(list)
	c.roles("authenticatedUserRoles", roles)
	if on, err := c.flag("showPrivileges", false); err == nil && on {
		var grants auth.Grants
		if who != nil {
			grants = who.grants
		}
		c.privileges("authenticatedUserPrivileges", grants)
	}
	c.end(at)
	return nil
}
