package splitter

import (
	"context"
	"slices"
	"sort"
)

// chunk is one of a sharded collection: [lo, hi) in the fields of the ranges, as far as the shard key has them. Open ends are zero.
type chunk struct {
	lo, hi point
	// A bound that goes on in further fields of the shard key lies inside a value of those that ranges are of.
	loIn, hiIn bool
	shard      string
}

// chunkMap is all chunks in order.
type chunkMap struct {
	fields layout
	depth  int // how many fields of the ranges the chunks have
	chunks []chunk
	whole  bool // each begins where the one before ends
}

// points are the bounds of the chunks, those that chunks share within a value once.
func (m *chunkMap) points() []point {
	var points []point
	for _, c := range m.chunks {
		for _, p := range []point{c.lo, c.hi} {
			if !zero(p[0]) {
				points = append(points, p)
			}
		}
	}
	return m.fields.tidy(points)
}

// owner is the shard that has all chunks which [lo, hi) reaches into; "" when there are several, or holes in the map.
func (m *chunkMap) owner(lo, hi point) string {
	if !m.whole {
		return ""
	}
	from := sort.Search(len(m.chunks), func(i int) bool { return !m.ends(m.chunks[i], lo) })
	shard := ""
	for i := from; i < len(m.chunks) && !m.begins(m.chunks[i], hi); i++ {
		if i > from && m.chunks[i].shard != shard {
			return ""
		}
		shard = m.chunks[i].shard
	}
	return shard
}

// findOwners sets the shards of pieces that were not made of chunks, where they can be known.
func (r *reader) findOwners(ctx context.Context, rep *Report) error {
	found, err := r.chunks(ctx)
	if err != nil {
		if refused(err) {
			return nil
		}
		return err
	}
	found.chunks.setOwners(rep)
	return nil
}

func (m *chunkMap) setOwners(rep *Report) (spanning int) {
	for i := range rep.Pieces {
		_, lo, hi := rep.Pieces[i].Range.parts()
		if rep.Pieces[i].Shard = m.owner(lo, hi); rep.Pieces[i].Shard == "" {
			spanning++
		}
	}
	return spanning
}

// ends says that a chunk lies below lo.
func (m *chunkMap) ends(c chunk, lo point) bool {
	if zero(c.hi[0]) {
		return false
	}
	n := m.fields[:m.depth].compare(c.hi[:m.depth], lo[:m.depth])
	return n < 0 || n == 0 && !c.hiIn
}

// begins says that a chunk lies at hi or above.
func (m *chunkMap) begins(c chunk, hi point) bool {
	if zero(hi[0]) {
		return false
	}
	n := m.fields[:m.depth].compare(c.lo[:m.depth], hi[:m.depth])
	return n > 0 || n == 0 && hi.depth() <= m.depth
}

// cell is a stretch from one bound of chunks to another that is counted as one.
type cell struct {
	lo, hi point
	inner  []point // bounds of chunks inside
	shard  string  // "" several
	docs   int64
}

// cells are the stretches between points.
func (m *chunkMap) cells(points []point) []cell {
	lo := make(point, len(m.fields))
	var out []cell
	for i := range len(points) + 1 {
		hi := make(point, len(m.fields))
		if i < len(points) {
			hi = points[i]
		}
		out = append(out, cell{lo: lo, hi: hi, shard: m.owner(lo, hi)})
		lo = hi
	}
	return out
}

// join adds the next cell; with documents in one only, that one's shard counts.
func (a cell) join(b cell) cell {
	shard := a.shard
	switch {
	case a.shard == b.shard:
	case a.docs == 0:
		shard = b.shard
	case b.docs > 0:
		shard = ""
	}
	return cell{a.lo, b.hi, slices.Concat(a.inner, []point{b.lo}, b.inner), shard, a.docs + b.docs}
}

// runs is how many stretches of one shard there are.
func runs(cells []cell) (n int) {
	for i := range cells {
		if i == 0 || cells[i].shard != cells[i-1].shard {
			n++
		}
	}
	return n
}

// thin joins neighbours to at most most cells, of one shard each unless there are more stretches of one shard than that.
func thin(cells []cell, most int) []cell {
	if len(cells) <= most {
		return cells
	}
	per, mixed := 0, false
	if n := runs(cells); n < most {
		per = (len(cells) + most - n - 1) / (most - n)
	} else {
		per, mixed = (len(cells)+most-1)/most, true
	}
	var out []cell
	held := 0
	for _, x := range cells {
		if n := len(out); n > 0 && held < per && (mixed || out[n-1].shard == x.shard) {
			shard := out[n-1].shard
			if shard != x.shard {
				shard = ""
			}
			out[n-1] = out[n-1].join(x)
			out[n-1].shard = shard
			held++
			continue
		}
		out = append(out, x)
		held = 1
	}
	return out
}

// fillEmpty joins cells without documents to neighbours, of the same shard if there is one.
func fillEmpty(cells []cell) []cell {
	var same, out []cell
	for _, x := range cells {
		if n := len(same); n > 0 && same[n-1].shard == x.shard && (x.docs == 0 || same[n-1].docs == 0) {
			same[n-1] = same[n-1].join(x)
		} else {
			same = append(same, x)
		}
	}
	for _, x := range same {
		if n := len(out); n > 0 && (x.docs == 0 || out[n-1].docs == 0) {
			out[n-1] = out[n-1].join(x)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// pick chooses bounds of cells for n ranges. Where n are enough each lies on one shard; else bounds at which the
// shard changes are taken before others.
func pick(cells []cell, n int) []point {
	cells = fillEmpty(cells)
	weights, walls := make([]int64, len(cells)), make([]bool, len(cells))
	for i, x := range cells {
		weights[i] = x.docs
		walls[i] = i > 0 && cells[i-1].shard != x.shard
	}
	var ends []int
	if runs(cells) <= n {
		ends = perRun(weights, n, walls)
	} else {
		ends = leaning(weights, n, walls)
	}
	var points []point
	for _, end := range ends {
		points = append(points, cells[end].lo)
	}
	return points
}

// perRun groups neighbours between walls so that the heaviest group is as light as can be, and then each run's groups
// evenly, for the heaviest one may be in another run.
func perRun(weights []int64, n int, walls []bool) []int {
	all := lightest(weights, n, walls)
	var ends []int
	for from := 0; from < len(weights); {
		to := from + 1
		for to < len(weights) && !walls[to] {
			to++
		}
		inside := 1
		for _, end := range all {
			if end > from && end < to {
				inside++
			}
		}
		if from > 0 {
			ends = append(ends, from)
		}
		for _, end := range lightest(weights[from:to], inside, nil) {
			ends = append(ends, from+end)
		}
		from = to
	}
	return ends
}

// slack is the part of the least possible weight by which a group may be heavier so that it ends at a better place.
const slack = 20

// leaning groups neighbours into at most n groups of about the least weight that is possible, which end at a wall
// when one is within reach.
func leaning(weights []int64, n int, walls []bool) []int {
	most := capacity(weights, n, nil)
	most += most / slack
	var ends []int
	for at := 0; ; {
		next := groups(weights[at:], most, nil)
		if len(next) == 0 {
			return fill(weights, ends, n)
		}
		end := at + next[0]
		for j := end; j > at; j-- {
			if !walls[j] {
				continue
			}
			if rest := len(groups(weights[j:], most, nil)) + 1; len(ends)+1+rest <= n {
				end = j
			}
			break // an earlier one would leave more to the rest
		}
		ends = append(ends, end)
		at = end
	}
}
