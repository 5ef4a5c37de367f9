package splitter

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
)

// How many split keys are asked for. A piece is off by up to one distance
// between keys, so many keys make even pieces; their number is bounded because the reply is one document.
const (
	keysPerRange = 32
	maxSplitKeys = 8192
	smallerTries = 3
)

// Newer servers refuse a chunk size outside these bounds, in bytes.
const (
	minChunkBytes = 1 << 20
	maxChunkBytes = 1 << 30
)

// splitVector asks the server for split keys, spaced evenly by documents.
func (r *reader) splitVector(ctx context.Context, ranges int, total int64) (cuts, error) {
	average, err := r.averageSize(ctx)
	if err != nil {
		return cuts{}, err
	}
	want := max(min(int64(ranges)*keysPerRange, maxSplitKeys), int64(ranges)*2)
	every := max(total/want-1, 1) // a key after every+1 documents
	clamp := false
	var keys []point
	for range smallerTries {
		// The server takes maxChunkSizeBytes / (2 × average size) documents a piece.
		bytes := every * average * 2
		cmd := bson.D{
			{Key: "splitVector", Value: r.ns},
			{Key: "keyPattern", Value: r.pattern[:len(r.fields)]},
		}
		if clamp {
			bytes = min(max(bytes, minChunkBytes), maxChunkBytes)
			cmd = append(cmd, bson.E{Key: "maxChunkObjects", Value: every})
		}
		cmd = append(cmd, bson.E{Key: "maxChunkSizeBytes", Value: bytes})
		raw, err := r.coll.Database().RunCommand(ctx, cmd).Raw()
		if err != nil {
			if !clamp && refused(err) && sizeRefused(err) && (bytes < minChunkBytes || bytes > maxChunkBytes) {
				clamp = true
				continue
			}
			return cuts{}, fmt.Errorf("splitter: %s: splitVector: %w", r.ns, err)
		}
		if keys, err = r.fields.readSplitKeys(raw); err != nil {
			return cuts{}, fmt.Errorf("splitter: %s: splitVector: %w", r.ns, err)
		}
		if len(keys) >= ranges-1 || every == 1 {
			break
		}
		every = max(every/8, 1)
	}
	return cuts{points: keys}, nil
}

// sizeRefused says that the error can be about the size of a chunk: a bad
// value by any of the codes that servers use for it.
func sizeRefused(err error) bool {
	switch code(err) {
	case codeUnauthorized, codeIllegalOperation, codeNamespaceNotFound, 27, codeCommandNotFound:
		return false
	}
	return true
}

// averageSize is the average document's size in bytes, at least 1.
func (r *reader) averageSize(ctx context.Context) (int64, error) {
	raw, err := r.coll.Database().RunCommand(ctx, bson.D{{Key: "collStats", Value: r.coll.Name()}}).Raw()
	if err != nil {
		return 0, fmt.Errorf("splitter: %s: collStats: %w", r.ns, err)
	}
	get := func(name string) int64 { n, _ := raw.Lookup(name).AsInt64OK(); return n }
	size := get("avgObjSize")
	if n := get("count"); size == 0 && n > 0 {
		size = get("size") / n
	}
	return max(size, 1), nil
}

func (l layout) readSplitKeys(reply bson.Raw) ([]point, error) {
	list, ok := reply.Lookup("splitKeys").ArrayOK()
	if !ok {
		return nil, errors.New("the reply has no splitKeys")
	}
	values, err := list.Values()
	if err != nil {
		return nil, fmt.Errorf("splitKeys: %w", err)
	}
	keys := make([]point, 0, len(values))
	for _, v := range values {
		d, ok := v.DocumentOK()
		if !ok {
			return nil, errors.New("a split key is not a document")
		}
		p := make(point, len(l))
		for i, f := range l {
			if p[i], err = d.LookupErr(f.key); err != nil { // a dotted path is one name here
				return nil, fmt.Errorf("a split key has no %s", f.key)
			}
		}
		keys = append(keys, p)
	}
	return l.tidy(keys), nil
}
