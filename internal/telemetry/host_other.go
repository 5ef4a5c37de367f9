//go:build !linux

package telemetry

import "time"

func thisHost() host { return system{} }

func (system) process(int) (process, error) { return process{}, errNoProcess }

func (system) cpu(int) (time.Duration, bool) { return 0, false }
