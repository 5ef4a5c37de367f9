package throwaway

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart puts a process in a group of its own, so that Ctrl-C in a console reaches mrbench alone.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// identity tells a running process from all others that ever had its number: the time of its start. It is empty when there is
// no such process.
func identity(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var start, end, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &start, &end, &kernel, &user); err != nil || end.Nanoseconds() > start.Nanoseconds() {
		return ""
	}
	return fmt.Sprint(start.Nanoseconds())
}

// kill ends a process.
func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// lock takes a lock that ends with the file or the process.
func lock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	// A byte far beyond the content, which stays readable.
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
}
