package mongoerr

import (
	"context"
	"errors"
	"fmt"
)

// Error is a command or write error with MongoDB's code.
type Error struct {
	Code Code
	Msg  string
	// Cause is what the error came from, for errors.Is and errors.As; may be nil.
	Cause error
	// Info is BSON elements that a reply carries beside the code, such as a duplicate's keyPattern and keyValue; may be nil.
	Info []byte
}

func (e *Error) Error() string { return e.Msg }

func (e *Error) Unwrap() error { return e.Cause }

// New returns an error with the code and a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Wrap gives err a code and a message in front of its own. A nil err stays nil.
func Wrap(code Code, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...) + ": " + err.Error(), Cause: err}
}

// From returns the *Error in err's chain. An error without one gets
// MaxTimeMSExpired for a passed deadline, Interrupted for a cancelled context, and
// InternalError otherwise, with its own text.
func From(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: MaxTimeMSExpired, Msg: "operation exceeded time limit", Cause: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: Interrupted, Msg: "operation was interrupted", Cause: err}
	}
	return &Error{Code: InternalError, Msg: err.Error(), Cause: err}
}

// CodeOf returns the code in err's chain as From gives it, 0 for nil.
func CodeOf(err error) Code {
	if err == nil {
		return 0
	}
	return From(err).Code
}
