package mr

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
)

// Job is what to compute.
type Job struct {
	Map, Reduce, Finalize string // JavaScript functions; Finalize may be empty
	Scope, Query, Sort    bson.D
	Limit                 int64 // documents that map sees, 0 all; not possible in ranges
	// EmitKey is the field that map emits as its key, when it does (then parts in ranges of it are disjoint).
	EmitKey string
}

// UniqueCount counts the documents of each value of a field:
// emit(this.<field>, 1) with a sum. A dotted path reads as missing where its
// parents are missing.
func UniqueCount(field string) Job {
	return Job{
		Map:     fmt.Sprintf("function () { emit(%s, 1); }", access(field)),
		Reduce:  "function (key, values) { return Array.sum(values); }",
		EmitKey: field,
	}
}

// access is the JavaScript that reads a path of this.
func access(field string) string {
	parts := strings.Split(field, ".")
	expr := "this" + member(parts[0])
	for _, p := range parts[1:] {
		expr = fmt.Sprintf("(%s || {})%s", expr, member(p))
	}
	return expr
}

func member(name string) string {
	plain := name != ""
	for i, c := range name {
		letter := c == '_' || c == '$' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		if !letter && (i == 0 || c < '0' || c > '9') {
			plain = false
		}
	}
	if plain {
		return "." + name
	}
	quoted, _ := json.Marshal(name) // a JSON string is a JavaScript string
	return "[" + string(quoted) + "]"
}
