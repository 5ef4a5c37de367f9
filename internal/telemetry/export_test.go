package telemetry

import "time"

// Sample takes a sample now.
func (sp *Span) Sample() { sp.sample() }

// CPU is the CPU time of this process, 0 where it can't be had.
func CPU() time.Duration {
	h := thisHost()
	d, _ := h.cpu(h.self())
	return d
}
