package splitter

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// How many documents are drawn. Servers draw quickly when $sample comes first and asks for
// less than a twentieth of more than 100 documents; else they sort everything by a random number.
const (
	samplesPerRange = 256
	leastPerRange   = 32 // below, ranges would be uneven
	maxSamples      = 100_000
	quickShare      = 20
	quickFrom       = 100
	sampleTries     = 3
)

// quickSample is how many documents can be drawn quickly for a number of ranges; 0 when that is too few.
func quickSample(ranges int, total int64) int64 {
	most := (total - 1) / quickShare
	if total <= quickFrom || most < int64(ranges)*leastPerRange {
		return 0
	}
	return min(int64(ranges)*samplesPerRange, maxSamples, most)
}

// sample draws documents at random and takes each different key with the number
// of documents drawn. The points are estimates; the proof counts what is between them.
func (r *reader) sample(ctx context.Context, ranges int, total int64) (cuts, error) {
	size := quickSample(ranges, total)
	if size == 0 {
		size = min(int64(ranges)*samplesPerRange, maxSamples, total)
	}
	var err error
	for range sampleTries {
		var found []bucket
		found, err = r.draw(ctx, size)
		if err == nil {
			return r.fields.cuts(found), nil
		}
		if code(err) != codeNoRandomDocument { // the random cursor met one document too often
			break
		}
	}
	return cuts{}, err
}

func (r *reader) draw(ctx context.Context, size int64) ([]bucket, error) {
	cur, err := r.coll.Aggregate(ctx, bson.A{
		bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: size}}}},
		bson.D{{Key: "$project", Value: r.projection()}},
	}, options.Aggregate().SetAllowDiskUse(true))
	if err != nil {
		return nil, fmt.Errorf("splitter: %s: $sample: %w", r.ns, err)
	}
	defer cur.Close(ctx)
	var found []bucket
	for cur.Next(ctx) {
		found = append(found, bucket{r.fields.pointOf(cur.Current), 1})
	}
	if err := cur.Err(); err != nil {
		return nil, fmt.Errorf("splitter: %s: $sample: %w", r.ns, err)
	}
	return found, nil
}
