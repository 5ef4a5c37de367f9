package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// DescribeHost fills in what this machine is. What can't be found out stays empty.
func (c *Context) DescribeHost() {
	c.Go, c.OS, c.Arch, c.CPUs = runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()
	c.Host, _ = os.Hostname()
	if cpuinfo, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		c.CPU = field(string(cpuinfo), "model name", ":")
	}
	if meminfo, err := os.ReadFile("/proc/meminfo"); err == nil {
		kb, _, _ := strings.Cut(field(string(meminfo), "MemTotal", ":"), " ")
		if n, err := strconv.ParseInt(kb, 10, 64); err == nil {
			c.MemoryBytes = n * 1024
		}
	}
	if loadavg, err := os.ReadFile("/proc/loadavg"); err == nil {
		c.Load = parseLoad(string(loadavg))
	}
}

// field returns the text after the separator on the first line that starts with name.
func field(text, name, sep string) string {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, sep); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func parseLoad(s string) *[3]float64 {
	var load [3]float64
	f := strings.Fields(s)
	if len(f) < len(load) {
		return nil
	}
	for i := range load {
		x, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return nil
		}
		load[i] = x
	}
	return &load
}
