// Package splitter cuts a collection into ranges of an indexed field.
package splitter

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Range is [Lo, Hi) of the field Key in MongoDB's sort order. A zero Lo (no type) is from the very
// beginning, a zero Hi to the very end; both zero: everything.
type Range struct {
	Key    string
	Lo, Hi bson.RawValue
}

// Predicate says which form of filter the server can use an index for.
type Predicate int

const (
	// Brackets: $gte/$lt within one type, $or over the types between (every version, FACTS "the trap").
	Brackets Predicate = iota
	// Expr: {$expr: {$and: [{$gte: ["$f", {$literal: lo}]}, …]}} where brackets would not do (5.0+).
	Expr
)

// Filter matches exactly the documents whose field lies in the range, for every BSON type, null, missing and NaN.
// When Lo and Hi are of one bracket (two numbers, two strings, …) it is the plain {f: {$gte: lo, $lt: hi}}.
func (r Range) Filter(p Predicate) bson.D { panic("todo") }

// String is "[lo, hi)" for people, with "−∞"/"+∞" shown as MinKey/MaxKey words.
func (r Range) String() string { panic("todo") }

// Strategies, in the order "auto" tries them.
const (
	Auto        = "auto"
	SplitVector = "splitVector"
	Walk        = "walk" // index walk with skip; needs no rights
)

type Config struct {
	Collection *mongo.Collection
	Key        string // field or dotted path; an ascending or descending index must start with it
	Ranges     int    // how many are wanted (≥ 1); fewer come back when there are fewer keys
	Strategy   string // "" is Auto
	Predicate  Predicate
}

// Piece is a range and how many documents the server counts in it.
type Piece struct {
	Range     Range
	Documents int64
}

type Skip struct{ Strategy, Reason string }

// Report of Split.
type Report struct {
	Strategy  string
	Skipped   []Skip // earlier strategies and why not
	SplitKeys int    // keys the strategy gave, of which Ranges-1 were chosen evenly
	Pieces    []Piece
	Total     int64   // documents of the collection, counted
	Imbalance float64 // largest piece / mean piece
	Types     []string // BSON types the key has ("int", "string", "missing", …), by probing the index
	Seconds   float64 // finding the points; CountSeconds: the proof
	CountSeconds float64
	Elapsed   time.Duration
}

// Split finds the points, counts every piece, and proves that the counts add up to the collection (retry or fail with
// *NotCoveredError). Errors: *NoIndexError, *NoCollectionError, *MultikeyError, server errors wrapped with the command.
func Split(ctx context.Context, c Config) (*Report, error) { panic("todo") }

type NoIndexError struct{ NS, Key string }
type NoCollectionError struct{ NS string }
type MultikeyError struct{ NS, Key, Index string }
type NotCoveredError struct {
	NS            string
	Pieces, Total int64
}

func (e *NoIndexError) Error() string      { panic("todo") }
func (e *NoCollectionError) Error() string { panic("todo") }
func (e *MultikeyError) Error() string     { panic("todo") }
func (e *NotCoveredError) Error() string   { panic("todo") }

// IndexFor finds the index that starts with key (plain, not partial, not sparse, not hashed), its name and key pattern.
func IndexFor(ctx context.Context, c *mongo.Collection, key string) (name string, pattern bson.D, err error) { panic("todo") }
