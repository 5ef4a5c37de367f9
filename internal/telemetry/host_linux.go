package telemetry

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func thisHost() host { return system{procfs{"/proc", int64(os.Getpagesize())}} }

// cpu reads the process's CPU-time clock, which counts nanoseconds; /proc counts ticks of 10 ms. The clock's number is made of the
// process id as in the kernel's posix-timers.h (MAKE_PROCESS_CPUCLOCK, CPUCLOCK_SCHED). A host that refuses leaves the ticks.
func (system) cpu(pid int) (time.Duration, bool) {
	const sched, highest = 2, 1 << 22 // the highest process id there can be
	if pid <= 0 || pid > highest {
		return 0, false
	}
	var t unix.Timespec
	if err := unix.ClockGettime(^int32(pid)<<3|sched, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
