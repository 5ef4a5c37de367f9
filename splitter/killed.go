package splitter

import (
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"
)

// Codes of commands that someone stopped, and of those that stop for other reasons by nearly the same words.
const (
	codeShutdown     = 11600
	codeInterrupted  = 11601
	codeStepDown     = 11602
	codeCursorKilled = 237
)

// KilledError says that someone stopped a command on the server: by killOp, or by ending its session or cursor. It is not to be sent again.
type KilledError struct {
	What  string // such as "mapReduce on test.c"
	Index int    // of the range, from 0
	Range Range  // everything, where there are no ranges
	Err   error
}

func (e *KilledError) Error() string {
	what := e.What
	if !e.Range.Everything() {
		what = fmt.Sprintf("range %d, %s of %s, of %s", e.Index+1, e.Range, e.Range.Key, e.What)
	}
	return fmt.Sprintf("%s was stopped on the server by someone (killOp, or the end of its session): %v", what, e.Err)
}

func (e *KilledError) Unwrap() error { return e.Err }

// Killed reports whether err is a server's answer to a command that someone stopped. Within JavaScript, and through routers, servers
// before 4.4 say so by words and another code. A server that shuts down or steps down stops commands too, and is not meant.
func Killed(err error) bool {
	var se mongo.ServerError
	if !errors.As(err, &se) || se.HasErrorCode(codeShutdown) || se.HasErrorCode(codeStepDown) {
		return false
	}
	if se.HasErrorCode(codeInterrupted) || se.HasErrorCode(codeCursorKilled) {
		return true
	}
	for _, other := range []string{"11600", "11602", "shutdown", "state change"} {
		if se.HasErrorMessage(other) {
			return false
		}
	}
	text := strings.ToLower(se.Error())
	for _, words := range []string{"operation was interrupted", "code: 11601", "javascript execution terminated", "javascript execution interrupted"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
