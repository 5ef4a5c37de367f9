// Package expr compiles and evaluates aggregation expressions.
package expr

// This file is the agreed interface; it is replaced by the real files.

import "mrbench/internal/embedded/bsonx"

// Scope says which variables an expression may use. The zero Scope has the system variables only
// (ROOT, CURRENT, NOW, REMOVE, …).
type Scope struct{}

// With returns a scope that also has a variable with a fixed value (a command's `let`, a $lookup's let).
func (s *Scope) With(name string, v bsonx.Value) *Scope { panic("todo") }

// Expr is a compiled expression. Eval may reuse buffers inside the Expr: one goroutine at a time; Clone for another.
type Expr struct{}

// Compile parses any expression: "$a.b", {$add: […]}, a document of expressions, a literal.
// Errors carry MongoDB's codes (168 unknown operator, 16020 wrong number of arguments, 17276 undefined variable, …).
// Constant parts are folded.
func Compile(v bsonx.Value, s *Scope) (*Expr, error) { panic("todo") }

// Eval computes the expression for a document. A missing result has type bsonx.Missing.
// The result may alias root or buffers of the Expr: valid until the next Eval.
func (e *Expr) Eval(root bsonx.Doc) (bsonx.Value, error) { panic("todo") }

func (e *Expr) Clone() *Expr { panic("todo") }

// Constant is the value when it does not depend on the document.
func (e *Expr) Constant() (bsonx.Value, bool) { panic("todo") }

// FieldPath is the dotted path when the expression is just "$path" (or "$$ROOT.path").
func (e *Expr) FieldPath() (string, bool) { panic("todo") }

// Operator gives the operator and its arguments when it is one ("$and", "$gte", …), for planners.
func (e *Expr) Operator() (name string, args []*Expr, ok bool) { panic("todo") }

// Deps collects the dotted paths that Eval may read; whole is true when it may read anything ($$ROOT).
func (e *Expr) Deps(add func(path string)) (whole bool) { panic("todo") }
