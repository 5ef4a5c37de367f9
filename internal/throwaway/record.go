package throwaway

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	dirPrefix = "mrbench-mongod-"
	recordExt = ".ndjson"
)

// record is the file that says what was started. It is locked until its owner ends, however that ends.
type record struct {
	mu  sync.Mutex
	f   *os.File
	dir string // the temporary directory
}

// entry is a line of a record: the directory, or a process.
type entry struct {
	Dir     string `json:"dir,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Started string `json:"started,omitempty"` // identity of the process
}

// exclusive runs work while no other process makes or sweeps records.
func exclusive(state string, work func() error) error {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(state, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f, true); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return work()
}

// newRecord makes a record and the temporary directory that it names.
func newRecord(state, temp string) (r *record, err error) {
	id := strings.ToLower(rand.Text()[:12])
	r = &record{dir: filepath.Join(temp, dirPrefix+id)}
	err = exclusive(state, func() error {
		if r.f, err = os.OpenFile(filepath.Join(state, id+recordExt), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
		if err := lock(r.f, false); err != nil {
			return err
		}
		return r.add(entry{Dir: r.dir})
	})
	if err == nil {
		err = os.Mkdir(r.dir, 0o700)
	}
	if err != nil {
		if r.f != nil {
			_, _ = r.f.Close(), os.Remove(r.f.Name())
		}
		return nil, err
	}
	return r, nil
}

// add writes a line. It need not survive a power cut, which leaves no processes.
func (r *record) add(e entry) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.f.Write(append(b, '\n'))
	return err
}

// close removes the directory and then the record. No process may use it any more.
func (r *record) close() error {
	if err := os.RemoveAll(r.dir); err != nil {
		return errors.Join(err, r.f.Close()) // the record stays for Sweep
	}
	err := os.Remove(r.f.Name())
	cerr := r.f.Close()
	if err != nil { // a system that removes no open files
		err = os.Remove(r.f.Name())
	}
	return errors.Join(err, cerr)
}

// Sweep kills and removes what processes that ended without Stop have left, and says how many servers or clusters that were.
// Those of running processes stay. A state directory that is not there is no error.
func Sweep(state string) (swept int, err error) {
	if _, err := os.Stat(state); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	err = exclusive(state, func() error {
		names, err := filepath.Glob(filepath.Join(state, "*"+recordExt))
		if err != nil {
			return err
		}
		var failed []error
		for _, name := range names {
			was, err := sweepOne(name)
			if err != nil {
				failed = append(failed, err)
			} else if was {
				swept++
			}
		}
		return errors.Join(failed...)
	})
	return swept, err
}

func sweepOne(name string) (bool, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if lock(f, false) != nil {
		return false, nil // its owner lives
	}
	dir, pids, err := readRecord(f)
	if err != nil {
		return false, err
	}
	for _, pid := range pids {
		kill(pid.PID)
	}
	for limit := time.Now().Add(sweepTimeout); ; time.Sleep(10 * time.Millisecond) {
		alive := 0
		for _, p := range pids {
			if identity(p.PID) == p.Started {
				alive = p.PID
			}
		}
		if alive == 0 {
			break
		}
		if time.Now().After(limit) {
			return false, fmt.Errorf("process %d, a server that an earlier mrbench left, does not end", alive)
		}
	}
	// A directory that was not made for this record is none of ours.
	if filepath.Base(dir) == dirPrefix+strings.TrimSuffix(filepath.Base(name), recordExt) {
		if err := os.RemoveAll(dir); err != nil {
			return false, fmt.Errorf("what an earlier mrbench left: %w", err)
		}
	}
	return true, os.Remove(name)
}

// sweepTimeout is how long a killed process may take to end.
const sweepTimeout = 5 * time.Second

// readRecord gives the directory, and those processes that still run. A line that was cut off says nothing.
func readRecord(r io.Reader) (dir string, running []entry, err error) {
	in := bufio.NewScanner(r)
	for in.Scan() {
		var e entry
		if json.Unmarshal(in.Bytes(), &e) != nil {
			continue
		}
		if e.Dir != "" {
			dir = e.Dir
		}
		if e.PID > 1 && e.Started != "" && identity(e.PID) == e.Started {
			running = append(running, e)
		}
	}
	return dir, running, in.Err()
}
