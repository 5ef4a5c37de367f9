// Package mr runs MapReduce jobs: whole, or as concurrent range-partitioned jobs.
package mr

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

// Job is what to compute.
type Job struct {
	Map, Reduce, Finalize string // JavaScript functions; Finalize may be empty
	Scope, Query, Sort    bson.D
	Limit                 int64
	// EmitKey is the field that map emits as its key, when it does (then parts in ranges of it are disjoint).
	EmitKey string
}

// UniqueCount is emit(this.<field>, 1) with a sum.
func UniqueCount(field string) Job { panic("todo") }

// Layout says where the parts of a partitioned run are written.
type Layout int

const (
	OneDatabase Layout = iota
	SeparateDatabases
)

type Config struct {
	Client    *mongo.Client
	DB, Coll  string
	Job       Job
	Ranges    []splitter.Range // nil: one run over everything
	Predicate splitter.Predicate
	Threads   int // at most this many commands at a time; fewer than ranges is a work queue
	Layout    Layout
	JSMode    bool
	// KeyTypes are the BSON types of the emit key (splitter.Report.Types); they tell what jsMode's string keys were.
	KeyTypes []string
	// Prefix makes names unique to the run: databases <Prefix>, <Prefix>_0, …; collections "part_0", …, "answer".
	Prefix string
	// Created is called before a database is written to, so that it can be recorded for clean. May be nil.
	Created func(db string) error
	// Comment tags the commands where the server allows.
	OnPart func(Part) // called as parts finish; may be nil
}

// Counts as the server's reply has them; Known is false where the server gives none (4.4+).
type Counts struct {
	Input, Emit, Reduce, Output int64
	Known                       bool
}

// Part is one range's job.
type Part struct {
	Index    int
	Range    splitter.Range
	DB, Coll string
	Counts   Counts
	Mode     string  // "js", "mixed", "" when the server doesn't say
	ServerMS int64   // timeMillis, -1 when the server doesn't say
	Start    float64 // seconds since the run began
	Seconds  float64 // wall
	Thread   int
}

// Report of Run. Seconds is wall time from first command to the merged answer; MergeSeconds is inside it.
type Report struct {
	Parts        []Part
	Counts       Counts // summed
	Mode         string // "js", "mixed", "ignored" (asked for, not said by the server), "" not asked
	Databases    []string
	Seconds      float64
	MergeSeconds float64
	ServerMS     int64
	Answer       Answer
}

// Answer is the merged result in a collection: documents {_id, value}.
type Answer struct {
	Collection *mongo.Collection
}

// Run executes the job. On cancel it kills what runs on the server (killOp by comment or by cursor/session) and returns ctx's error.
// A JavaScript error comes back as *ScriptError with function, line and message.
func Run(ctx context.Context, c Config) (*Report, error) { panic("todo") }

type ScriptError struct {
	Function string // "map", "reduce", "finalize" when known
	Line     int    // 0 unknown
	Message  string
	Code     int32
}

func (e *ScriptError) Error() string { panic("todo") }

// Results streams {_id, value} pairs; ordered: ascending by _id.
func (a Answer) Results(ctx context.Context, ordered bool) iter.Seq2[bson.Raw, error] { panic("todo") }
