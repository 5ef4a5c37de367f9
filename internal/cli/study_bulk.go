package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sourcegraph/conc/pool"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/study"
	"mrbench/seed"
	"mrbench/seed/extjson"
	"mrbench/seed/source"
)

// wholeLimit is the size of files that the published program could not read whole.
const wholeLimit = 2 << 30

// Published sizes of bulk-insert, in documents, and the least that they are scaled down to: smaller inserts would
// measure what an insert costs and not what a document does.
const (
	bulkOneBatch  = 100_000
	bulkBuffer    = 200_000
	bulkBatch     = 20_000
	bulkAtOnce    = 5
	bulkProcesses = 6
	bulkPause     = 100 * time.Millisecond
	leastBatch    = 50
)

// bulk is the study's data.
type bulk struct {
	small, large, tree string
	pause              time.Duration
	one, buffer, batch int
}

// bulkInsert loads files in the published ways.
func (s *studying) bulkInsert(ctx context.Context) error {
	b := &bulk{
		small: filepath.Join(s.dir, "people.json"), large: filepath.Join(s.dir, "reviews.json"), tree: filepath.Join(s.dir, "reviews"),
		pause: time.Duration(float64(bulkPause) * min(1, s.o.scale)),
		batch: int(study.Scaled(bulkBatch, s.o.scale, leastBatch)),
	}
	b.one, b.buffer = bulkOneBatch/bulkBatch*b.batch, bulkBuffer/bulkBatch*b.batch
	if err := s.makeFiles(ctx, b); err != nil {
		return err
	}
	into := func(work func(ctx context.Context, c *mongo.Collection) (int64, string, error)) func(context.Context) (int64, time.Duration, string, error) {
		return func(ctx context.Context) (docs int64, took time.Duration, note string, err error) {
			err = s.withCollection(ctx, func(c *mongo.Collection) (err error) {
				start := time.Now()
				docs, note, err = work(ctx, c)
				took = time.Since(start)
				return err
			})
			return docs, took, note, err
		}
	}
	streamed := func(buffer, batch, atOnce int, pause time.Duration) func(context.Context, *mongo.Collection) (int64, string, error) {
		return func(ctx context.Context, c *mongo.Collection) (int64, string, error) {
			l := streamer{c, buffer, batch, atOnce, pause}
			docs, err := l.load(ctx, source.Config{Paths: []string{b.large}})
			note := fmt.Sprintf("batches of %s, pauses of %v", report.Thousands(int64(batch)), pause)
			if atOnce > 1 {
				note = fmt.Sprintf("%s buffered, inserts of %s", report.Thousands(int64(buffer)), report.Thousands(int64(batch)))
			}
			return docs, note, err
		}
	}
	return s.measure(ctx, []studyStep{
		{study.BulkWhole, into(wholeFile(b.small))},
		{study.BulkWhole2, into(wholeFile(b.large))},
		{study.BulkStreamed, into(streamed(b.one, b.one, 1, b.pause))},
		{study.BulkParallel, into(streamed(b.buffer, b.batch, bulkAtOnce, 0))},
		{study.BulkCount, func(ctx context.Context) (int64, time.Duration, string, error) {
			start := time.Now()
			counts, err := source.Count(ctx, source.Config{Paths: []string{b.tree}, Select: "reviews"}, nil)
			took := time.Since(start)
			if err != nil {
				return 0, 0, "", err
			}
			return counts[len(counts)-1].Running, took, counted(len(counts), "folder", "folders"), nil
		}},
		{study.BulkRanges, into(func(ctx context.Context, c *mongo.Collection) (int64, string, error) { return b.ranges(ctx, c) })},
		{study.BulkSeed, into(func(ctx context.Context, c *mongo.Collection) (int64, string, error) {
			r, err := seed.Run(ctx, seed.Config{Collection: c, Source: &source.Config{Paths: []string{b.large}}, Writers: bulkAtOnce, Batch: b.batch})
			if err != nil {
				return 0, "", err
			}
			return r.Documents, fmt.Sprintf("%d writers, batches of %s", r.Writers, report.Thousands(int64(r.Batch))), nil
		})},
	})
}

