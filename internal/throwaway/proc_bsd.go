//go:build unix && !linux

package throwaway

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// apart puts a process in a group of its own, so that Ctrl-C in a terminal reaches mrbench alone.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// identity tells a running process from all others that ever had its number: the time of its start. It is empty when there is
// no such process.
func identity(pid int) string {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
