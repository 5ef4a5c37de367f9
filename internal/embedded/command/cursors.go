package command

import (
	"sync"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// cursor is a result that is read in batches. It keeps its snapshot until it is closed, so a client
// sees the data of the moment of its find however long it reads.
type cursor struct {
	id      int64
	ns      string // "db.coll", as getMore must name it
	session string
	user    string    // Session.owner of the opener
	origin  bsonx.Doc // the command that opened it, for currentOp's sake and errors

	snap    *store.Snap
	src     query.Source
	project *query.Projection // nil: documents as they come
	scripts *expr.Scripts     // of both; nil: none

	block   []bsonx.Doc // what the source gave last and is not handed out yet
	filled  int         // bytes of the last batch
	left    int64       // documents still to be returned under the limit; negative: no limit
	eof     bool
	lastUse time.Time
	inUse   bool // guarded by cursors.mu
	dead    bool // guarded by cursors.mu: killed while in use, closed by its user
}

// newCursor has a snapshot and nothing to read from yet. Defer its release.
func (s *Server) newCursor(ns store.NS) *cursor {
	return &cursor{ns: ns.String(), snap: s.db.Snapshot(), left: -1}
}

// release closes the cursor unless it is registered, when it lives on.
func (c *cursor) release() {
	if c.id == 0 {
		c.close()
	}
}

func (c *cursor) close() {
	if c.src != nil {
		_ = c.src.Close()
	}
	if c.snap != nil {
		_ = c.snap.Close()
	}
	c.src, c.snap, c.block = nil, nil, nil
}

// cursors is the registry of open cursors.
type cursors struct {
	mu   sync.Mutex
	byID map[int64]*cursor
	made int64 // since the start
	idle int64 // closed for idleness
}

func newCursors() *cursors { return &cursors{byID: map[int64]*cursor{}} }

// add registers c, not in use, under a new id.
func (r *cursors) add(c *cursor) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c.id == 0 || r.byID[c.id] != nil {
		c.id = newCursorID()
	}
	c.lastUse = time.Now()
	r.byID[c.id] = c
	r.made++
	return c.id
}

// take hands the cursor to one getMore; put gives it back. nil: there is none.
func (r *cursors) take(id int64, ns string, session []byte, user string) (*cursor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.byID[id]
	switch {
	case c == nil:
		return nil, nil
	case c.ns != ns:
		return nil, mongoerr.New(mongoerr.Unauthorized, "Requested getMore on namespace '%s', but cursor belongs to a different namespace %s", ns, c.ns)
	case c.user != user:
		return nil, mongoerr.New(mongoerr.Unauthorized, "cursor id %d was not created by the authenticated user", id)
	case c.session != string(session):
		return nil, mongoerr.New(errCursorSession, "Cannot run getMore on cursor %d: it was opened in another session", id)
	case c.inUse:
		return nil, mongoerr.New(errCursorInUse, "cursor id %d is already in use", id)
	}
	c.inUse = true
	return c, nil
}

// put gives a cursor back after use, or closes it when it is done or was killed meanwhile.
func (r *cursors) put(c *cursor, done bool) {
	r.mu.Lock()
	c.inUse = false
	c.lastUse = time.Now()
	done = done || c.dead
	if done {
		delete(r.byID, c.id)
	}
	r.mu.Unlock()
	if done {
		c.close()
	}
}

// kill closes a cursor; one in use is closed by its user. It reports whether there was one.
func (r *cursors) kill(id int64, ns, user string) bool {
	r.mu.Lock()
	c := r.byID[id]
	if c == nil || c.ns != ns || c.user != user {
		r.mu.Unlock()
		return false
	}
	closable := r.detach(c)
	r.mu.Unlock()
	if closable {
		c.close()
	}
	return true
}

// detach removes c from the registry under mu and says whether the caller may close it.
func (r *cursors) detach(c *cursor) bool {
	delete(r.byID, c.id)
	c.dead = true
	return !c.inUse
}

// closeWhere closes the cursors that pick chooses.
func (r *cursors) closeWhere(pick func(*cursor) bool) (n int) {
	var closable []*cursor
	r.mu.Lock()
	for _, c := range r.byID {
		if pick(c) {
			n++
			if r.detach(c) {
				closable = append(closable, c)
			}
		}
	}
	r.mu.Unlock()
	for _, c := range closable {
		c.close()
	}
	return n
}

func (r *cursors) closeSession(id []byte) {
	r.closeWhere(func(c *cursor) bool { return c.session == string(id) })
}

func (r *cursors) closeIdle(limit time.Time) int {
	n := r.closeWhere(func(c *cursor) bool { return !c.inUse && c.lastUse.Before(limit) })
	r.mu.Lock()
	r.idle += int64(n)
	r.mu.Unlock()
	return n
}

func (r *cursors) closeAll() { r.closeWhere(func(*cursor) bool { return true }) }

// counts are for serverStatus.
func (r *cursors) counts() (open, pinned, made, timedOut int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.byID {
		if c.inUse {
			pinned++
		}
	}
	return int64(len(r.byID)), pinned, r.made, r.idle
}
