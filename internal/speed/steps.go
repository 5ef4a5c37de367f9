package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/cli"
	"mrbench/internal/target"
)

// The steps beside the rows of the ladder.
const (
	stepSeedBefore = "seed, index before"
	stepSeedLoad   = "seed, load alone"
	stepIndex      = "index build"
	stepOpen       = "open"
	stepSplit      = "split --ranges 8"
	stepDistinct   = "distinct values"
	stepFew        = "distinct, 100 values"
	stepMerge      = "merge of 4 outputs"
)

// ladder are the rows of run.
var ladder = []string{
	"mr", "mr-sort", "mr-ranges", "mr-ranges-dbs", "mr-ranges-dbs-js", "agg", "agg-ranges", "agg-covered", "agg-covered-ranges",
}

// bench measures one step after the other.
type bench struct {
	o      options
	dir    string
	stderr io.Writer
	words  []string
	f      figures
}

func (b *bench) wanted(names ...string) bool {
	if len(b.words) == 0 {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(b.words, func(w string) bool { return strings.Contains(name, w) })
	})
}

func (b *bench) measure(ctx context.Context) error {
	b.f = newFigures(b.o.docs, b.o.runs)
	if b.wanted(stepSeedBefore) {
		for i := range b.o.runs {
			dir := filepath.Join(b.dir, "before"+strconv.Itoa(i))
			err := b.step(ctx, dir, 1, []string{"seed", "--docs", strconv.FormatInt(b.o.docs, 10), "--index", "before"}, func(out []byte) error {
				var r struct {
					Seconds float64 `json:"seconds"`
				}
				err := json.Unmarshal(out, &r)
				b.add(stepSeedBefore, r.Seconds)
				return err
			}, stepSeedBefore)
			if err != nil {
				return err
			}
			if err := removeAll(dir); err != nil {
				return err
			}
		}
	}
	rest := append([]string{stepSeedLoad, stepIndex, stepOpen, stepSplit, stepDistinct, stepFew, stepMerge}, ladder...)
	if !b.wanted(rest...) {
		return nil
	}
	dir := filepath.Join(b.dir, "after")
	err := b.step(ctx, dir, 1, []string{"seed", "--docs", strconv.FormatInt(b.o.docs, 10), "--index", "after"}, func(out []byte) error {
		var r struct {
			Load  float64 `json:"load_seconds"`
			Index float64 `json:"index_seconds"`
		}
		err := json.Unmarshal(out, &r)
		b.add(stepSeedLoad, r.Load)
		b.add(stepIndex, r.Index)
		return err
	}, stepSeedLoad, stepIndex)
	if err != nil {
		return err
	}
	return b.read(ctx, dir)
}

// read measures what reads the collection in dir.
func (b *bench) read(ctx context.Context, dir string) error {
	if b.wanted(stepOpen) {
		for range b.o.runs {
			t := time.Now()
			db, err := target.Open(ctx, target.Config{DataDir: filepath.Join(dir, "engine"), Version: cli.Version()})
			if err != nil {
				return err
			}
			b.add(stepOpen, time.Since(t).Seconds())
			if err := db.Close(); err != nil {
				return err
			}
		}
	}
	for _, row := range ladder {
		if !b.wanted(row) && (row != "mr-ranges-dbs" || !b.wanted(stepMerge)) {
			continue
		}
		err := b.step(ctx, dir, b.o.runs, []string{"run", "--rows", row, "--threads", "4", "--runs", strconv.Itoa(b.o.runs)}, b.row, row)
		if err != nil {
			return err
		}
	}
	if b.wanted(stepSplit) {
		for range b.o.runs {
			err := b.step(ctx, dir, 1, []string{"split", "--ranges", "8"}, func(out []byte) error {
				var r struct {
					Seconds float64 `json:"seconds"`
					Count   float64 `json:"count_seconds"`
				}
				err := json.Unmarshal(out, &r)
				b.add(stepSplit, r.Seconds+r.Count)
				return err
			}, stepSplit)
			if err != nil {
				return err
			}
		}
	}
	if b.wanted(stepDistinct) {
		if err := b.distinct(ctx, dir, "uniques", stepDistinct); err != nil {
			return err
		}
	}
	if !b.wanted(stepFew) {
		return nil
	}
	few := []string{"seed", "--ns", "test.few", "--keys", "100", "--docs", strconv.FormatInt(b.o.docs, 10)}
	if err := b.step(ctx, dir, 1, few, func([]byte) error { return nil }); err != nil {
		return err
	}
	return b.distinct(ctx, dir, "few", stepFew)
}

