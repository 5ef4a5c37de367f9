// Package script runs JavaScript with BSON types: one Runtime per worker.
package script

// This file is the agreed interface; it is replaced by the real files.

import (
	"context"

	"mrbench/internal/embedded/bsonx"
)

// Runtime has the helpers that MongoDB's shell scripts expect: ObjectId, NumberLong, NumberInt, NumberDecimal, ISODate, Timestamp,
// BinData, UUID, MinKey, MaxKey, DBRef, HexData, tojson, tojsononeline, print, isNumber, isObject, isString, Array.sum/avg/stdDev/contains/unique,
// Object.extend, bsonWoCompare, hex_md5, sleep, assert … No file, network or process.
type Runtime struct{}

func New() *Runtime { panic("todo") }

// Watch interrupts running code when ctx ends, until stop is called.
func (r *Runtime) Watch(ctx context.Context) (stop func()) { panic("todo") }

// Func is a compiled function value.
type Func struct{}

// Function compiles the text of one function ("function(){…}", arrow functions too).
func (r *Runtime) Function(name, src string) (*Func, error) { panic("todo") }

// SetGlobal defines a global from a BSON value (mapReduce's scope).
func (r *Runtime) SetGlobal(name string, v bsonx.Value) error { panic("todo") }

// Call runs f with this and arguments as BSON, and gives the result as BSON in fresh memory (undefined: Missing).
// Errors are *mongoerr.Error JSInterpreterFailure with the message, function, line and column.
func (r *Runtime) Call(f *Func, this bsonx.Value, args ...bsonx.Value) (bsonx.Value, error) { panic("todo") }
