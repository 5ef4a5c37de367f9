package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mrbench/internal/embedded/mongoerr"
)

// health knows whether the file system takes writes. While it does not, writes
// are refused with an error that says why and everything can still be read.
type health struct {
	bad atomic.Bool // quick answer for the hot path
	log func(format string, args ...any)
	dir string

	opening atomic.Pointer[opening] // nil once the data directory is open

	mu     sync.Mutex
	cause  error // why writes are refused at present; nil when they are not
	stays  bool  // only a restart helps
	logged time.Time
}

// note records a failed write to the file system.
func (h *health) note(what string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stays {
		h.cause = fmt.Errorf("%s: %w", what, err)
	}
	h.bad.Store(true)
	h.logSometimes("writes are refused: %s: %v", what, err)
}

// warn logs a fault that does not keep writes from working.
func (h *health) warn(what string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logSometimes("%s: %v", what, err)
}

// logSometimes keeps a fault that pebble meets again and again from filling the log. mu is held.
func (h *health) logSometimes(format string, args ...any) {
	if now := time.Now(); now.Sub(h.logged) > 5*time.Second {
		h.logged = now
		h.log(format, args...)
	}
}

// fail refuses writes until the data directory is opened again.
func (h *health) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stays {
		return
	}
	h.cause, h.stays = err, true
	h.bad.Store(true)
	h.log("writes are refused until the next start: %v", err)
}

// recovered takes writes again, unless only a restart helps.
func (h *health) recovered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause == nil || h.stays {
		return
	}
	h.cause = nil
	h.bad.Store(false)
	h.log("the disk takes writes again")
}

// err is nil when writes are taken; else OutOfDiskSpace, or InternalError for another fault.
func (h *health) err() error {
	if !h.bad.Load() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.cause == nil:
		return nil
	case isNoSpace(h.cause):
		return mongoerr.New(mongoerr.OutOfDiskSpace,
			"no space left in %s, the write was refused (%v); free some space, reading goes on", h.dir, h.cause)
	case h.stays:
		return mongoerr.New(mongoerr.InternalError, "%s is read-only since a fault: %v; restart to recover", h.dir, h.cause)
	}
	return mongoerr.New(mongoerr.InternalError, "writing to %s fails: %v; reading goes on", h.dir, h.cause)
}

func isNoSpace(err error) bool { return vfs.IsNoSpaceError(err) }

// wrapIO gives an error of a write that failed by itself (an ingested table, a spilled block) its code.
func wrapIO(err error) error {
	if err == nil || !isNoSpace(err) {
		return err
	}
	var e *mongoerr.Error
	if errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%w", mongoerr.New(mongoerr.OutOfDiskSpace, "no space left on the disk: %v", err))
}
