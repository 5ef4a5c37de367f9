package command

import (
	"context"
	"sync"
	"time"

	"mrbench/internal/embedded/bsonx"
)

// sessions remembers when each logical session was last used, and its numbered writes.
type sessions struct {
	mu   sync.Mutex
	seen map[string]*logical
	kept int64 // bytes of replies, over all sessions
}

type logical struct {
	used   time.Time
	writes *numbered // nil: none were numbered
}

func (s *sessions) touch(id []byte, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.seen[string(id)]; l != nil {
		l.used = now
		return
	}
	s.seen[string(id)] = &logical{used: now}
}

func (s *sessions) forget(id []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(string(id))
}

func (s *sessions) drop(id string) {
	if l := s.seen[id]; l != nil && l.writes != nil {
		l.writes.ended = true
		s.kept -= l.writes.kept
	}
	delete(s.seen, id)
}

// numbered is the memory of a session's writes.
func (s *sessions) numbered(id []byte) *numbered {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.seen[string(id)]
	if l == nil { // ended since this command began
		l = &logical{used: time.Now()}
		s.seen[string(id)] = l
	}
	if l.writes == nil {
		l.writes = newNumbered()
	}
	return l.writes
}

// keep reports whether size more bytes of replies may be kept for n.
func (s *sessions) keep(n *numbered, size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.ended || s.kept+size > keepReplies {
		return false
	}
	s.kept += size
	n.kept += size
	return true
}

// letGo tells that nothing of n's replies is kept any more.
func (s *sessions) letGo(n *numbered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !n.ended {
		s.kept -= n.kept
	}
	n.kept = 0
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// expire forgets the sessions not used since limit and returns their ids.
func (s *sessions) expire(limit time.Time) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.seen {
		if l.used.Before(limit) {
			ids = append(ids, id)
			s.drop(id)
		}
	}
	return ids
}

// startSession gives a client a new logical session.
func startSession(_ context.Context, c *call) error {
	id := newUUID()
	c.s.idle.touch(c.sess.own(id[:]), time.Now())
	at := c.startDoc("id")
	c.uuid("id", id)
	c.end(at)
	c.int32("timeoutMinutes", int32(logicalSessionTimeout.Minutes()))
	return nil
}

// endSessions closes what the named sessions left open.
func endSessions(_ context.Context, c *call) error {
	return c.eachSession(func(id []byte) {
		c.s.idle.forget(id)
		c.s.cursors.closeSession(id)
	})
}

// killSessions also stops what runs in them.
func killSessions(_ context.Context, c *call) error {
	return c.eachSession(func(id []byte) {
		c.s.ops.killSession(id)
		c.s.idle.forget(id)
		c.s.cursors.closeSession(id)
	})
}

// refreshSessions keeps sessions from being forgotten.
func refreshSessions(_ context.Context, c *call) error {
	now := time.Now()
	return c.eachSession(func(id []byte) { c.s.idle.touch(id, now) })
}

// killAllSessions ends every session there is.
func killAllSessions(_ context.Context, c *call) error {
	for _, id := range c.s.idle.expire(time.Now().Add(time.Hour)) {
		c.s.ops.killSession([]byte(id))
		c.s.cursors.closeSession([]byte(id))
	}
	return nil
}

func (c *call) eachSession(do func(id []byte)) error {
	list := c.target()
	if list.Type != bsonx.TypeArray {
		return wrongType(c.cmd.name, c.name, list, "array")
	}
	for it := list.Elems(); it.Next(); {
		v := it.Value()
		if v.Type != bsonx.TypeEmbeddedDocument {
			return wrongType(c.cmd.name, c.name+"."+string(it.Name()), v, "object")
		}
		id := v.Doc().Get("id")
		if id.Type != bsonx.TypeBinary {
			return wrongType(c.cmd.name, c.name+"."+string(it.Name())+".id", id, "binData")
		}
		_, b := id.Binary()
		do(c.sess.own(b))
	}
	return nil
}
