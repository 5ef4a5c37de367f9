package telemetry

import (
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"mrbench/internal/bench"
)

// host is this machine.
type host interface {
	name() string
	self() int // this process
	process(pid int) (process, error)
	// cpu is the CPU time of a process, finer than process gives it; false when it can't be had.
	cpu(pid int) (time.Duration, bool)
}

// system is the real one.
type system struct{ procfs }

func (system) name() string {
	n, err := os.Hostname()
	if err != nil {
		return ""
	}
	return n
}

func (system) self() int { return os.Getpid() }

// serverNames are what the processes of servers are called.
var serverNames = []string{"mongod", "mongos", "mrbench"}

// locate says where the server's process is. Host name and process id of serverStatus may by chance belong to another process
// here (a server in a container, or behind a tunnel), so name and age must fit as well.
func locate(h host, s *status) (where string, pid int, note string) {
	if s == nil || s.pid == 0 {
		return bench.Unknown, 0, "serverStatus does not say which process the server is: its CPU time and memory are not known"
	}
	name := s.host
	if n, _, err := net.SplitHostPort(name); err == nil {
		name = n
	}
	far := func(why string) (string, int, string) {
		return bench.Elsewhere, 0, fmt.Sprintf("the server's process can't be seen from here (%s): its disk is not known, and its CPU time and memory are what serverStatus says", why)
	}
	if !strings.EqualFold(name, h.name()) {
		return far(fmt.Sprintf("it runs on %s, mrbench on %s", name, h.name()))
	}
	if s.pid == h.self() && s.process == "mrbench" {
		return bench.SameProcess, s.pid, ""
	}
	p, err := h.process(s.pid)
	if err != nil {
		return far(err.Error())
	}
	known := false
	for _, n := range serverNames {
		known = known || strings.HasPrefix(p.name, n)
	}
	if apart := (p.age - s.uptime).Abs(); !known || apart > time.Minute {
		return far(fmt.Sprintf("process %d of this host is another one", s.pid))
	}
	return bench.SameHost, s.pid, ""
}
