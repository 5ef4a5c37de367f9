package splitter

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
func (r *reader) splitVector(ctx context.Context, s *seen, ranges int, total int64) (cuts, error) {
	average, err := r.averageSize(ctx)
	if err != nil {
		return cuts{}, err
	}
	want := max(min(int64(ranges)*keysPerRange, maxSplitKeys), int64(ranges)*2)
	every := max(total/want-1, 1) // a key after every+1 documents
	for range smallerTries {
		keys, err := r.splitKeys(ctx, s, every, average, total)
		if err != nil {
			return cuts{}, err
		}
		if len(keys) >= ranges-1 || every == 1 {
			return cuts{points: keys}, nil
		}
		every = max(every/8, 1)
	}
	return cuts{}, nil
}

// inPartsFrom is the number of documents from which on parts of the index are read at the same time.
const inPartsFrom = 200_000

// splitKeys asks for a key after every so many documents: for several parts of
// the index at the same time where it is large and the keys seen tell about where to part it. At a
// seam the distance between keys is up to twice as long. If a part is refused, the whole is asked for.
func (r *reader) splitKeys(ctx context.Context, s *seen, every, average, total int64) ([]point, error) {
	lo, hi := bson.RawValue{Type: bson.TypeMinKey}, bson.RawValue{Type: bson.TypeMaxKey}
	var seams []bson.RawValue
	if total >= inPartsFrom && !descending(r.pattern[0]) {
		seams = s.seams(countThreads)
	}
	if len(seams) > 0 {
		seams = append(append([]bson.RawValue{lo}, seams...), hi)
		found := make([][]point, len(seams)-1)
		err := Each(ctx, len(found), countThreads, func(ctx context.Context, i, _ int) (err error) {
			found[i], err = r.splitPart(ctx, every, average, bson.D{
				{Key: "min", Value: bson.D{{Key: r.key, Value: seams[i]}}},
				{Key: "max", Value: bson.D{{Key: r.key, Value: seams[i+1]}}},
			})
			return err
		})
		if err == nil {
			return r.fields.tidy(slices.Concat(found...)), nil
		}
		if !refused(err) {
			return nil, err
		}
	}
	return r.splitPart(ctx, every, average, nil)
}

// splitPart sends the command. Servers that refuse small sizes get one they take, and the number of documents to go by.
func (r *reader) splitPart(ctx context.Context, every, average int64, bounds bson.D) ([]point, error) {
	cmd := append(bson.D{
		{Key: "splitVector", Value: r.ns},
		{Key: "keyPattern", Value: r.pattern[:len(r.fields)]},
	}, bounds...)
	// The server takes maxChunkSizeBytes / (2 × average size) documents a piece.
	size := every * average * 2
	raw, err := r.coll.Database().RunCommand(ctx, append(cmd[:len(cmd):len(cmd)], bson.E{Key: "maxChunkSizeBytes", Value: size})).Raw()
	if err != nil && refused(err) && sizeRefused(err) && (size < minChunkBytes || size > maxChunkBytes) {
		raw, err = r.coll.Database().RunCommand(ctx, append(cmd,
			bson.E{Key: "maxChunkObjects", Value: every},
			bson.E{Key: "maxChunkSizeBytes", Value: min(max(size, minChunkBytes), maxChunkBytes)})).Raw()
	}
	if err != nil {
		return nil, fmt.Errorf("splitter: %s: splitVector: %w", r.ns, err)
	}
	keys, err := r.fields.readSplitKeys(raw)
	if err != nil {
		return nil, fmt.Errorf("splitter: %s: splitVector: %w", r.ns, err)
	}
	return keys, nil
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
