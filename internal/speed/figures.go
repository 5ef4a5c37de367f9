package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

// figures are one measurement, as -save keeps it.
type figures struct {
	Documents int64  `json:"documents"`
	Go        string `json:"go"`
	CPU       string `json:"cpu"`
	CPUs      int    `json:"cpus"`
	Runs      int    `json:"runs"`
	Steps     []step `json:"steps"`
}

// step is one line of the table.
type step struct {
	Name    string    `json:"name"`
	Seconds float64   `json:"seconds"` // median
	All     []float64 `json:"all"`
	// PeakMiB is the most memory that the process had resident while the step ran. 0: not known on this platform.
	PeakMiB float64 `json:"peak_mib,omitempty"`
	// Parts are nanoseconds of CPU a document, by what they were spent on, when a profile was taken.
	Parts map[string]float64 `json:"parts,omitempty"`
}

func newFigures(docs int64, runs int) figures {
	return figures{Documents: docs, Go: runtime.Version(), CPU: cpuModel(), CPUs: runtime.NumCPU(), Runs: runs}
}

func (f *figures) step(name string) *step {
	for i := range f.Steps {
		if f.Steps[i].Name == name {
			return &f.Steps[i]
		}
	}
	return nil
}

func (f *figures) save(path string) error {
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

func load(path string) (*figures, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &figures{}
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.Documents == 0 {
		return nil, fmt.Errorf("%s: not a file that -save wrote", path)
	}
	return f, nil
}
