package splitter

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Sharding is what strategy chunks knows of where the ranges lie. It is as of the time of the split: a chunk that moves
// afterwards makes jobs run on other shards than planned, and changes no result.
type Sharding struct {
	Chunks   int      // of the collection
	Counted  int      // stretches whose documents were counted; with very many chunks several are counted as one
	Inside   int      // stretches within one chunk that were cut, for they held too much for even ranges
	Shards   []string // that have chunks, in order of their names
	Spanning int      // ranges that lie on several shards
	Notes    []string // why they do, and what else a reader should know
}

const (
	countedCells = 2048 // as many stretches are counted at most, or twice the ranges
	evenEnough   = 1.2  // times the mean: chunks are cut when a range holds more
	tooHeavy     = 1.5  // times the mean: what is still above that is remarked
	cellsPerMean = 8    // stretches that a heavy one is cut into, for each mean range it holds
)

// alongChunks makes ranges of neighbouring chunks by the numbers of their documents, each on one shard where that is possible, and
// cuts within chunks that hold too much.
func (r *reader) alongChunks(ctx context.Context, c Config, m *chunkMap, s *seen, rep *Report, start time.Time) error {
	points := m.points()
	if err := r.probeThen(ctx, points); err != nil {
		return err
	}
	most := max(2*c.Ranges, min(countedPerRange*c.Ranges, countedCells))
	w := &cutter{reader: r, c: c, m: m, seen: s, cells: thin(m.cells(points), most)}
	if err := w.count(ctx, w.cells); err != nil {
		return err
	}
	rep.Sharding = &Sharding{Chunks: len(m.chunks), Counted: len(w.cells), Shards: m.shards()}
	chosen := pick(w.cells, c.Ranges)
	if w.unfit(chosen) {
		if err := w.refine(ctx); err != nil {
			return err
		}
		rep.Sharding.Inside = w.inside
		chosen = pick(w.cells, c.Ranges)
	}
	rep.Types = s.list()
	rep.Seconds = time.Since(start).Seconds()
	t := time.Now()
	rep.Pieces = r.fields.pieces(chosen)
	if err := r.prove(ctx, c.Predicate, rep); err != nil {
		return err
	}
	if joined := joinEmpty(rep.Pieces); len(joined) < len(rep.Pieces) { // something was removed meanwhile
		rep.Pieces = joined
		if err := r.prove(ctx, c.Predicate, rep); err != nil {
			return err
		}
	}
	rep.CountSeconds = time.Since(t).Seconds()
	rep.Fewer = fewer(rep, c.Ranges)
	w.owners(rep)
	return nil
}

// shards are the names of those that have chunks.
func (m *chunkMap) shards() (names []string) {
	for _, c := range m.chunks {
		if at, known := slices.BinarySearch(names, c.shard); !known {
			names = slices.Insert(names, at, c.shard)
		}
	}
	return names
}

// owners sets the shard of each range, and says why some have none.
func (w *cutter) owners(rep *Report) {
	x := rep.Sharding
	x.Spanning = w.m.setOwners(rep)
	full := fillEmpty(w.cells)
	stretches, mixed := runs(full), slices.ContainsFunc(full, func(c cell) bool { return c.shard == "" })
	note := func(format string, args ...any) { x.Notes = append(x.Notes, fmt.Sprintf(format, args...)) }
	if x.Counted < x.Chunks {
		note("%d chunks were counted as %d stretches", x.Chunks, x.Counted)
	}
	which := fmt.Sprintf("%d of %d ranges lie on several shards", x.Spanning, len(rep.Pieces))
	if x.Spanning == 1 {
		which = fmt.Sprintf("1 of %d ranges lies on several shards", len(rep.Pieces))
	}
	switch {
	case !w.m.whole:
		note("which shard a range lies on is not known: config.chunks kept changing while it was read")
	case x.Spanning > 0 && stretches > w.c.Ranges:
		note("%s: chunks of one shard lie in %d stretches; --ranges %d or more keeps ranges on one shard", which, stretches, stretches)
	case x.Spanning > 0 && mixed:
		note("%s: the shard key goes on behind the key of the ranges, and shards share values of it", which)
	case x.Spanning > 0:
		note("%s: they reach into chunks without documents", which)
	}
	if rep.Imbalance > tooHeavy && stretches <= w.c.Ranges && stretches > 1 {
		note("ranges end where the shard changes, in %d places: more ranges are more even", stretches-1)
	}
}

// cutter makes cells smaller.
type cutter struct {
	*reader
	c      Config
	m      *chunkMap
	seen   *seen
	cells  []cell
	inside int
	drawn  *cuts // by $sample; nil before
}

func (w *cutter) total() (sum int64) {
	for _, x := range w.cells {
		sum += x.docs
	}
	return sum
}

// count counts the documents of cells by the filters that jobs will use.
func (w *cutter) count(ctx context.Context, cells []cell) error {
	return Each(ctx, len(cells), countThreads, func(ctx context.Context, i, _ int) (err error) {
		cells[i].docs, err = w.reader.count(ctx, w.fields.between(cells[i].lo, cells[i].hi).Filter(w.c.Predicate))
		return err
	})
}

