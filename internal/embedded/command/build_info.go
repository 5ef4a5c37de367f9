package command

import (
	"context"
	"runtime"
	"strconv"
	"strings"
)

// buildInfo gives the MongoDB version whose drivers and commands this is meant for, and mrbench's own.
func buildInfo(_ context.Context, c *call) error {
	c.str("version", ServerVersion)
	c.str("mrbench", c.s.version)
	c.str("gitVersion", "mrbench")
	c.strings("modules", nil)
	c.str("allocator", "go")
	c.str("javascriptEngine", "goja")
	c.str("sysInfo", "deprecated")
	at := c.startArray("versionArray")
	for i, part := range append(strings.Split(ServerVersion, "."), "0") {
		n, _ := strconv.Atoi(part) // a constant of ours
		c.int32(strconv.Itoa(i), int32(n))
	}
	c.end(at)
	at = c.startDoc("buildEnvironment")
	c.str("cc", runtime.Version())
	c.str("target_arch", runtime.GOARCH)
	c.str("target_os", runtime.GOOS)
	c.end(at)
	c.int32("bits", strconv.IntSize)
	c.bool("debug", false)
	c.int32("maxBsonObjectSize", MaxDocumentBytes)
	c.strings("storageEngines", []string{storageEngine})
	return nil
}
