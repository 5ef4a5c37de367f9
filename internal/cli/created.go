package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mrbench/internal/bench"
)

// created is the record of what mrbench made on servers: a file of lines in the data directory, written before a
// thing is made and again when it is dropped.
type created struct{ path string }

// Kinds of things that are recorded.
const (
	kindDatabase   = "database"
	kindCollection = "collection"
	kindOutput     = "output"    // a collection of --out-db
	kindCompanion  = "companion" // a collection beside the result of --into
)

// creation is a line of the record.
type creation struct {
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`           // database, or database.collection
	UUID    string    `json:"uuid,omitempty"` // of a collection, as the server gave it
	Server  string    `json:"server"`         // target.Target.Identity
	Run     string    `json:"run,omitempty"`
	Time    time.Time `json:"time"`
	Dropped bool      `json:"dropped,omitempty"` // it is gone again

	Spec *bench.DataSpec `json:"spec,omitempty"` // of kindData
}

func createdIn(dataDir string) created {
	return created{filepath.Join(dataDir, "created.ndjson")}
}

// add writes a line and waits until it is on disk.
func (r created) add(c creation) (err error) {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		return fmt.Errorf("record of created databases: %w", err)
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("record of created databases: %w", err)
	}
	defer finish(&err, f)
	line, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("record of created databases: %w", err)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("record of created databases: %w", err)
	}
	return f.Sync()
}

// list returns what was created on a server and not dropped since, oldest first.
func (r created) list(server string) ([]creation, error) {
	f, err := os.Open(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("record of created databases: %w", err)
	}
	defer f.Close()
	var all []creation
	in := bufio.NewScanner(f)
	for in.Scan() {
		var c creation
		// A line that was cut off by a crash says nothing; what it was about to record was not made yet.
		if json.Unmarshal(in.Bytes(), &c) != nil || c.Server != server {
			continue
		}
		kept := all[:0]
		for _, old := range all {
			if old.Kind != c.Kind || old.Name != c.Name {
				kept = append(kept, old)
			}
		}
		all = kept
		if !c.Dropped {
			all = append(all, c)
		}
	}
	return all, in.Err()
}
