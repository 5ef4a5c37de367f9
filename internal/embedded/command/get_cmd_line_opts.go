package command

import "context"

// getCmdLineOpts shows how the process was started.
func getCmdLineOpts(_ context.Context, c *call) error {
	c.strings("argv", c.s.argv)
	at := c.startDoc("parsed")
	c.end(at)
	return nil
}
