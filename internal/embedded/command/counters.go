package command

import "sync/atomic"

// opKind is the line of serverStatus.opcounters that a command counts for.
type opKind uint8

const (
	opCommand opKind = iota
	opInsert
	opQuery
	opUpdate
	opDelete
	opGetMore
	opKinds
)

// counters feed serverStatus.
type counters struct {
	ops                [opKinds]atomic.Int64
	bytesIn, bytesOut  atomic.Int64
	requests           atomic.Int64
	connNow, connTotal atomic.Int64
	docsIn, docsOut    atomic.Int64 // documents inserted, returned
	docsUpd, docsDel   atomic.Int64
}

func (c *counters) opened() { c.connNow.Add(1); c.connTotal.Add(1) }
func (c *counters) closed() { c.connNow.Add(-1) }

func (c *counters) received(n int) { c.requests.Add(1); c.bytesIn.Add(int64(n)) }
func (c *counters) sent(n int)     { c.bytesOut.Add(int64(n)) }

// count counts a command that is about to run. Writes count their statements instead, in their handlers.
func (c *counters) count(cmd *command) {
	switch cmd.kind {
	case opInsert, opUpdate, opDelete:
	default:
		c.ops[cmd.kind].Add(1)
	}
}
