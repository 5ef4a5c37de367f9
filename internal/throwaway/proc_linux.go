package throwaway

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// apart puts a process in a group of its own, so that Ctrl-C in a terminal reaches mrbench alone, and has it die with the
// thread that started it.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// identity tells a running process from all others that ever had its number: the boot and the time of its start. It is empty
// when there is no such process, or only what is left of a dead one.
func identity(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	text := string(b) // pid (name) state ppid …; the name may hold anything
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		boot = nil
	}
	return strings.TrimSpace(string(boot)) + "/" + f[19] // field 22: clock ticks from the boot to the start
}
