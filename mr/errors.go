package mr

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"
)

// Server codes that decide what happens next.
const (
	codeNamespaceNotFound = 26
	codeJavaScript        = 139
	codeMapFailed         = 9014
	codeOldJavaScript     = 16722
	codeDuplicateKey      = 11000
	codeUnknownStage      = 40324
)

// ErrAmbiguousKeys says that jsMode can not be used: the keys are strings and other types, and it makes
// strings of all of them, so that 1 and "1" become one key.
var ErrAmbiguousKeys = errors.New("mr: the emit key has strings beside numbers, booleans or missing values, " +
	"and jsMode makes strings of all of them: run without jsMode")

// JSModeError says that the server does not take the jsMode option.
type JSModeError struct{ Message string }

func (e *JSModeError) Error() string {
	return "mr: this server refuses jsMode: " + e.Message + ": run without it"
}

// OutputExistsError says that an output collection is there already; it is never overwritten.
type OutputExistsError struct{ NS string }

func (e *OutputExistsError) Error() string {
	return fmt.Sprintf("mr: output collection %s exists already: use another prefix, or clean up the earlier run", e.NS)
}

// DuplicateKeysError says that two parts gave the same key though their ranges
// are on the emit key.
type DuplicateKeysError struct{ NS, EmitKey, Message string }

func (e *DuplicateKeysError) Error() string {
	return fmt.Sprintf("mr: %s: two parts gave the same key: map does not emit %q alone as its key: "+
		"leave the job's emit key empty to have the parts reduced again: %s", e.NS, e.EmitKey, e.Message)
}

// CollisionError says that jsMode gave a key twice, as a string and as itself,
// in results that finalize has already been through.
type CollisionError struct{ NS string }

func (e *CollisionError) Error() string {
	return fmt.Sprintf("mr: %s: jsMode gave a key twice and finalize has been applied to both: run without jsMode", e.NS)
}

// ScriptError is a JavaScript error in the job's functions.
type ScriptError struct {
	Function string // "map", "reduce", "finalize" when known
	Line     int    // 0 unknown
	Message  string
	Code     int32
}

func (e *ScriptError) Error() string {
	where := "the job's JavaScript"
	if e.Function != "" {
		where = e.Function
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	return fmt.Sprintf("mr: %s: %s (code %d)", where, e.Message, e.Code)
}

var (
	// "@:3:16" is where a server says an error was; some name the function before the @.
	scriptPosition = regexp.MustCompile(`([A-Za-z_$][\w$]*)?@:(\d+):(\d+)`)
	scriptFunction = regexp.MustCompile(`\b(map|reduce|finalize) (?:function|invoke|failed)`)
)

// scriptError reads a server's answer to a faulty function; nil when it is about something else.
func scriptError(err error, j Job) *ScriptError {
	var ce mongo.CommandError
	if !errors.As(err, &ce) {
		return nil
	}
	switch ce.Code {
	case codeJavaScript, codeMapFailed, codeOldJavaScript:
	default:
		return nil
	}
	text := ce.Message
	if i := strings.LastIndex(text, ":: caused by ::"); i >= 0 {
		text = text[i+len(":: caused by ::"):]
	}
	s := &ScriptError{Code: ce.Code}
	column := 0
	if m := scriptPosition.FindStringSubmatch(text); m != nil {
		if m[1] == "map" || m[1] == "reduce" || m[1] == "finalize" {
			s.Function = m[1]
		}
		s.Line, _ = strconv.Atoi(m[2])
		column, _ = strconv.Atoi(m[3])
	}
	if s.Function == "" {
		if m := scriptFunction.FindStringSubmatch(ce.Message); m != nil {
			s.Function = m[1]
		} else if s.Line > 0 {
			s.Function = onlyPlace(j, s.Line, column)
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if at := scriptPosition.FindStringIndex(first); at != nil && at[0] > 0 {
		first = first[:at[0]]
	}
	s.Message = strings.TrimSuffix(strings.TrimSpace(first), " :")
	if s.Message == "" {
		s.Message = strings.TrimSpace(ce.Message)
	}
	return s
}

// onlyPlace names the function that alone is long enough to have a position,
// for servers that say where but not in which.
func onlyPlace(j Job, line, column int) string {
	found := ""
	for _, f := range []struct{ name, text string }{{"map", j.Map}, {"reduce", j.Reduce}, {"finalize", j.Finalize}} {
		lines := strings.Split(f.text, "\n")
		if f.text == "" || line > len(lines) || column > len(lines[line-1])+1 {
			continue
		}
		if found != "" {
			return ""
		}
		found = f.name
	}
	return found
}

// code is the server's error code in err, 0 when there is none.
func code(err error) int32 {
	var ce mongo.CommandError
	if errors.As(err, &ce) {
		return ce.Code
	}
	return 0
}
