package splitter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

func TestKilled(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"killOp", mongo.CommandError{Code: 11601, Message: "operation was interrupted"}, true},
		{"wrapped", fmt.Errorf("mapReduce: %w", mongo.CommandError{Code: 11601, Message: "operation was interrupted"}), true},
		{"its cursor", mongo.CommandError{Code: 237, Message: "cursor killed because of killCursors"}, true},
		{"within JavaScript", mongo.CommandError{Code: 139, Message: "JavaScript execution terminated"}, true},
		{"through a router", mongo.CommandError{Message: `MR parallel processing failed: { ok: 0.0, errmsg: "operation was interrupted", code: 11601, codeName: "Interrupted" }`}, true},
		{"a write", mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 11601}}, true},
		{"shutdown", mongo.CommandError{Code: 11600, Message: "interrupted at shutdown"}, false},
		{"step down", mongo.CommandError{Code: 11602, Message: "operation was interrupted because of replica set state change"}, false},
		{"step down of a shard", mongo.CommandError{Message: `MR parallel processing failed: { ok: 0.0, errmsg: "operation was interrupted", code: 11602 }`}, false},
		{"too slow", mongo.CommandError{Code: 50, Message: "operation exceeded time limit"}, false},
		{"JavaScript", mongo.CommandError{Code: 139, Message: "ReferenceError: x is not defined"}, false},
		{"our own end", context.Canceled, false},
		{"none", nil, false},
	} {
		if got := Killed(c.err); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	cause := mongo.CommandError{Code: 11601, Name: "Interrupted", Message: "operation was interrupted"}
	e := &KilledError{What: "mapReduce on test.c", Index: 2, Range: Range{Key: "f", Lo: bson.RawValue{Type: bson.TypeInt32, Value: []byte{5, 0, 0, 0}}}, Err: cause}
	if got := e.Error(); !strings.HasPrefix(got, "range 3, [5, MaxKey] of f, of mapReduce on test.c was stopped on the server by someone (killOp") || !errors.As(e, &mongo.CommandError{}) {
		t.Error(got)
	}
	e.Range = Range{}
	if got := e.Error(); !strings.HasPrefix(got, "mapReduce on test.c was stopped") {
		t.Error(got)
	}
}
