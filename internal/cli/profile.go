package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// profiles are written for go tool pprof when the hidden flags name files for them.
type profiles struct {
	cpu, mem string

	cpuFile *os.File
}

func (p *profiles) flags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of the whole run to this `file`, for go tool pprof")
	f.StringVar(&p.mem, "memprofile", "", "write a profile of all allocations, made at the end, to this `file`")
	for _, name := range []string{"cpuprofile", "memprofile"} {
		f.Lookup(name).Hidden = true
	}
}

// start begins the CPU profile.
func (p *profiles) start(path func(string) string) error {
	if p.cpu == "" {
		return nil
	}
	f, err := os.Create(path(p.cpu))
	if err != nil {
		return usageError("--cpuprofile: %v", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(fmt.Errorf("--cpuprofile: %w", err), f.Close())
	}
	p.cpuFile = f
	return nil
}

// stop ends the CPU profile and writes the other one.
func (p *profiles) stop(path func(string) string) (err error) {
	if p.cpuFile != nil {
		pprof.StopCPUProfile()
		err = p.cpuFile.Close()
		p.cpuFile = nil
	}
	if p.mem == "" {
		return err
	}
	f, merr := os.Create(path(p.mem))
	if merr != nil {
		return errors.Join(err, fmt.Errorf("--memprofile: %w", merr))
	}
	runtime.GC() // so that what is live is counted as of now
	return errors.Join(err, pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
