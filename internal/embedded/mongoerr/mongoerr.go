// Package mongoerr holds the error that a command answers with: MongoDB's
// numeric code, its name, and a message a person can act on.
//
// Every package of the embedded engine returns *Error for faults that a client
// is to see with a particular code; any other error reaches the client as
// InternalError (1).
package mongoerr

import (
	"errors"
	"fmt"
)

// Error is a command or write error with MongoDB's code.
type Error struct {
	Code Code
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// New returns an error with the code and a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// From returns the *Error in err's chain, or err's text under InternalError.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: InternalError, Msg: err.Error()}
}

// CodeOf returns the code in err's chain, InternalError for another error, 0 for nil.
func CodeOf(err error) Code {
	if err == nil {
		return 0
	}
	return From(err).Code
}
