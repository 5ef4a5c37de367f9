package command

import "context"

// connectionStatus: nobody is authenticated, as no authentication is asked for.
func connectionStatus(_ context.Context, c *call) error {
	at := c.startDoc("authInfo")
	c.strings("authenticatedUsers", nil)
	c.strings("authenticatedUserRoles", nil)
	if on, err := c.flag("showPrivileges", false); err == nil && on {
		c.strings("authenticatedUserPrivileges", nil)
	}
	c.end(at)
	return nil
}
