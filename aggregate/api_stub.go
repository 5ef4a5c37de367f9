// Package aggregate runs the pipeline equivalent of a MapReduce job.
package aggregate

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

// Config. The answer streams to the client through cursors: Sink sees every {_id, value}.
type Config struct {
	Collection *mongo.Collection
	Pipeline   []bson.D // after the range's $match; UniqueCount(key) for the built-in job
	Key        string
	Ranges     []splitter.Range // nil: whole
	Predicate  splitter.Predicate
	Threads    int
	Covered    bool // hint the index and sort on the key first so that the index alone answers; Run checks it by explain
	Sink       func(part int, results []bson.Raw) error // called from several goroutines, one at a time per part
	OnPart     func(Part)
}

// UniqueCount is $group by the field with {$sum: 1} as value.
func UniqueCount(key string) []bson.D { panic("todo") }

type Part struct {
	Index   int
	Range   splitter.Range
	Output  int64
	Start   float64
	Seconds float64
	Thread  int
}

type Report struct {
	Parts     []Part
	Output    int64
	Seconds   float64
	IndexUsed string // "" collection scan
	IsCovered bool   // explain says no document was fetched
}

func Run(ctx context.Context, c Config) (*Report, error) { panic("todo") }

// Results runs it once more, ordered by _id, for finding the first differing keys.
func Results(ctx context.Context, c Config) iter.Seq2[bson.Raw, error] { panic("todo") }
