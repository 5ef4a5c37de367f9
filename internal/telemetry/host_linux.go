package telemetry

import (
	"os"
	"syscall"
	"time"
)

func thisHost() host { return system{procfs{"/proc", int64(os.Getpagesize())}} }

func (system) ownCPU() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