// row takes the figures of a row from what run prints.
func (b *bench) row(out []byte) error {
	var r struct {
		Rows []struct {
			ID      string `json:"id"`
			Seconds *struct {
				All []float64 `json:"all"`
			} `json:"seconds"`
			Merge *float64 `json:"merge_seconds"`
			Error string   `json:"error"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return err
	}
	row := r.Rows[0]
	if row.Seconds == nil {
		return fmt.Errorf("row %s: %s", row.ID, row.Error)
	}
	for _, s := range row.Seconds.All {
		b.add(row.ID, s)
	}
	if row.ID == "mr-ranges-dbs" && row.Merge != nil && b.wanted(stepMerge) {
		b.add(stepMerge, *row.Merge)
	}
	return nil
}

// distinct reads the different values of a collection by $sort and $group.
func (b *bench) distinct(ctx context.Context, dir, collection, name string) (err error) {
	db, err := target.Open(ctx, target.Config{DataDir: filepath.Join(dir, "engine"), Version: cli.Version()})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	for range b.o.runs {
		t := time.Now()
		cur, err := db.Client.Database("test").Collection(collection).Aggregate(ctx, mongo.Pipeline{
			{{Key: "$sort", Value: bson.D{{Key: "dim0", Value: 1}}}},
			{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$dim0"}}}},
		})
		if err != nil {
			return err
		}
		n := 0
		for cur.Next(ctx) {
			n++
		}
		if err := cur.Err(); err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%s: no value came back", name)
		}
		b.add(name, time.Since(t).Seconds())
	}
	return nil
}

// step runs one command of mrbench, which does its work runs times, hands on the JSON it prints, and notes its memory and profile
// under the names.
func (b *bench) step(ctx context.Context, dir string, runs int, args []string, take func([]byte) error, names ...string) error {
	fmt.Fprintf(b.stderr, "mrbench %s\n", strings.Join(args, " "))
	args = append(args, "--data-dir", dir, "-o", "json")
	resetPeak()
	var out, errs bytes.Buffer
	profile, err := startProfile(b.o.breakdown)
	if err != nil {
		return err
	}
	code := cli.Run(ctx, cli.Env{
		Args: args, LookupEnv: func(string) (string, bool) { return "", false }, Dir: dir, Home: dir,
		Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &errs, Now: time.Now,
	})
	parts, err := profile.stop()
	if err != nil {
		return err
	}
	if code != 0 {
		return fmt.Errorf("mrbench %s: exit code %d: %s", strings.Join(args, " "), code, strings.TrimSpace(errs.String()))
	}
	if err := take(out.Bytes()); err != nil {
		return fmt.Errorf("mrbench %s: %w", strings.Join(args, " "), err)
	}
	peak := peakMiB()
	for _, name := range names {
		if s := b.f.step(name); s != nil {
			s.PeakMiB = max(s.PeakMiB, peak)
			s.Parts = parts.perDocument(b.o.docs * int64(runs))
		}
	}
	return nil
}

// add notes a time of a step.
func (b *bench) add(name string, seconds float64) {
	s := b.f.step(name)
	if s == nil {
		b.f.Steps = append(b.f.Steps, step{Name: name})
		s = &b.f.Steps[len(b.f.Steps)-1]
	}
	s.All = append(s.All, seconds)
	sorted := slices.Sorted(slices.Values(s.All))
	s.Seconds = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
