package splitter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/mongo"
)

// Config of Split.
type Config struct {
	Collection *mongo.Collection
	Key        string // field or dotted path; an ascending or descending index must start with it
	// Then are further fields of that index, in its order, by which ranges are cut within one value
	// of Key too. Such ranges do not keep all documents of a key together: they are for jobs whose own key has these fields.
	Then      []string
	Ranges    int    // how many are wanted (≥ 1); fewer come back when there are fewer keys
	Strategy  string // "" is Auto
	Predicate Predicate
	Histogram bool // count the documents of each type of the key
}

// Piece is a range and how many documents the server counts in it.
type Piece struct {
	Range     Range
	Documents int64
	Shard     string // that owns all chunks the range lies in; "" several, or it is not known
}

// Skip is a strategy that did not serve, and why.
type Skip struct{ Strategy, Reason string }

// Report of Split.
type Report struct {
	Strategy     string
	Skipped      []Skip // earlier strategies and why not
	Index        string // the index that starts with the key
	Next         string // the index's field after the key's; empty when there is none
	SplitKeys    int    // keys the strategy gave, of which Ranges-1 were chosen evenly
	Fewer        string // why there are fewer pieces than wanted; empty when there are not
	Pieces       []Piece
	Total        int64      // documents of the collection, counted
	Imbalance    float64    // largest piece / mean piece; 1 for an empty collection
	Types        []string   // BSON types the key has ("int", "string", "missing", …), by probing the index
	Histogram    *Histogram // nil unless asked for
	Sharding     *Sharding  // of strategy chunks
	Seconds      float64    // finding the points
	CountSeconds float64    // the proof
	Elapsed      time.Duration
}

// Ranges are the pieces' ranges, in order.
func (r *Report) Ranges() []Range {
	out := make([]Range, len(r.Pieces))
	for i, p := range r.Pieces {
		out[i] = p.Range
	}
	return out
}

// Owners are the shards of the pieces, in order, for [EachOwned]; "" where none is known.
func (r *Report) Owners() []string {
	out := make([]string, len(r.Pieces))
	for i, p := range r.Pieces {
		out[i] = p.Shard
	}
	return out
}

// countThreads is how many pieces are counted at a time.
const countThreads = 4

// Split finds the points, counts every piece, and proves that the counts add up
// to the collection (it looks twice, then fails with *NotCoveredError). Other
// errors: *NoIndexError, *NoCollectionError, *ViewError, *CollationError, *MultikeyError, *StrategyError
// when the one strategy asked for does not serve, server errors
// wrapped with the command. An empty collection is one piece.
func Split(ctx context.Context, c Config) (*Report, error) {
	if c.Ranges < 1 {
		return nil, fmt.Errorf("splitter: %d ranges: ask for at least 1", c.Ranges)
	}
	if c.Key == "" {
		return nil, errors.New("splitter: no key given")
	}
	start := time.Now()
	r, err := newReader(ctx, c)
	if err != nil {
		return nil, err
	}
	return r.split(ctx, c, start)
}

func (r *reader) split(ctx context.Context, c Config, start time.Time) (*Report, error) {
	if err := r.refuseArrays(ctx); err != nil {
		return nil, err
	}
	total, err := r.quickTotal(ctx)
	if err != nil {
		return nil, err
	}
	s, err := r.probe(ctx, total)
	if err != nil {
		return nil, err
	}
	r.fields[0].present = s.present
	rep := &Report{Index: r.index}
	if len(r.pattern) > len(r.fields) {
		rep.Next = r.pattern[len(r.fields)].Key
	}
	found, err := r.points(ctx, c, s, total, rep)
	if err != nil {
		return nil, err
	}
	rep.SplitKeys = len(found.points)
	if found.chunks != nil {
		err = r.alongChunks(ctx, c, found.chunks, s, rep, start)
	} else {
		if err = r.byKeys(ctx, c, found, s, rep, start); err == nil {
			err = r.findOwners(ctx, rep)
		}
	}
	if err != nil {
		return nil, err
	}
	if c.Histogram {
		if rep.Histogram, err = r.histogram(ctx, s, rep.Total); err != nil {
			return nil, err
		}
	}
	rep.Elapsed = time.Since(start)
	return rep, nil
}

