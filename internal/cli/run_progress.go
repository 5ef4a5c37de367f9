package cli

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"go.mongodb.org/mongo-driver/mongo"
)

const (
	// barsAfter keeps bars away from rows that are over before anyone has read them.
	barsAfter = 300 * time.Millisecond
	// lookEvery is how often the server is asked how far it is. One look is a command among those that are measured,
	// and nothing looks where no bar is drawn: see BenchmarkLook.
	lookEvery = 500 * time.Millisecond
	// lookFor is how long one look may take.
	lookFor = 2 * time.Second
	// manyTurns is from how many runs on a line for each is too many where there is no terminal.
	manyTurns = 100
	// worthSaying is the least time left that a finished turn's line tells.
	worthSaying = 10 * time.Second
	// stillEvery is how often a long row without a terminal says that it goes on.
	stillEvery = 30 * time.Second
)

// progressRow is what the progress of a run has to know of a row.
type progressRow struct {
	id        string
	threads   int
	documents []int64         // of each of its ranges; one for the whole collection
	took      []time.Duration // what each range took the last time; 0 not known
}

// runProgress shows how a run goes: bars on a terminal, a line now and then elsewhere.
type runProgress struct {
	a     *app
	look  func(ctx context.Context, prefix string) (map[int]partProgress, error)
	turns *turns
	runs  int       // measured rounds, at least
	total int       // turns of all rows
	until time.Time // when the time budget ends; zero is none
	style style
	after time.Duration // how long a row runs before bars are drawn

	lastLine time.Time // where there is no terminal

	mu   sync.Mutex
	rows map[string]*progressRow
	now  turn
	stop func() // ends what draws the turn; nil when nothing does
}

// turn is one run of one row.
type turn struct {
	row      *progressRow
	place    int // of the row among all, from 1
	rows     int
	round    int    // from 1; below it are those that warm up
	prefix   string // what the row's commands are known by
	start    time.Time
	slots    []slot // of each thread
	ended    int    // ranges
	stopping bool
}

// slot is what a thread does.
type slot struct {
	part  int // index of the range; -1 none
	start time.Time
	partProgress
}

func newRunProgress(a *app, client *mongo.Client, rows []progressRow, warmup, runs int) *runProgress {
	p := &runProgress{a: a, after: barsAfter, style: a.styleOf(a.env.StderrTerminal), rows: map[string]*progressRow{}, runs: runs, total: (warmup + runs) * len(rows)}
	ids := make([]string, len(rows))
	for i := range rows {
		r := &rows[i]
		r.took = make([]time.Duration, len(r.documents))
		ids[i], p.rows[r.id] = r.id, r
	}
	p.turns = newTurns(warmup+runs, ids)
	p.look = func(ctx context.Context, prefix string) (map[int]partProgress, error) {
		return readProgress(ctx, client, prefix)
	}
	return p
}

// begin says that a row starts now. end has to be called when it is over.
func (p *runProgress) begin(ctx context.Context, t turn, id string) {
	t.row, t.rows, t.start = p.rows[id], len(p.rows), p.a.env.Now()
	t.slots = make([]slot, t.row.threads)
	for i := range t.slots {
		t.slots[i].part = -1
	}
	p.mu.Lock()
	p.now = t
	p.mu.Unlock()
	if p.a.bars() {
		p.stop = p.draw(ctx)
	} else {
		p.stop = p.stillThere(ctx)
	}
}

// started and finished tell of a range of the row that runs.
func (p *runProgress) started(part, thread int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if thread < len(p.now.slots) {
		p.now.slots[thread] = slot{part: part, start: p.a.env.Now()}
	}
}

func (p *runProgress) finished(part, thread int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.ended++
	if p.now.row != nil && thread < len(p.now.slots) {
		s := &p.now.slots[thread]
		if part < len(p.now.row.took) {
			p.now.row.took[part] = p.a.env.Now().Sub(s.start)
		}
		s.part = -1
	}
}

// end takes the bars away. err is the row's.
func (p *runProgress) end(err error) {
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	p.turns.end(p.now.row.id, p.a.env.Now().Sub(p.now.start), err == nil)
}

// line prints what a finished turn has to say: always on a terminal, elsewhere not more often than a person reads
// when there are many. It ends with the time that is left.
func (p *runProgress) line(text string) {
	now := p.a.env.Now()
	if !p.a.bars() && p.total > manyTurns && now.Sub(p.lastLine) < plainEvery {
		return
	}
	p.lastLine = now
	if left, _, _ := p.left("", 0); left >= worthSaying {
		text += "  " + p.leftText("", 0)
	}
	p.a.tell("%s", text)
}

// stillThere says now and then that a long row goes on, where there are no bars.
func (p *runProgress) stillThere(ctx context.Context) (stop func()) {
	return owned(ctx, func(ctx context.Context) {
		for pause(ctx, stillEvery) {
			p.mu.Lock()
			text := p.headLine(p.a.env.Now())
			p.mu.Unlock()
			p.a.tell("%s", text)
		}
	})
}

// draw shows bars until stop is called: a line for the row and one for each range that runs.
func (p *runProgress) draw(ctx context.Context) (stop func()) {
	run := ctx
	return owned(context.WithoutCancel(ctx), func(ctx context.Context) {
		if !pause(ctx, p.after) {
			return
		}
		bars := mpb.New(mpb.WithOutput(p.a.env.Stderr), mpb.ForceTTY(), mpb.WithAutoRefresh(), mpb.WithRefreshRate(200*time.Millisecond))
		p.a.above.Store(bars)
		p.mu.Lock()
		n := p.lineCount()
		p.mu.Unlock()
		lines := make([]*mpb.Bar, n)
		for i := range lines {
			lines[i], _ = bars.Add(0, mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
				p.mu.Lock()
				defer p.mu.Unlock()
				_, err := io.WriteString(w, p.lineAt(i, s.AvailableWidth, p.a.env.Now()))
				return err
			}), mpb.BarFillerTrim())
		}
		looking := true
		for pause(ctx, lookEvery) {
			p.mu.Lock()
			p.now.stopping = run.Err() != nil
			prefix := p.now.prefix
			p.mu.Unlock()
			looking = looking && run.Err() == nil && p.lookOnce(ctx, prefix)
		}
		for _, b := range lines {
			b.Abort(true)
		}
		bars.Wait()
		p.a.above.Store(nil)
	})
}

// lookOnce asks the server how far it is; false when it does not tell, so that asking again is of no use.
func (p *runProgress) lookOnce(ctx context.Context, prefix string) bool {
	asking, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	found, err := p.look(asking, prefix)
	if err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.now.slots {
		s := &p.now.slots[i]
		if x, ok := found[s.part]; ok && s.part >= 0 {
			s.partProgress = x
		}
	}
	return true
}

// owned runs work on a goroutine; stop ends its context and waits for it.
func owned(ctx context.Context, work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
