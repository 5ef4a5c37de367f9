package expr

import (
	"time"

	"mrbench/internal/embedded/bsonx"
)

// Scope says which variables an expression may use. The zero Scope (and a nil
// one) has the system variables only: ROOT, CURRENT, NOW, REMOVE. A Scope is
// immutable.
type Scope struct {
	parent  *Scope
	name    string
	val     bsonx.Value
	bound   bool // set by Expr.Bind before evaluating
	scripts *Scripts
}

// With returns a scope that also has a variable with a fixed value (a command's
// let, a $lookup's let). NOW can be fixed this way too, so that all
// expressions of one command agree on it.
func (s *Scope) With(name string, v bsonx.Value) *Scope {
	return &Scope{parent: s, name: name, val: v.Clone()}
}

// WithBound returns a scope with a variable whose value Expr.Bind gives, as
// $redact does with CURRENT.
func (s *Scope) WithBound(name string) *Scope {
	return &Scope{parent: s, name: name, bound: true}
}

// Lookup finds a variable that With added; ok is false for others.
func (s *Scope) Lookup(name string) (v bsonx.Value, ok bool) {
	if f := s.find(name); f != nil && !f.bound {
		return f.val, true
	}
	return missing, false
}

func (s *Scope) find(name string) *Scope {
	for ; s != nil; s = s.parent {
		if s.name == name && name != "" {
			return s
		}
	}
	return nil
}

// Now is the current time as a date.
func Now() bsonx.Value { return bsonx.Date(time.Now().UnixMilli()) }
