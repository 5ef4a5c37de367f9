package command

import (
	"context"
	"slices"

	"mrbench/internal/embedded/auth"
	"mrbench/internal/embedded/mongoerr"
)

// updateUser changes a user's password, roles, mechanisms or custom data. Connections of that user stay logged in and have the
// new roles from their next command on.
func updateUser(ctx context.Context, c *call) error {
	name, err := c.userName()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc([]string{"pwd", "roles", "customData", "mechanisms"}, func(f string) bool { return !c.arg(f).IsMissing() }) {
		return mongoerr.New(mongoerr.BadValue, "Must specify at least one field to update in updateUser")
	}
	return c.s.users.modify(ctx, c.db+"."+name, c.editUser)
}

// grantRolesToUser adds roles.
func grantRolesToUser(ctx context.Context, c *call) error {
	return c.changeRoles(ctx, func(have, given []auth.Role) []auth.Role {
		for _, r := range given {
			if !slices.Contains(have, r) {
				have = append(have, r)
			}
		}
		return have
	})
}

// revokeRolesFromUser takes roles away.
func revokeRolesFromUser(ctx context.Context, c *call) error {
	return c.changeRoles(ctx, func(have, taken []auth.Role) []auth.Role {
		return slices.DeleteFunc(have, func(r auth.Role) bool { return slices.Contains(taken, r) })
	})
}

func (c *call) changeRoles(ctx context.Context, change func(have, named []auth.Role) []auth.Role) error {
	name, err := c.userName()
	if err != nil {
		return err
	}
	named, err := c.parseRoles(c.arg("roles"))
	if err != nil {
		return err
	}
	return c.s.users.modify(ctx, c.db+"."+name, func(a *account) error {
		a.roles = change(slices.Clone(a.roles), named)
		return nil
	})
}
