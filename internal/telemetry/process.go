package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// process is what the system says of one process.
type process struct {
	name    string
	age     time.Duration
	cpu     time.Duration // user and system, of all its threads so far
	memory  int64         // resident bytes
	read    int64         // bytes from storage so far, -1 when that is not shown
	written int64         // to storage
}

// errNoProcess means that this system shows no processes.
var errNoProcess = errors.New("CPU and memory of processes are read on Linux only")

// The units of /proc/PID/stat: a tick is the same on all of Linux's architectures that Go supports.
const ticksPerSecond = 100

// procfs reads processes from a directory laid out as Linux's /proc.
type procfs struct {
	root     string
	pageSize int64
}

// process reads what is known of a process.
func (p procfs) process(pid int) (process, error) {
	dir := filepath.Join(p.root, strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return process{}, err
	}
	uptime, err := os.ReadFile(filepath.Join(p.root, "uptime"))
	if err != nil {
		return process{}, err
	}
	x, err := parseStat(string(stat), string(uptime), p.pageSize)
	if err != nil {
		return process{}, fmt.Errorf("%s: %w", filepath.Join(dir, "stat"), err)
	}
	x.read, x.written = -1, -1
	// Only the owner of a process may read it.
	if io, err := os.ReadFile(filepath.Join(dir, "io")); err == nil {
		x.read, x.written = ioField(io, "read_bytes"), ioField(io, "write_bytes")
	}
	return x, nil
}

// parseStat reads /proc/PID/stat. The name stands in parentheses and may hold any character, parentheses too.
func parseStat(stat, uptime string, pageSize int64) (process, error) {
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return process{}, errors.New("no process name")
	}
	f := strings.Fields(stat[end+1:])
	// Fields are counted from 1 in proc(5); f[0] is the third.
	const utime, stime, starttime, rss = 14 - 3, 15 - 3, 22 - 3, 24 - 3
	if len(f) <= rss {
		return process{}, fmt.Errorf("%d fields after the name", len(f))
	}
	var n [4]int64
	for i, at := range []int{utime, stime, starttime, rss} {
		var err error
		if n[i], err = strconv.ParseInt(f[at], 10, 64); err != nil {
			return process{}, err
		}
	}
	up, _, _ := strings.Cut(uptime, " ")
	seconds, err := strconv.ParseFloat(up, 64)
	if err != nil {
		return process{}, err
	}
	ticks := func(n int64) time.Duration { return time.Duration(n) * time.Second / ticksPerSecond }
	return process{
		name: stat[open+1 : end], cpu: ticks(n[0] + n[1]), memory: n[3] * pageSize,
		age: time.Duration(seconds*float64(time.Second)) - ticks(n[2]),
	}, nil
}

func ioField(io []byte, name string) int64 {
	for line := range bytes.Lines(io) {
		if k, v, ok := bytes.Cut(line, []byte(": ")); ok && string(k) == name {
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(v)), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}
