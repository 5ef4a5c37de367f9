package command

import (
	"context"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// A client numbers the writes of a session, and sends one again under its number when it does not know
// whether it was carried out. Which statements of a session's latest number were, and what came of them,
// is remembered, so that none is carried out twice. This memory ends with the session and with the process.

// keepReplies bounds what findAndModify's replies take in memory, over all sessions, in bytes. A reply that no longer fits
// is not kept, and asking for it again is an error.
const keepReplies = 64 << 20

// numbered is what is remembered of one session. Who took the token from turn may use the rest.
type numbered struct {
	turn    chan struct{}
	number  int64 // of the latest write; below 0: there was none
	command string
	did     map[int32]outcome // updates, deletes, findAndModify
	added   spans             // statements of insert

	// guarded by sessions.mu
	kept  int64 // bytes of replies
	ended bool  // the session was ended; nothing more is kept
}

// outcome is the result of one statement.
type outcome struct {
	matched, modified int64
	upserted          bsonx.Value
	reply             []byte // of findAndModify: the fields of its reply; nil: not kept
}

func newNumbered() *numbered {
	n := &numbered{turn: make(chan struct{}, 1), number: -1}
	n.turn <- struct{}{}
	return n
}

// parseTxnNumber reads the number of a write.
func (c *call) parseTxnNumber(v bsonx.Value) error {
	if v.Type != bsonx.TypeInt64 {
		return wrongType(c.cmd.name, "txnNumber", v, "long")
	}
	if c.g.txnNumber = v.Int64(); c.g.txnNumber < 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "Transaction number cannot be negative")
	}
	c.g.numbered = true
	return nil
}

// parseStmtIDs reads the client's own numbers of the statements.
func (c *call) parseStmtIDs(v bsonx.Value) error {
	if v.Type != bsonx.TypeArray {
		return wrongType(c.cmd.name, "stmtIds", v, "array")
	}
	for it := v.Elems(); it.Next(); {
		if it.Value().Type != bsonx.TypeInt32 {
			return wrongType(c.cmd.name, "stmtIds."+string(it.Name()), it.Value(), "int")
		}
		c.g.stmtIDs = append(c.g.stmtIDs, it.Value().Int32())
	}
	return nil
}

// checkNumbered: only writes have numbers, and only in a session.
func (c *call) checkNumbered() error {
	if len(c.g.session) == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "Transaction number requires a session ID to also be specified")
	}
	switch c.cmd.name {
	case "insert", "update", "delete", "findAndModify":
		return nil
	}
	return mongoerr.New(errNotRetryable, "txnNumber may only be provided for retryable write commands, and %s is not one; there are no transactions here", c.cmd.name)
}

// beginNumbered waits for the session's turn, and starts or takes up the write of the number. Call done at its end.
func (c *call) beginNumbered(ctx context.Context) (done func(), err error) {
	n := c.s.idle.numbered(c.g.session)
	select {
	case <-n.turn:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	done = func() { n.turn <- struct{}{} }
	switch {
	case c.g.txnNumber < n.number:
		err = mongoerr.New(mongoerr.TransactionTooOld,
			"Retryable write with txnNumber %d is prohibited on this session because a newer retryable write with txnNumber %d has already started on it",
			c.g.txnNumber, n.number)
	case c.g.txnNumber > n.number:
		c.s.idle.letGo(n)
		n.number, n.command, n.did, n.added = c.g.txnNumber, c.cmd.name, nil, nil
	case n.command != c.cmd.name:
		err = mongoerr.New(errRetryMismatch, "%s cannot be a retry of txnNumber %d, which was of %s", c.cmd.name, n.number, n.command)
	}
	if err != nil {
		done()
		return nil, err
	}
	c.again = n
	return done, nil
}

// refuseMulti: a statement that changes many documents cannot be numbered.
func (c *call) refuseMulti(multi bool, option string) error {
	if multi && c.again != nil {
		return mongoerr.New(mongoerr.InvalidOptions, "Cannot use retryable writes with %s", option)
	}
	return nil
}

// stmtID is the client's number of the statement at position i.
func (c *call) stmtID(i int) int32 {
	if i < len(c.g.stmtIDs) {
		return c.g.stmtIDs[i]
	}
	return c.g.firstStmt + int32(i)
}

// before is the outcome of statement i when it has been carried out before.
func (c *call) before(i int) (o outcome, ok bool) {
	if c.again == nil {
		return o, false
	}
	id := c.stmtID(i)
	if o, ok = c.again.did[id]; ok {
		c.retried = append(c.retried, id)
	}
	return o, ok
}

// remember keeps the outcome of statement i.
func (c *call) remember(i int, o outcome) {
	n := c.again
	if n == nil {
		return
	}
	if n.did == nil {
		n.did = map[int32]outcome{}
	}
	if o.reply != nil {
		if c.s.idle.keep(n, int64(len(o.reply))) {
			o.reply = slices.Clone(o.reply)
		} else {
			o.reply = nil
		}
	}
	n.did[c.stmtID(i)] = o
}

// retriedReply is findAndModify's reply of before.
func (c *call) retriedReply(o outcome) error {
	if o.reply == nil {
		return mongoerr.New(mongoerr.IncompleteTransactionHistory, "findAndModify with txnNumber %d was carried out, but its result is no longer kept", c.g.txnNumber)
	}
	c.b = append(c.b, o.reply...)
	return nil
}

// pending leaves out the documents that were inserted before, when there are any; then at says which statement
// each document that stays belongs to.
func (c *call) pending(docs []bsonx.Doc) (rest []bsonx.Doc, at []int) {
	if c.again == nil || len(c.again.added) == 0 {
		return docs, nil
	}
	for i, d := range docs {
		if id := c.stmtID(i); c.again.added.has(id) {
			c.retried = append(c.retried, id)
			continue
		}
		rest, at = append(rest, d), append(at, i)
	}
	return rest, at
}

// rememberInserts keeps that n of the documents that were tried were inserted: the first ones but those that
// failed. at and rest say where they stood (storable's and pending's).
func (c *call) rememberInserts(n int, failed map[int]error, at, rest []int) {
	if c.again == nil {
		return
	}
	for i := 0; n > 0; i++ {
		if failed[i] == nil {
			n--
			c.again.added.add(c.stmtID(place(place(i, at), rest)))
		}
	}
}

// retriedIDs appends the numbers of statements that had been carried out before.
func (c *call) retriedIDs() {
	if len(c.retried) == 0 {
		return
	}
	at := c.startArray("retriedStmtIds")
	for i, id := range c.retried {
		c.elem(i, bsonx.Int32(id))
	}
	c.end(at)
}

// spans is a set of numbers, as ranges [from, to] in order.
type spans [][2]int32

func (s spans) find(id int32) (i int, in bool) {
	return slices.BinarySearchFunc(s, id, func(r [2]int32, id int32) int {
		switch {
		case r[1] < id:
			return -1
		case r[0] > id:
			return 1
		}
		return 0
	})
}

func (s spans) has(id int32) bool {
	_, in := s.find(id)
	return in
}

func (s *spans) add(id int32) {
	i, in := s.find(id)
	if in {
		return
	}
	l := *s
	before := i > 0 && l[i-1][1] == id-1
	after := i < len(l) && l[i][0] == id+1
	switch {
	case before && after:
		l[i-1][1] = l[i][1]
		*s = slices.Delete(l, i, i+1)
	case before:
		l[i-1][1] = id
	case after:
		l[i][0] = id
	default:
		*s = slices.Insert(l, i, [2]int32{id, id})
	}
}
