package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/study"
	"mrbench/seed"
)

// guid500k loads the same documents in several ways.
func (s *studying) guid500k(ctx context.Context) error {
	docs := study.Scaled(study.GUIDDocuments, s.o.scale, 1)
	load := func(id string, batch int, concern string, ordered bool) studyStep {
		return studyStep{id, func(ctx context.Context) (int64, time.Duration, string, error) {
			var r *seed.Report
			err := s.withCollection(ctx, func(c *mongo.Collection) (err error) {
				r, err = seed.Run(ctx, seed.Config{
					Collection: c, Generator: seed.GUID(s.o.seed), Documents: docs, Writers: 1, Batch: batch, WriteConcern: concern, Ordered: ordered,
				})
				return err
			})
			if err != nil {
				return 0, 0, "", err
			}
			seconds, note := r.Seconds, ""
			if concern == "0" {
				seconds += r.CountSeconds // until they were there
				note = "until the documents were there; all of them were"
			}
			return docs, time.Duration(seconds * float64(time.Second)), note, nil
		}}
	}
	return s.measure(ctx, []studyStep{
		load(study.GUIDSingle, 1, "1", true),
		load(study.GUIDBatches, 1000, "1", true),
		load(study.GUIDFast, 1000, "0", false),
		load(study.GUIDBest, 600, "1", true),
		load(study.GUIDLarge, 5000, "1", true),
	})
}

// batchCurve makes one bulk insert for each published number of documents, in four series.
func (s *studying) batchCurve(ctx context.Context) error {
	index := bson.D{{Key: "email", Value: 1}}
	people := seed.People(s.o.seed)
	filled := map[bool]*mongo.Collection{}
	next := study.Scaled(study.CurvePrefill, s.o.scale, 1) // of people, by number
	for _, indexed := range []bool{false, true} {
		c, err := s.collection(ctx)
		if err != nil {
			return err
		}
		conf := seed.Config{Collection: c, Generator: people, Documents: next, IndexKeys: index, Progress: s.progress()}
		if indexed {
			conf.Index = seed.IndexAfter
		}
		s.app.tell("filling a collection with %s documents", report.Thousands(next))
		if _, err := seed.Run(ctx, conf); err != nil {
			return err
		}
		filled[indexed] = c
	}
	var steps []studyStep
	each := len(s.result.Rows) / 4 // the series take turns
	for i := range s.result.Rows {
		row := s.result.Rows[i%4*each+i/4]
		n := study.Scaled(s.documentsOf(row), s.o.scale, 1)
		indexed := row.Series == study.Indexed || row.Series == study.PrefilledIndexed
		steps = append(steps, studyStep{row.ID, func(ctx context.Context) (int64, time.Duration, string, error) {
			docs := make([]any, n)
			for i := range docs {
				docs[i] = bson.Raw(people.Append(nil, next))
				next++
			}
			var took time.Duration
			insert := func(c *mongo.Collection) error {
				start := time.Now()
				_, err := c.InsertMany(ctx, docs)
				took = time.Since(start)
				return err
			}
			if row.Series == study.Prefilled || row.Series == study.PrefilledIndexed {
				return n, took, "", insert(filled[indexed])
			}
			err := s.withCollection(ctx, func(c *mongo.Collection) error {
				if indexed {
					if _, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: index}); err != nil {
						return err
					}
				}
				return insert(c)
			})
			return n, took, "", err
		}})
	}
	return s.measure(ctx, steps)
}

// documentsOf is the published number of documents of a step, in the series that has no times too.
func (s *studying) documentsOf(row *study.Row) int64 {
	for _, step := range s.e.Steps {
		if step.ID == row.ID {
			return step.Documents
		}
	}
	return 0
}

// progress tells now and then how a long load goes.
func (s *studying) progress() func(seed.Progress) {
	last := s.app.env.Now()
	return func(p seed.Progress) {
		if now := s.app.env.Now(); now.Sub(last) >= plainEvery {
			last = now
			s.app.tell("  %s", progressText(p))
		}
	}
}

// mapReduce20x measures the first rows of the ladder as run does, on data of its own.
func (s *studying) mapReduce20x(ctx context.Context) (err error) {
	docs := study.Scaled(study.MapReduceDocuments, s.o.scale, 10)
	const key = "dim0"
	coll := s.t.Client.Database(s.db()).Collection("uniques")
	s.app.tell("seeding %s documents with %s values", report.Thousands(docs), report.Thousands(docs/10))
	if _, err := seed.Run(ctx, seed.Config{
		Collection: coll, Generator: seed.Uniques(s.o.seed, key, docs, docs/10), Documents: docs,
		Index: seed.IndexAfter, IndexKeys: bson.D{{Key: key, Value: 1}}, Progress: s.progress(),
	}); err != nil {
		return err
	}
	a := &app{env: s.app.env, v: s.app.v, common: s.app.common} // at work on the study's collection
	a.common.ns.DB, a.common.ns.Coll, a.common.key = s.db(), coll.Name(), key
	o := runOptions{threads: 4, strategy: "auto"}
	o.runs, o.shuffle = s.o.runs, shuffleOff
	for _, v := range ladder[:5] {
		o.rows = append(o.rows, v.id)
	}
	// Rows drop the databases of other rows, so they have a run of their own.
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	out := newOutputs(newRunID(a.env.Now()), s.t, createdIn(dir), a.env.Now)
	m := &measurement{app: a, o: o, t: s.t, file: s.file, variants: o.variants(), coll: coll, out: out, job: uniqueCount(a.common.key)}
	m.result.Context = s.result.Context
	m.result.Context.RunID = out.run
	if err := m.prepare(ctx); err != nil {
		return err
	}
	defer m.cleanUp(ctx, &err)
	end, err := m.measureRows(ctx)
	if err != nil {
		return err
	}
	for _, row := range m.result.Rows {
		x := s.result.Row(row.ID)
		x.Skipped = row.Skipped
		if !strings.HasPrefix(row.Error, notRunPrefix) {
			x.Error = row.Error
		}
		if row.Seconds == nil {
			continue
		}
		for _, seconds := range row.Seconds.All {
			x.Add(docs, time.Duration(seconds*float64(time.Second)))
		}
		x.Note = rowNote(row)
	}
	s.result.Row(study.NewerServer).Skipped = "this server is measured above"
	if ctx.Err() != nil {
		return end
	}
	if c, ok := errors.AsType[*codeError](end); ok && c.code == exitDiffer {
		return end
	}
	return nil // rows that failed are told as steps
}

// rowNote is what the ladder's row showed beside its time.
func rowNote(row bench.Row) string {
	note := ""
	if row.Counts.Reduce != nil && row.Counts.Output != nil {
		note = fmt.Sprintf("%s calls of reduce, %s results", report.Thousands(*row.Counts.Reduce), report.Thousands(*row.Counts.Output))
	}
	if row.Mode == "ignored" {
		note += "; this server ignores jsMode"
	}
	return note
}
