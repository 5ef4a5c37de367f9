package torture

import (
	"fmt"
	"slices"
	"testing"
)

// cell is what is known of one thing in the database: the states it may be in, at least one. A thing
// has more than one when a change to it was sent and not acknowledged.
type cell struct{ may []int64 }

const (
	absent = int64(-1) // the state of what does not exist
	empty  = int64(-2) // of a collection without documents
)

func newCell() *cell { return &cell{[]int64{absent}} }

// known gives the only possible state.
func (c *cell) known() (int64, bool) { return c.may[0], len(c.may) == 1 }

// send adds the state that a change on its way brings.
func (c *cell) send(state int64) {
	if !slices.Contains(c.may, state) {
		c.may = append(c.may, state)
	}
}

// settle leaves one state: of an acknowledged change, or one that was read.
func (c *cell) settle(state int64) { c.may = []int64{state} }

// observe settles on what was read, if that is possible.
func (c *cell) observe(state int64) error {
	if !slices.Contains(c.may, state) {
		return fmt.Errorf("is in state %d, possible are %v (%d: does not exist, %d: empty)", state, c.may, absent, empty)
	}
	c.settle(state)
	return nil
}

func TestCell(t *testing.T) {
	c := newCell()
	c.send(1)
	if c.observe(2) == nil {
		t.Error("a state that nobody sent passed")
	}
	if _, ok := c.known(); ok {
		t.Error("sent is not acknowledged")
	}
	c.settle(1)
	if c.observe(absent) == nil {
		t.Error("an acknowledged change may be lost")
	}
	c.send(2)
	if err := c.observe(2); err != nil || c.observe(1) == nil {
		t.Error("what was read once may not change back", err)
	}
}
