package command

import "context"

// listCommands lists the table that dispatches.
func listCommands(_ context.Context, c *call) error {
	at := c.startDoc("commands")
	for _, cmd := range c.s.table.list {
		doc := c.startDoc(cmd.name)
		c.str("help", cmd.help)
		c.bool("requiresAuth", !cmd.rule.open)
		c.bool("secondaryOk", cmd.reads && !cmd.writes)
		c.bool("adminOnly", cmd.admin)
		if len(cmd.aliases) > 0 {
			c.strings("aliases", cmd.aliases)
		}
		c.end(doc)
	}
	c.end(at)
	return nil
}
