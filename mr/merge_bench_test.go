package mr_test

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/mr"
	"mrbench/seed"
	"mrbench/splitter"
)

// BenchmarkMerge reports what merging the parts costs a key, by the server and,
// with jsMode's keys to be turned back, by the client.
func BenchmarkMerge(b *testing.B) {
	const docs = 200_000
	client := engine(b)
	coll := client.Database("bench").Collection("c")
	_, err := seed.Run(context.Background(), seed.Config{
		Collection: coll, Generator: seed.Uniques(1, "f", docs, docs), Documents: docs,
		Index: seed.IndexAfter, IndexKeys: bson.D{{Key: "f", Value: 1}},
	})
	if err != nil {
		b.Fatal(err)
	}
	split, err := splitter.Split(context.Background(), splitter.Config{Collection: coll, Key: "f", Ranges: 4})
	if err != nil {
		b.Fatal(err)
	}
	job := mr.UniqueCount("f")
	job.Sort = bson.D{{Key: "f", Value: 1}}
	for i, js := range []bool{false, true} {
		b.Run(fmt.Sprintf("jsMode=%v", js), func(b *testing.B) {
			keys, seconds := int64(0), 0.0
			for n := 0; b.Loop(); n++ {
				rep, err := mr.Run(context.Background(), mr.Config{
					Client: client, DB: "bench", Coll: "c", Job: job, Ranges: split.Ranges(), Threads: 2, KeyTypes: split.Types,
					Layout: mr.SeparateDatabases, JSMode: js, Prefix: fmt.Sprintf("bench%d_%d", i, n),
				})
				if err != nil {
					b.Fatal(err)
				}
				keys += rep.Counts.Output
				seconds += rep.MergeSeconds
			}
			b.ReportMetric(seconds*1e6/float64(keys), "merge-µs/key")
		})
	}
}
