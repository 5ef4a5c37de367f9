package command

import "context"

// dropUser removes a user. Its connections may do nothing from their next command on.
func dropUser(ctx context.Context, c *call) error {
	name, err := c.userName()
	if err != nil {
		return err
	}
	id := c.db + "." + name
	n, err := c.s.users.remove(ctx, func(a *account) bool { return a.id == id })
	if err == nil && n == 0 {
		err = noUser(id)
	}
	return err
}

// dropAllUsers removes the users of a database.
func dropAllUsers(ctx context.Context, c *call) error {
	n, err := c.s.users.remove(ctx, func(a *account) bool { return a.db == c.db })
	if err != nil {
		return err
	}
	c.int32("n", int32(n))
	return nil
}
