package command

import "context"

// whatsMyURI is the client's address.
func whatsMyURI(_ context.Context, c *call) error {
	c.str("you", c.sess.remote)
	return nil
}
