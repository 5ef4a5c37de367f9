package command

import (
	"context"
	"sync"
	"time"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// ops holds the commands that run now, for currentOp and killOp.
type ops struct {
	mu      sync.Mutex
	last    int32
	running map[int32]*op
}

// op is one running command.
type op struct {
	id      int32
	started time.Time
	cancel  context.CancelCauseFunc

	// guarded by ops.mu, as currentOp reads them from another connection. call's request bytes are
	// valid while the op is registered: the connection reads its next message only after end.
	owner       *ops
	call        *call
	user        string // whose it is: Session.owner
	ns          string
	phase       string
	done, total int64
	killed      bool
}

func newOps() *ops { return &ops{running: map[int32]*op{}} }

// begin registers c and gives the context that stops it; end takes it out again.
func (o *ops) begin(ctx context.Context, c *call) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &op{started: time.Now(), cancel: cancel, owner: o, call: c, user: c.sess.owner(), ns: c.db + ".$cmd"}
	c.op = p
	o.mu.Lock()
	o.last++
	p.id = o.last
	o.running[p.id] = p
	o.mu.Unlock()
	return ctx, func() {
		o.mu.Lock()
		delete(o.running, p.id)
		o.mu.Unlock()
		cancel(nil)
	}
}

// kill stops one operation; an unknown id is nothing to stop.
func (o *ops) kill(id int32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.running[id]; p != nil {
		p.stop()
	}
}

// killSession stops what runs in a logical session.
func (o *ops) killSession(id []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.running {
		if string(p.call.g.session) == string(id) && !p.call.cmd.session {
			p.stop()
		}
	}
}

func (p *op) stop() {
	p.killed = true
	p.cancel(mongoerr.New(mongoerr.Interrupted, "operation was interrupted"))
}

func (p *op) setNS(ns store.NS) {
	p.owner.mu.Lock()
	p.ns = ns.String()
	p.owner.mu.Unlock()
}

// progress is what a long command reports: documents (or entries) done out of total, 0 when unknown.
func (p *op) progress(phase string, done, total int64) {
	p.owner.mu.Lock()
	p.phase, p.done, p.total = phase, done, total
	p.owner.mu.Unlock()
}
