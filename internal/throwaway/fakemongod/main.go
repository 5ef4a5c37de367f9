package fakemongod

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Main is the fake, when the process was started as one; else it returns at once.
func Main() {
	program := os.Getenv(envProgram)
	if program == "" {
		return
	}
	os.Exit(run(program, os.Args[1:]))
}

// Exit codes of the real ones.
const (
	exitUsage    = 2
	exitAbort    = 14
	exitNetError = 48
	exitNoData   = 100
)

// process is one fake.
type process struct {
	program string
	argv    []string
	flags   map[string]string
	address string
}

// Flags with a value, and those without.
var (
	valued = map[string][]string{
		"mongod": {"dbpath", "port", "bind_ip", "replSet", "wiredTigerCacheSizeGB", "oplogSize"},
		"mongos": {"configdb", "port", "bind_ip"},
	}
	plain = map[string][]string{
		"mongod": {"nounixsocket", "shardsvr", "configsvr"},
		"mongos": {"nounixsocket"},
	}
)

func run(program string, args []string) int {
	p := &process{program: program, argv: append([]string{program}, args...), flags: map[string]string{}}
	if slices.Equal(args, []string{"--version"}) {
		return p.version()
	}
	for i := 0; i < len(args); i++ {
		name := strings.TrimPrefix(args[i], "--")
		switch {
		case name == args[i]:
			return complain(exitUsage, "Error parsing command line: too many positional options have been specified on the command line")
		case slices.Contains(plain[program], name):
			p.flags[name] = "true"
		case slices.Contains(valued[program], name) && i+1 < len(args):
			i++
			p.flags[name] = args[i]
		default:
			return complain(exitUsage, "Error parsing command line: unrecognised option '%s'\ntry '%s --help' for more information", args[i], program)
		}
	}
	if code := p.check(); code != 0 {
		return code
	}
	return p.serve()
}

func complain(code int, format string, args ...any) int {
	fmt.Printf(format+"\n", args...)
	return code
}

// logged is a line as servers before 4.4 write it.
func logged(severity, format string, args ...any) {
	fmt.Printf("%s %s CONTROL  [initandlisten] %s\n", time.Now().Format("2006-01-02T15:04:05.000-0700"), severity, fmt.Sprintf(format, args...))
}

func (p *process) version() int {
	v := os.Getenv(envVersion)
	switch {
	case p.fails(Library):
		fmt.Fprintln(os.Stderr, "error while loading shared libraries: libcrypto.so.1.0.0: cannot open shared object file: No such file or directory")
		return 127
	case p.fails(Another):
		return complain(0, "psql (PostgreSQL) 15.1")
	case p.program == "mongos":
		fmt.Printf("mongos version v%s\n", v)
	default:
		fmt.Printf("db version v%s\n", v)
	}
	return complain(0, "git version: 0000\nallocator: tcmalloc\nmodules: none\nbuild environment:\n    distarch: x86_64")
}

// role is by what failures are told apart.
func (p *process) role() string {
	if set := p.flags["replSet"]; set != "" {
		return set
	}
	return p.program
}

func (p *process) fails(how string) bool {
	for f := range strings.SplitSeq(os.Getenv(envFail), ",") {
		if f == how || f == p.role()+":"+how {
			return true
		}
	}
	return false
}

// first reports whether this is the first process of the role that asks.
func (p *process) first() bool {
	f, err := os.OpenFile(filepath.Join(os.Getenv(envMarks), "mark-"+p.role()), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = f.Close()
	}
	return err == nil
}

// check refuses what the real ones refuse at the start.
func (p *process) check() int {
	if p.fails(Exit) {
		logged("I", "exception in initAndListen: Location28596: told to fail, terminating")
		return complain(1, "shutting down with code:1")
	}
	if p.fails(Stubborn) {
		signal.Ignore(syscall.SIGTERM)
	}
	p.address = net.JoinHostPort(p.flags["bind_ip"], p.flags["port"])
	if p.flags["bind_ip"] != "127.0.0.1" || p.flags["port"] == "" {
		return complain(exitUsage, "this fake listens on loopback, on a port that it is told")
	}
	if s := p.flags["wiredTigerCacheSizeGB"]; s != "" {
		if f, err := strconv.ParseFloat(s, 64); err != nil || f < 0.25 || f > 10000 {
			return complain(exitUsage, "BadValue: storage.wiredTiger.engineConfig.cacheSizeGB must be greater than or equal to 0.25")
		}
	}
	if s := p.flags["oplogSize"]; s != "" {
		if n, err := strconv.Atoi(s); err != nil || n < 1 {
			return complain(exitUsage, "bad --oplogSize arg")
		}
	}
	if p.flags["configsvr"] != "" && p.flags["shardsvr"] != "" || p.flags["configsvr"] != "" && p.flags["replSet"] == "" {
		return complain(exitUsage, "Error: cannot start this combination")
	}
	if p.program == "mongod" {
		if st, err := os.Stat(p.flags["dbpath"]); err != nil || !st.IsDir() {
			logged("I", "exception in initAndListen: NonExistentPath: Data directory %s not found., terminating", p.flags["dbpath"])
			return exitNoData
		}
	}
	if (p.fails(PortTaken) || p.fails(Stranger)) && p.first() {
		if p.fails(Stranger) {
			if l, err := net.Listen("tcp", p.address); err == nil {
				time.Sleep(300 * time.Millisecond) // whoever dials meanwhile is not answered
				_ = l.Close()
			}
		}
		logged("E", "Failed to set up listener: SocketException: Address already in use")
		return exitNetError
	}
	if p.fails(Silent) {
		logged("I", "MongoDB starting : it will not get far")
		time.Sleep(time.Hour)
	}
	return 0
}
