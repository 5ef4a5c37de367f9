package mr

import (
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/mongo"
)

func TestScriptError(t *testing.T) {
	j := Job{
		Map:    "function () { emit(this.dim0, 1); }",
		Reduce: "function (k, v) {\n  throw new Error('no');\n}",
	}
	tests := []struct {
		name, message string
		code          int32
		want          string // function line message
	}{
		{"4.0 reduce throws", "Error: no :\n@:2:9\n", 139, "reduce 2 Error: no"},
		{"4.0 throws a string", "uncaught exception: x", 139, " 0 uncaught exception: x"},
		{"4.0 syntax", "SyntaxError: missing } after function body @:1:33\n", 139, "map 1 SyntaxError: missing } after function body"},
		{"either function", "TypeError: null has no properties :\n@:1:16\n", 139, " 1 TypeError: null has no properties"},
		{"4.4", "PlanExecutor error during aggregation :: caused by :: TypeError: this.a is undefined :\n@:1:16\n", 139, " 1 TypeError: this.a is undefined"},
		{"function named", "Error: no :\nfinalize@:3:1\n", 139, "finalize 3 Error: no"},
		{"a helper named", "Error: no :\nhelper@:2:20\n", 139, "reduce 2 Error: no"},
		{"old map", "map invoke failed: ReferenceError: x is not defined", 9014, "map 0 map invoke failed: ReferenceError: x is not defined"},
		{"not a script", "ns not found", 26, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := scriptError(fmt.Errorf("wrapped: %w", mongo.CommandError{Code: tt.code, Message: tt.message}), j)
			got := ""
			if err != nil {
				got = fmt.Sprintf("%s %d %s", err.Function, err.Line, err.Message)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if scriptError(errors.New("EOF"), j) != nil {
		t.Error("a connection error is no script error")
	}
}

func TestJSModeRefused(t *testing.T) {
	if !jsModeRefused(mongo.CommandError{Message: "unknown m/r field for sharding: jsMode"}) {
		t.Error("a router's refusal is not recognised")
	}
	if jsModeRefused(mongo.CommandError{Message: "unknown m/r field for sharding: limit"}) || jsModeRefused(nil) {
		t.Error("something else is taken for a refusal")
	}
}
