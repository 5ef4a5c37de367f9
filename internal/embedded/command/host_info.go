package command

import (
	"context"
	"runtime"
	"strconv"
	"time"
)

// hostInfo describes the machine as far as Go knows it.
func hostInfo(_ context.Context, c *call) error {
	at := c.startDoc("system")
	c.date("currentTime", time.Now().UnixMilli())
	c.str("hostname", hostname())
	c.int32("cpuAddrSize", strconv.IntSize)
	c.int32("numCores", int32(runtime.NumCPU()))
	c.str("cpuArch", runtime.GOARCH)
	c.end(at)
	at = c.startDoc("os")
	c.str("type", runtime.GOOS)
	c.str("name", runtime.GOOS)
	c.end(at)
	return nil
}
