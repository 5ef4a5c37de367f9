//go:build unix

package throwaway

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// kill ends a process that apart started, and those that it started.
func kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// lock takes a lock that ends with the file or the process. It is the file's, not the process's: opened twice, it excludes itself.
func lock(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}