// byKeys chooses among the keys that a strategy found, and proves the pieces.
func (r *reader) byKeys(ctx context.Context, c Config, found cuts, s *seen, rep *Report, start time.Time) error {
	for _, p := range found.points {
		if bracketOf(p[0]) != nullish { // an index has null for a missing field
			s.add(p[0])
		}
	}
	rep.Types = s.list()
	chosen := found.choose(c.Ranges)
	used := slices.Concat(found.candidates(c.Ranges).points, chosen)
	if err := r.probeThen(ctx, r.fields.tidy(used)); err != nil {
		return err
	}
	rep.Pieces = r.fields.pieces(chosen)
	rep.Seconds = time.Since(start).Seconds()

	t := time.Now()
	if err := r.prove(ctx, c.Predicate, rep); err != nil {
		return err
	}
	if (rep.Imbalance > uneven || found.rough) && len(found.points) > c.Ranges {
		if err := r.even(ctx, c, found, rep); err != nil {
			return err
		}
	}
	if joined := joinEmpty(rep.Pieces); len(joined) < len(rep.Pieces) {
		rep.Pieces = joined
		if err := r.prove(ctx, c.Predicate, rep); err != nil { // by the very filters that jobs will use
			return err
		}
	}
	rep.Fewer = fewer(rep, c.Ranges)
	rep.CountSeconds = time.Since(t).Seconds()
	return nil
}

// fewer says why there are fewer pieces than wanted.
func fewer(rep *Report, wanted int) string {
	n := len(rep.Pieces)
	switch {
	case n >= wanted:
		return ""
	case rep.Total == 0:
		return "the collection is empty"
	case n == 1 && (rep.Strategy == Walk || rep.Strategy == BucketAuto || rep.Strategy == Chunks):
		return "all documents have the same key"
	case rep.Strategy == Walk || rep.Strategy == BucketAuto || rep.Strategy == Chunks:
		return fmt.Sprintf("the key has too few different values for more than %d", n)
	}
	if rep.SplitKeys >= wanted-1 {
		return "the others would hold no documents"
	}
	return fmt.Sprintf("%s gave only %s; walk finds every key there is", rep.Strategy, count(rep.SplitKeys, "split key"))
}

// newReader finds the index and asks the server what it is.
func newReader(ctx context.Context, c Config) (*reader, error) {
	r := &reader{coll: c.Collection, ns: c.Collection.Database().Name() + "." + c.Collection.Name(), key: c.Key}
	var err error
	if r.index, r.pattern, err = indexFor(ctx, c.Collection, append([]string{c.Key}, c.Then...)); err != nil {
		return nil, err
	}
	for _, e := range r.pattern[:1+len(c.Then)] {
		r.fields = append(r.fields, field{key: e.Key, descending: descending(e) != descending(r.pattern[0])})
	}
	r.server, err = AskServer(ctx, c.Collection.Database().Client())
	return r, err
}

// prove counts every piece and the whole. The server's quick figure serves as the
// whole when it agrees; when it does not, every document is counted, and the pieces once more.
func (r *reader) prove(ctx context.Context, p Predicate, rep *Report) error {
	sum, err := r.countPieces(ctx, p, rep.Pieces)
	if err != nil {
		return err
	}
	if rep.Total, err = r.quickTotal(ctx); err != nil {
		return err
	}
	if sum != rep.Total {
		if rep.Total, err = r.exactTotal(ctx); err != nil {
			return err
		}
	}
	if sum != rep.Total {
		if sum, err = r.countPieces(ctx, p, rep.Pieces); err != nil {
			return err
		}
		if sum != rep.Total {
			return &NotCoveredError{NS: r.ns, Pieces: sum, Total: rep.Total}
		}
	}
	rep.Imbalance = imbalance(rep.Pieces)
	return nil
}

// joinEmpty joins pieces without documents to their neighbours.
func joinEmpty(pieces []Piece) []Piece {
	var out []Piece
	for _, p := range pieces {
		n := len(out)
		switch {
		case n > 0 && p.Documents == 0:
			out[n-1].Range = join(out[n-1].Range, p.Range)
		case n > 0 && out[n-1].Documents == 0: // only the first can be
			out[n-1] = Piece{Range: join(out[n-1].Range, p.Range), Documents: p.Documents}
		default:
			out = append(out, p)
		}
	}
	return out
}

func (r *reader) countPieces(ctx context.Context, p Predicate, pieces []Piece) (sum int64, err error) {
	err = Each(ctx, len(pieces), countThreads, func(ctx context.Context, i, _ int) error {
		n, err := r.count(ctx, pieces[i].Range.Filter(p))
		pieces[i].Documents = n
		return err
	})
	for _, piece := range pieces {
		sum += piece.Documents
	}
	return sum, err
}

func imbalance(pieces []Piece) float64 {
	var sum, most int64
	for _, p := range pieces {
		sum += p.Documents
		most = max(most, p.Documents)
	}
	if sum == 0 {
		return 1
	}
	return float64(most) * float64(len(pieces)) / float64(sum)
}
