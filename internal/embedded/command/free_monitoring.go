package command

import "context"

// freeMonitoring answers the shell's question at its start.
func freeMonitoring(_ context.Context, c *call) error {
	c.str("state", "disabled")
	return nil
}
