package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/report"
	"mrbench/seed"
	"mrbench/seed/source"
	"mrbench/splitter"
)

// How much is looked at to find split points: the beginnings of at most so many files.
const (
	sampleDocuments = 20_000
	sampleFiles     = 20
)

// splitPoints finds bounds between n chunks that spread the documents to be loaded evenly. note says from what, or why they are fewer.
func (a *app) splitPoints(ctx context.Context, o seedOptions, n int) (points []bson.D, note string, err error) {
	if n < 2 {
		return nil, "", nil
	}
	key := o.shardKey
	files, err := a.sourceConfig(o)
	if err != nil {
		return nil, "", err
	}
	if files == nil && o.generator == uniquesName && key[0].Key == a.common.key {
		points, note = uniquesPoints(key, o, n)
		return points, note, nil
	}
	var rows [][]bson.RawValue
	what := "generated documents"
	if files == nil {
		g, err := a.generatorOf(o)
		if err != nil {
			return nil, "", err
		}
		rows = sampleGenerator(g, o.docs, key)
	} else {
		what = "documents at the beginnings of the files"
		if rows, err = sampleSource(ctx, *files, key); err != nil {
			if o.presplit == 0 {
				return nil, fmt.Sprintf("one chunk: %v", err), nil
			}
			return nil, "", usageError("--presplit: %w; leave it out, or use --shard-key %s:hashed, which needs no split points", err, key[0].Key)
		}
	}
	held := slices.ContainsFunc(rows, func(r []bson.RawValue) bool { return r[0].Type != bson.TypeNull })
	switch {
	case len(rows) == 0:
		return nil, "one chunk: there are no documents to take split points from", nil
	case !held && key[0].Key == "_id":
		return nil, "", usageError("--shard-key _id: the documents get their _id while they are loaded, all about the same; use _id:hashed")
	case !held:
		return nil, "", usageError("--shard-key %s: none of %s %s has the field", key[0].Key, report.Thousands(int64(len(rows))), what)
	}
	points = quantiles(key, rows, n)
	note = fmt.Sprintf("split points are from %s %s", report.Thousands(int64(len(rows))), what)
	if len(points) < n-1 {
		note = fmt.Sprintf("%d chunks, not %d: %s %s have too few values of the shard key", len(points)+1, n, report.Thousands(int64(len(rows))), what)
	}
	return points, note, nil
}

// uniquesPoints are exact: the generator draws whole numbers evenly from 0 up to the number of keys.
func uniquesPoints(key bson.D, o seedOptions, n int) (points []bson.D, note string) {
	keys := o.keys
	if keys == 0 {
		keys = max(1, o.docs/10)
	}
	if int64(n) > keys {
		note = fmt.Sprintf("%d chunks, not %d: there are no more values of %s", keys, n, key[0].Key)
		n = int(keys)
	}
	for i := 1; i < n; i++ {
		hi, lo := int64(i)*(keys/int64(n)), int64(i)*(keys%int64(n))/int64(n)
		v := any(hi + lo)
		if keys-1 <= math.MaxInt32 {
			v = int32(hi + lo)
		}
		points = append(points, pointOf(key, v))
	}
	return points, note
}

// pointOf is the split point below all documents with a value in the key's first field: documents of one value stay together.
func pointOf(key bson.D, first any) bson.D {
	p := bson.D{{Key: key[0].Key, Value: first}}
	for _, e := range key[1:] {
		p = append(p, bson.E{Key: e.Key, Value: primitive.MinKey{}})
	}
	return p
}

// sampleGenerator takes documents from the whole of those that will be made.
func sampleGenerator(g seed.Generator, documents int64, key bson.D) (rows [][]bson.RawValue) {
	m := min(documents, sampleDocuments)
	for i := range m {
		at := documents/m*i + documents%m*i/m
		rows = append(rows, keyValues(bson.Raw(g.Append(nil, at)), key))
	}
	return rows
}

// sampleSource reads the beginnings of files that lie evenly among all.
func sampleSource(ctx context.Context, c source.Config, key bson.D) (rows [][]bson.RawValue, err error) {
	files, err := c.Files()
	if err != nil {
		return nil, err
	}
	if why := source.NotResumable(files); why != "" {
		return nil, fmt.Errorf("the documents can't be looked at before they are loaded (%s)", why)
	}
	m := min(len(files), sampleFiles)
	for i := range m {
		one := c
		one.Paths, one.From, one.To, one.Done = []string{files[i*len(files)/m].Path}, 0, 0, nil
		of := 0
		for d, err := range source.Documents(ctx, one) {
			if _, broken := errors.AsType[*source.RecordError](err); broken {
				continue // the load is where that is told
			}
			if err != nil {
				return nil, err
			}
			rows = append(rows, keyValues(slices.Clone(d.Raw), key))
			if of++; of >= sampleDocuments/m {
				break
			}
		}
	}
	return rows, nil
}

// keyValues are the values of the key's fields; a missing one is null.
func keyValues(d bson.Raw, key bson.D) []bson.RawValue {
	row := make([]bson.RawValue, len(key))
	for i, e := range key {
		v, err := d.LookupErr(strings.Split(e.Key, ".")...)
		if err != nil {
			v = bson.RawValue{Type: bson.TypeNull}
		}
		row[i] = v
	}
	return row
}

// quantiles are up to n-1 different points that cut the rows into equal parts: by the first field alone where it has values enough, so that
// no value of it is cut, else by all.
func quantiles(key bson.D, rows [][]bson.RawValue, n int) []bson.D {
	order := func(a, b []bson.RawValue) int {
		for i := range a {
			if c := splitter.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		return 0
	}
	slices.SortFunc(rows, order)
	cut := func(compare func(a, b []bson.RawValue) int, point func([]bson.RawValue) bson.D) (points []bson.D) {
		last := rows[0]
		for i := 1; i < n; i++ {
			if r := rows[i*len(rows)/n]; compare(r, last) > 0 {
				points = append(points, point(r))
				last = r
			}
		}
		return points
	}
	points := cut(func(a, b []bson.RawValue) int { return splitter.Compare(a[0], b[0]) }, func(r []bson.RawValue) bson.D { return pointOf(key, r[0]) })
	if len(points) == n-1 || len(key) == 1 {
		return points
	}
	all := cut(order, func(r []bson.RawValue) bson.D {
		p := bson.D{}
		for i, e := range key {
			p = append(p, bson.E{Key: e.Key, Value: r[i]})
		}
		return p
	})
	if len(all) <= len(points) {
		return points
	}
	return all
}