// unfit says that ranges which end at these points are too few, or one is too large, and cutting cells would help.
func (w *cutter) unfit(points []point) bool {
	full, n := fillEmpty(w.cells), len(points)+1
	if runs(full) == w.c.Ranges || w.total() == 0 {
		return false // every stretch has its one range
	}
	if n < w.c.Ranges {
		return true
	}
	var sum, heaviest int64
	next := 0
	for _, x := range full {
		if next < len(points) && w.fields.compare(x.lo, points[next]) == 0 {
			next, sum = next+1, 0
		}
		sum += x.docs
		heaviest = max(heaviest, sum)
	}
	return float64(heaviest)*float64(n) > evenEnough*float64(w.total())
}

// refine cuts cells that hold more than half a mean range: at the bounds of their chunks, and then within chunks.
func (w *cutter) refine(ctx context.Context) error {
	mean := max(float64(w.total())/float64(w.c.Ranges), 1)
	heavy := func(x cell) bool { return x.docs > 1 && float64(x.docs) > mean/2 }
	parts := func(x cell) int { return int(float64(x.docs)/mean*cellsPerMean) + 1 }
	for slices.ContainsFunc(w.cells, func(x cell) bool { return heavy(x) && len(x.inner) > 0 }) {
		err := w.cut(ctx, func(x cell) ([]point, error) {
			if !heavy(x) || len(x.inner) == 0 {
				return nil, nil
			}
			return cuts{points: x.inner}.choose(max(parts(x), 2)), nil
		})
		if err != nil {
			return err
		}
	}
	return w.cut(ctx, func(x cell) ([]point, error) {
		if !heavy(x) {
			return nil, nil
		}
		points, err := w.within(ctx, x, max(parts(x), 2))
		if len(points) > 0 {
			w.inside++
		}
		return points, err
	})
}

// cut puts the parts of cells in their place, and counts those.
func (w *cutter) cut(ctx context.Context, at func(cell) ([]point, error)) error {
	var out []cell
	var fresh []int
	for _, x := range w.cells {
		points, err := at(x)
		if err != nil {
			return err
		}
		if len(points) == 0 {
			out = append(out, x)
			continue
		}
		lo := x.lo
		for i := range len(points) + 1 {
			hi := x.hi
			if i < len(points) {
				hi = points[i]
			}
			part := cell{lo: lo, hi: hi, shard: w.m.owner(lo, hi)}
			for _, p := range x.inner {
				if w.fields.compare(lo, p) < 0 && (zero(hi[0]) || w.fields.compare(p, hi) < 0) {
					part.inner = append(part.inner, p)
				}
			}
			fresh = append(fresh, len(out))
			out = append(out, part)
			lo = hi
		}
	}
	if err := w.freshTypes(ctx, out); err != nil {
		return err
	}
	parts := make([]cell, len(fresh))
	for i, k := range fresh {
		parts[i] = out[k]
	}
	if err := w.count(ctx, parts); err != nil {
		return err
	}
	for i, k := range fresh {
		out[k].docs = parts[i].docs
	}
	w.cells = out
	return nil
}

// freshTypes finds the types of further fields at all bounds there are now.
func (w *cutter) freshTypes(ctx context.Context, cells []cell) error {
	var points []point
	for _, x := range cells[1:] {
		points = append(points, x.lo)
	}
	return w.probeThen(ctx, points)
}

// within finds points inside a cell by the strategies that serve there, in auto's order: $bucketAuto of what is in it, $sample of the
// whole collection, for it is quick only there, and steps along the index.
func (w *cutter) within(ctx context.Context, x cell, parts int) ([]point, error) {
	in := *w.reader
	in.base = both(w.base, w.fields.between(x.lo, x.hi).Filter(Brackets))
	if x.docs <= bucketAutoUpTo {
		found, err := in.bucketAuto(ctx, parts)
		if err == nil || !refused(err) {
			return w.inCell(x, found, parts), err
		}
	} else if quickSample(w.c.Ranges, w.total()) > 0 {
		if w.drawn == nil {
			found, err := w.sample(ctx, w.c.Ranges, w.total())
			if err != nil && !refused(err) {
				return nil, err
			}
			w.drawn = &found // empty when it was refused
		}
		if points := w.inCell(x, *w.drawn, parts); len(points) == parts-1 {
			return points, nil
		}
	}
	found, err := in.walk(ctx, w.seen, parts, x.docs)
	return w.inCell(x, found, parts), err
}

// inCell chooses among the points that lie inside a cell.
func (w *cutter) inCell(x cell, found cuts, parts int) []point {
	var in cuts
	for i, p := range found.points {
		if w.fields.compare(x.lo, p) >= 0 || !zero(x.hi[0]) && w.fields.compare(p, x.hi) >= 0 {
			continue
		}
		if bracketOf(p[0]) != nullish {
			w.seen.add(p[0])
		}
		in.points = append(in.points, p)
		if found.weights != nil {
			if in.weights == nil {
				in.weights = []int64{found.weights[i]}
			}
			in.weights = append(in.weights, found.weights[i+1])
		}
	}
	return in.choose(parts)
}
