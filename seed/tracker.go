package seed

import (
	"sync"

	"mrbench/seed/source"
)

// tracker keeps account of which parts of the files are settled: every document of
// theirs is in the collection, or was left out by Config's choice.
type tracker struct {
	mu    sync.Mutex
	state *Checkpoint
}

// part is a chunk's account. The tracker's lock guards it.
type part struct {
	file    int
	extent  source.Extent
	last    bool
	decoded bool  // total and rejects are known
	total   int64 // documents that went into batches
	settled int64 // of those

	rejects, duplicates int64
}

// share is how many of a batch's documents come from a part. They stand side by side.
type share struct {
	part *part
	n    int
}

// begin opens the account of a chunk. It is called for all chunks in their order.
func (t *tracker) begin(r *source.Reader, c *source.Chunk) (*part, error) {
	f := &t.state.Files[c.Index]
	if f.Fingerprint == nil && f.Path != "-" {
		if source.NotResumable(r.Files()[c.Index:c.Index+1]) == "" {
			p, err := r.Files()[c.Index].Fingerprint()
			if err != nil {
				return nil, err
			}
			t.mu.Lock()
			f.Fingerprint = &p
			t.mu.Unlock()
		}
	}
	return &part{file: c.Index, extent: c.Extent, last: c.Last}, nil
}

// decoded says that all of a chunk's documents are in batches.
func (t *tracker) decoded(p *part, total, rejects int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.decoded, p.total, p.rejects = true, total, rejects
	t.close(p)
}

// settle says that a batch is dealt with. duplicates are the places of
// documents in it, ascending, that were left out.
func (t *tracker) settle(shares []share, duplicates []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := 0
	for _, s := range shares {
		for len(duplicates) > 0 && duplicates[0] < first+s.n {
			s.part.duplicates++
			duplicates = duplicates[1:]
		}
		first += s.n
		s.part.settled += int64(s.n)
		t.close(s.part)
	}
}

// close takes a part into the state when all of it is settled.
func (t *tracker) close(p *part) {
	if !p.decoded || p.settled < p.total {
		return
	}
	f := &t.state.Files[p.file]
	if p.last {
		f.Text = p.extent.To // the length is known now
	}
	f.Add(p.extent)
	t.state.Documents += p.total - p.duplicates
	t.state.Rejects += p.rejects
	t.state.Duplicates += p.duplicates
	ended := p.last || f.Text > 0
	if e := f.Extents; ended && (f.Text == 0 || len(e) == 1 && e[0] == (source.Extent{To: f.Text})) {
		f.Complete, f.Extents = true, nil
	}
}

// snapshot is the account as it stands.
func (t *tracker) snapshot() *Checkpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state.clone()
}
