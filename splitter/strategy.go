package splitter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"
)

// Strategies. Auto tries the others in this order.
const (
	Auto        = "auto"
	SplitVector = "splitVector" // the server's own command; needs rights
	Chunks      = "chunks"      // bounds of the chunks of a sharded collection, and within large ones as below
	BucketAuto  = "bucketAuto"  // $bucketAuto: exact, sorts all documents
	Sample      = "sample"      // quantiles of documents drawn at random
	Walk        = "walk"        // index walk with skip; needs no rights
)

// Strategies lists what Config.Strategy takes.
func Strategies() []string { return []string{Auto, SplitVector, Chunks, BucketAuto, Sample, Walk} }

// bucketAutoUpTo is the largest collection, in documents, that auto has sorted by $bucketAuto.
const bucketAutoUpTo = 100_000

// points runs the strategies until one gives enough.
func (r *reader) points(ctx context.Context, c Config, s *seen, total int64, rep *Report) (cuts, error) {
	order := []string{c.Strategy}
	auto := c.Strategy == "" || c.Strategy == Auto
	if auto {
		order = Strategies()[1:]
	} else if !slices.Contains(Strategies(), c.Strategy) {
		return cuts{}, fmt.Errorf("splitter: strategy %q: use one of %s", c.Strategy, strings.Join(Strategies(), ", "))
	}
	rep.Strategy = order[0]
	if c.Ranges == 1 || total == 0 {
		return cuts{}, nil
	}
	for _, name := range order {
		rep.Strategy = name
		skip := func(reason string) { rep.Skipped = append(rep.Skipped, Skip{name, reason}) }
		if auto {
			if why := unfit(name, c.Ranges, total); why != "" {
				skip(why)
				continue
			}
		}
		found, err := r.find(ctx, name, s, c.Ranges, total)
		switch {
		case err != nil && (!auto || name == Walk || !refused(err)):
			return cuts{}, r.refusal(name, err)
		case err != nil:
			skip(reason(name, err))
		// bucketAuto and walk miss no key, and chunks are cut inside
		case auto && len(found.points) < c.Ranges-1 && name != BucketAuto && name != Walk && name != Chunks:
			skip(fmt.Sprintf("it gave %s, %d ranges need %d", count(len(found.points), "split key"), c.Ranges, c.Ranges-1))
		default:
			return found, nil
		}
	}
	return cuts{}, nil // not reached: the last one returns
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unfit is why auto does not try a strategy on a collection of this size.
func unfit(name string, ranges int, total int64) string {
	switch {
	case name == BucketAuto && total > bucketAutoUpTo:
		return fmt.Sprintf("it sorts all %d documents; auto has it sort at most %d", total, bucketAutoUpTo)
	case name == Sample && quickSample(ranges, total) == 0:
		return fmt.Sprintf("%d documents are too few for a quick sample that gives %d even ranges", total, ranges)
	}
	return ""
}

func (r *reader) find(ctx context.Context, name string, s *seen, ranges int, total int64) (cuts, error) {
	switch name {
	case SplitVector:
		return r.splitVector(ctx, s, ranges, total)
	case Chunks:
		return r.chunks(ctx)
	case BucketAuto:
		return r.bucketAuto(ctx, ranges)
	case Sample:
		return r.sample(ctx, ranges, total)
	default:
		return r.walk(ctx, s, ranges, total)
	}
}

// refused tells an answer "no" from a connection or context that failed.
func refused(err error) bool {
	var se *StrategyError
	var ce mongo.CommandError
	return errors.As(err, &se) || errors.As(err, &ce) && !ce.HasErrorLabel("NetworkError")
}

// refusal makes a server's "no" to a strategy a *StrategyError.
func (r *reader) refusal(name string, err error) error {
	var se *StrategyError
	if name == Walk || !refused(err) || errors.As(err, &se) {
		return err
	}
	return &StrategyError{NS: r.ns, Strategy: name, Reason: reason(name, err), Err: err}
}

// reason is a refusal in one line.
func reason(name string, err error) string {
	var se *StrategyError
	if errors.As(err, &se) {
		return se.Reason
	}
	var ce mongo.CommandError
	if !errors.As(err, &ce) {
		return err.Error()
	}
	switch ce.Code {
	case codeUnauthorized:
		return fmt.Sprintf("the user may not run it (code %d): %s", ce.Code, ce.Message)
	case codeCommandNotFound:
		return fmt.Sprintf("this server has no %s (code %d)", name, ce.Code)
	case codeIllegalOperation:
		return fmt.Sprintf("not possible here (code %d): %s", ce.Code, ce.Message)
	case codeNoRandomDocument:
		return fmt.Sprintf("the server found no random documents in %d tries (code %d): %s", sampleTries, ce.Code, ce.Message)
	}
	return fmt.Sprintf("the server refused it (code %d): %s", ce.Code, ce.Message)
}
