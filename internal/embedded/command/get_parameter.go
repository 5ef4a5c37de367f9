package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// parameters are those that drivers, shells and tools ask for. None can be changed.
func (c *call) parameters() []func() string {
	return []func() string{
		func() string {
			at := c.startDoc("featureCompatibilityVersion")
			c.str("version", ServerVersion[:3])
			c.end(at)
			return "featureCompatibilityVersion"
		},
		func() string {
			c.strings("authenticationMechanisms", nil)
			return "authenticationMechanisms"
		},
		func() string { c.bool("enableTestCommands", false); return "enableTestCommands" },
		func() string { c.int32("logLevel", 0); return "logLevel" },
		func() string { c.bool("quiet", true); return "quiet" },
		func() string {
			c.int32("cursorTimeoutMillis", int32(cursorIdleTimeout.Milliseconds()))
			return "cursorTimeoutMillis"
		},
		func() string {
			c.int32("localLogicalSessionTimeoutMinutes", int32(logicalSessionTimeout.Minutes()))
			return "localLogicalSessionTimeoutMinutes"
		},
		func() string {
			c.int32("internalQueryMaxBlockingSortMemoryUsageBytes", blockingMemory)
			return "internalQueryMaxBlockingSortMemoryUsageBytes"
		},
	}
}

// getParameter gives the named parameters, or all with "*" or {allParameters: true}.
func getParameter(_ context.Context, c *call) error {
	all, err := c.wantsAll()
	if err != nil {
		return err
	}
	found := false
	for _, p := range c.parameters() {
		before := len(c.b)
		name := p()
		if all || !c.arg(name).IsMissing() {
			found = true
			continue
		}
		c.b = c.b[:before]
	}
	if !found {
		return mongoerr.New(mongoerr.InvalidOptions, "no option found to get")
	}
	return nil
}

func (c *call) wantsAll() (bool, error) {
	v := c.target()
	if v.Type == docType {
		return flag("getParameter", "allParameters", v.Doc().Get("allParameters"), false)
	}
	return bsonx.Equal(v, bsonx.String("*")), nil
}
