package splitter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Strategies, in the order "auto" tries them.
const (
	Auto        = "auto"
	SplitVector = "splitVector"
	Walk        = "walk" // index walk with skip; needs no rights
)

// Strategies lists what Config.Strategy takes.
func Strategies() []string { return []string{Auto, SplitVector, Walk} }

// Config of Split.
type Config struct {
	Collection *mongo.Collection
	Key        string // field or dotted path; an ascending or descending index must start with it
	Ranges     int    // how many are wanted (≥ 1); fewer come back when there are fewer keys
	Strategy   string // "" is Auto
	Predicate  Predicate
}

// Piece is a range and how many documents the server counts in it.
type Piece struct {
	Range     Range
	Documents int64
}

// Skip is a strategy that did not serve, and why.
type Skip struct{ Strategy, Reason string }

// Report of Split.
type Report struct {
	Strategy     string
	Skipped      []Skip // earlier strategies and why not
	Index        string // the index that starts with the key
	SplitKeys    int    // keys the strategy gave, of which Ranges-1 were chosen evenly
	Pieces       []Piece
	Total        int64    // documents of the collection, counted
	Imbalance    float64  // largest piece / mean piece; 1 for an empty collection
	Types        []string // BSON types the key has ("int", "string", "missing", …), by probing the index
	Seconds      float64  // finding the points
	CountSeconds float64  // the proof
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

// countThreads is how many pieces are counted at a time.
const countThreads = 4

// Split finds the points, counts every piece, and proves that the counts add up
// to the collection (it looks twice, then fails with *NotCoveredError). Other
// errors: *NoIndexError, *NoCollectionError, *MultikeyError, server errors
// wrapped with the command. An empty collection is one piece.
func Split(ctx context.Context, c Config) (*Report, error) {
	if c.Ranges < 1 {
		return nil, fmt.Errorf("splitter: %d ranges: ask for at least 1", c.Ranges)
	}
	if c.Key == "" {
		return nil, errors.New("splitter: no key given")
	}
	start := time.Now()
	r := &reader{coll: c.Collection, ns: c.Collection.Database().Name() + "." + c.Collection.Name(), key: c.Key}
	index, pattern, err := IndexFor(ctx, c.Collection, c.Key)
	if err != nil {
		return nil, err
	}
	r.index = index
	server, err := AskServer(ctx, c.Collection.Database().Client())
	if err != nil {
		return nil, err
	}
	r.mongos = server.Mongos
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
	rep := &Report{Index: index}
	keys, err := r.points(ctx, c, pattern, s, total, rep)
	if err != nil {
		return nil, err
	}
	rep.SplitKeys = len(keys)
	for _, k := range keys {
		if bracketOf(k) != nullish { // an index has null for a missing field
			s.add(k)
		}
	}
	rep.Types = s.list()
	rep.Pieces = pieces(c.Key, choose(keys, c.Ranges), s.present)
	rep.Seconds = time.Since(start).Seconds()

	t := time.Now()
	if err := r.prove(ctx, c.Predicate, rep); err != nil {
		return nil, err
	}
	if rep.Imbalance > uneven && len(keys) > c.Ranges {
		if err := r.even(ctx, c, keys, s.present, rep); err != nil {
			return nil, err
		}
	}
	rep.CountSeconds = time.Since(t).Seconds()
	rep.Elapsed = time.Since(start)
	return rep, nil
}

// points runs the strategies until one gives enough keys.
func (r *reader) points(ctx context.Context, c Config, pattern bson.D, s *seen, total int64, rep *Report) ([]bson.RawValue, error) {
	switch c.Strategy {
	case "", Auto, SplitVector, Walk:
	default:
		return nil, fmt.Errorf("splitter: strategy %q: use auto, splitVector or walk", c.Strategy)
	}
	walkOnly := c.Strategy == Walk
	rep.Strategy = SplitVector
	if walkOnly {
		rep.Strategy = Walk
	}
	if c.Ranges == 1 || total == 0 {
		return nil, nil
	}
	if !walkOnly {
		keys, err := r.splitVector(ctx, pattern, c.Ranges, total)
		switch {
		case err != nil && (c.Strategy == SplitVector || !refused(err)):
			return nil, err
		case err != nil:
			rep.Skipped = append(rep.Skipped, Skip{SplitVector, reason(err)})
		case len(keys) < c.Ranges-1 && c.Strategy != SplitVector:
			rep.Skipped = append(rep.Skipped, Skip{SplitVector, fmt.Sprintf("it gave %d split keys, %d ranges need %d", len(keys), c.Ranges, c.Ranges-1)})
		default:
			return keys, nil
		}
	}
	rep.Strategy = Walk
	return r.walk(ctx, s, c.Ranges, total)
}

// reason is a server's refusal in one line.
func reason(err error) string {
	var ce mongo.CommandError
	if !errors.As(err, &ce) {
		return err.Error()
	}
	switch ce.Code {
	case codeUnauthorized:
		return fmt.Sprintf("the user may not run splitVector (code %d): %s", ce.Code, ce.Message)
	case codeCommandNotFound:
		return fmt.Sprintf("this server has no splitVector (code %d)", ce.Code)
	case 20:
		return fmt.Sprintf("not possible here (code %d): %s", ce.Code, ce.Message)
	}
	return fmt.Sprintf("the server refused it (code %d): %s", ce.Code, ce.Message)
}

// pieces makes the ranges that the points bound.
func pieces(key string, points []bson.RawValue, present uint32) []Piece {
	out := make([]Piece, 0, len(points)+1)
	var lo bson.RawValue
	for i := range len(points) + 1 {
		var hi bson.RawValue
		if i < len(points) {
			hi = points[i]
		}
		out = append(out, Piece{Range: Range{Key: key, Lo: lo, Hi: hi, present: present}})
		lo = hi
	}
	return out
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