// makeFiles writes the two files and the folder tree.
func (s *studying) makeFiles(ctx context.Context, b *bulk) error {
	small, large := study.Scaled(study.BulkSmallFile, s.o.scale, 1), study.Scaled(study.BulkLargeFile, s.o.scale, 1)
	tree, folders := study.Scaled(study.BulkTree, s.o.scale, bulkProcesses), study.Scaled(study.BulkFolders, s.o.scale, bulkProcesses)
	const bytes = 750 // about, of a review
	s.app.tell("making files of %s documents, about %s, in %s", report.Thousands(small+large+tree), report.Bytes((large+tree)*bytes).Text, s.dir)
	if err := writeArray(ctx, b.small, "[", "]", seed.People(s.o.seed), 0, small); err != nil {
		return err
	}
	reviews := seed.Reviews(s.o.seed)
	if err := writeArray(ctx, b.large, "[", "]", reviews, 0, large); err != nil {
		return err
	}
	for i := range folders {
		dir := filepath.Join(b.tree, fmt.Sprintf("P%06d", i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		from, to := tree*i/folders, tree*(i+1)/folders
		head := fmt.Sprintf(`{"product":"P%06d","reviews":[`, i)
		if err := writeArray(ctx, filepath.Join(dir, "reviews.json"), head, "]}", reviews, from, to); err != nil {
			return err
		}
	}
	return nil
}

// writeArray writes documents [from, to) of a generator as a JSON array between head and tail.
func writeArray(ctx context.Context, path, head, tail string, g seed.Generator, from, to int64) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer finish(&err, f)
	w := bufio.NewWriterSize(f, 1<<18)
	line := []byte(head)
	var doc []byte
	for i := from; i < to; i++ {
		if i > from {
			line = append(line, ',')
		}
		doc = g.Append(doc[:0], i)
		if line, err = extjson.AppendJSON(append(line, '\n'), bson.Raw(doc), false); err != nil {
			return err
		}
		if _, err = w.Write(line); err != nil {
			return err
		}
		line = line[:0]
		if i%1000 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if _, err = w.Write(append(line, tail+"\n"...)); err != nil {
		return err
	}
	return w.Flush()
}

// wholeFile reads a file whole and hands all its documents to one call of InsertMany, which splits them as the
// server's limits ask for.
func wholeFile(path string) func(context.Context, *mongo.Collection) (int64, string, error) {
	return func(ctx context.Context, c *mongo.Collection) (int64, string, error) {
		if st, err := os.Stat(path); err != nil {
			return 0, "", err
		} else if st.Size() > wholeLimit {
			return 0, "", &bench.SkipError{Reason: fmt.Sprintf("the file has %s, and what was published stopped at 2 GB", report.Bytes(st.Size()).Text)}
		}
		start := time.Now()
		var docs []any
		for d, err := range source.Documents(ctx, source.Config{Paths: []string{path}}) {
			if err != nil {
				return 0, "", err
			}
			docs = append(docs, slices.Clone(d.Raw))
		}
		read := time.Since(start)
		start = time.Now()
		_, err := c.InsertMany(ctx, docs)
		return int64(len(docs)), fmt.Sprintf("read %.2f s, insert %.2f s", read.Seconds(), time.Since(start).Seconds()), err
	}
}

// streamer loads as the published programs did. One insert at a time: it reads a batch, inserts it, pauses, and reads
// on. Several: it reads on while they go on, until its buffer is full.
type streamer struct {
	coll          *mongo.Collection
	buffer, batch int // documents
	atOnce        int // inserts
	pause         time.Duration
}

func (l streamer) load(ctx context.Context, files source.Config) (int64, error) {
	if l.atOnce == 1 {
		total := int64(0)
		err := l.batches(ctx, files, func(docs []any) error {
			if err := l.insert(ctx, docs); err != nil {
				return err
			}
			total += int64(len(docs))
			select {
			case <-time.After(l.pause):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return total, err
	}
	total := int64(0)
	// The reader holds a batch, and each insert does; the others of the buffer wait.
	waiting := make(chan []any, max(0, l.buffer/l.batch-l.atOnce-1))
	p := pool.New().WithContext(ctx).WithCancelOnError().WithFirstError()
	p.Go(func(ctx context.Context) error {
		defer close(waiting)
		return l.batches(ctx, files, func(docs []any) error {
			select {
			case waiting <- docs:
				total += int64(len(docs))
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	for range l.atOnce {
		p.Go(func(ctx context.Context) error {
			for docs := range waiting {
				if err := l.insert(ctx, docs); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := p.Wait() // the total is complete after it
	return total, err
}

// batches reads files and hands their documents on, a batch at a time.
func (l streamer) batches(ctx context.Context, files source.Config, take func([]any) error) error {
	var docs []any
	for d, err := range source.Documents(ctx, files) {
		if err != nil {
			return err
		}
		docs = append(docs, slices.Clone(d.Raw))
		if len(docs) == l.batch {
			if err := take(docs); err != nil {
				return err
			}
			docs = make([]any, 0, l.batch)
		}
	}
	if len(docs) == 0 {
		return nil
	}
	return take(docs)
}

func (l streamer) insert(ctx context.Context, docs []any) error {
	_, err := l.coll.InsertMany(ctx, docs)
	return err
}

// ranges loads the folder tree by several workers, each with a range of the folders.
func (b *bulk) ranges(ctx context.Context, c *mongo.Collection) (int64, string, error) {
	files := source.Config{Paths: []string{b.tree}, Select: "reviews"}
	folders, err := files.Folders()
	if err != nil {
		return 0, "", err
	}
	var docs [bulkProcesses]int64
	var took [bulkProcesses]float64
	p := pool.New().WithContext(ctx).WithCancelOnError().WithFirstError()
	for i := range bulkProcesses {
		p.Go(func(ctx context.Context) (err error) {
			start := time.Now()
			part := files
			part.From, part.To = len(folders)*i/bulkProcesses, len(folders)*(i+1)/bulkProcesses
			l := streamer{c, b.buffer, b.batch, bulkAtOnce, 0}
			docs[i], err = l.load(ctx, part)
			took[i] = time.Since(start).Seconds()
			return err
		})
	}
	if err := p.Wait(); err != nil {
		return 0, "", err
	}
	total := int64(0)
	for _, n := range docs {
		total += n
	}
	return total, fmt.Sprintf("%.2f to %.2f s", slices.Min(took[:]), slices.Max(took[:])), nil
}
