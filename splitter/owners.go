package splitter

import "sync"

// Owners says what pieces of work belong to.
type Owners struct {
	Of   []string // the owner of each piece; "" or missing: of nobody known, which nothing but the threads limits
	Each int      // pieces of one owner at a time; 0: no limit
}

// queue hands out pieces so that no owner has more than its share at work.
type queue struct {
	mu     sync.Mutex
	change *sync.Cond
	lines  []*line // one for each owner
	of     []*line // of each piece
	left   int     // pieces that were not handed out yet
	closed bool
}

// line is the pieces of one owner that wait, and how many are at work.
type line struct {
	waiting []int
	working int
	most    int // at work, 0: no limit
}

func newQueue(n int, owners Owners) *queue {
	q := &queue{of: make([]*line, n), left: n}
	q.change = sync.NewCond(&q.mu)
	named := map[string]*line{}
	for i := range n {
		name := ""
		if i < len(owners.Of) && owners.Each > 0 {
			name = owners.Of[i]
		}
		l := named[name]
		if l == nil {
			l = &line{}
			if name != "" {
				l.most = owners.Each
			}
			named[name] = l
			q.lines = append(q.lines, l)
		}
		l.waiting = append(l.waiting, i)
		q.of[i] = l
	}
	return q
}

// take waits for a piece that may run; false when none is left, or the queue was closed.
func (q *queue) take() (int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.left > 0 {
		if l := q.next(); l != nil {
			i := l.waiting[0]
			l.waiting = l.waiting[1:]
			l.working++
			q.left--
			if q.left == 0 {
				q.change.Broadcast() // those who wait for a piece need not any more
			}
			return i, true
		}
		q.change.Wait()
	}
	return 0, false
}

// next is the line whose turn it is: of those with room, the one with the fewest at work, then with the earliest piece.
func (q *queue) next() *line {
	var best *line
	for _, l := range q.lines {
		if len(l.waiting) == 0 || l.most > 0 && l.working >= l.most {
			continue
		}
		if best == nil || l.working < best.working || l.working == best.working && l.waiting[0] < best.waiting[0] {
			best = l
		}
	}
	return best
}

func (q *queue) done(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.of[i].working--
	q.change.Broadcast()
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}
