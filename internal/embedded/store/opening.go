package store

import (
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// openTries is how many failures to write end the opening of a data directory.
const openTries = 20

// opening counts what fails while pebble opens. It moves the log into tables first, and on a full disk it would try
// that without end, and without letting anybody know.
type opening struct {
	failures atomic.Int64
	gaveUp   chan error
}

// failed counts a failure; the last one does not return, as pebble would only try again.
func (o *opening) failed(err error) {
	if o == nil || o.failures.Add(1) < openTries {
		return
	}
	select {
	case o.gaveUp <- err:
	default:
	}
	select {}
}

// openPebble turns a panic of pebble's into an error, and so a disk that takes no writes. In the second case pebble's
// goroutines stay as they are, blocked, until the process ends: nothing can stop them, and nothing is written any more.
func openPebble(dir string, po *pebble.Options, h *health) (*pebble.DB, error) {
	o := &opening{gaveUp: make(chan error, 1)}
	h.opening.Store(o)
	defer h.opening.Store(nil)
	var p *pebble.DB
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("storage: %v", r)
			}
		}()
		var err error
		p, err = pebble.Open(dir, po)
		done <- err
	}()
	select {
	case err := <-done:
		return p, err
	case err := <-o.gaveUp:
		return nil, fmt.Errorf("what the log holds can't be moved into tables: %w; it is all still there: make room, and start again", err)
	}
}
