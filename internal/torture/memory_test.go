package torture

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// memoryOf gives a process's resident memory and its peak so far, in MiB; zeros where the system does not say.
func memoryOf(pid int) (now, peak int64) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), ":")
		var kib int64
		if _, err := fmt.Sscan(value, &kib); err != nil {
			continue
		}
		switch name {
		case "VmRSS":
			now = kib >> 10
		case "VmHWM":
			peak = kib >> 10
		}
	}
	return now, peak
}

// bounded complains when the program ever needed more than so many MiB.
func (s *server) bounded(t testing.TB, most int64) {
	t.Helper()
	now, peak := memoryOf(s.cmd.Process.Pid)
	t.Logf("memory: %d MiB now, %d MiB at most", now, peak)
	if peak > most {
		t.Errorf("the program needed %d MiB, want at most %d", peak, most)
	}
}
