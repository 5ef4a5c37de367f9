package command

import "mrbench/internal/embedded/mongoerr"

// Codes without a name in MongoDB's list that commands answer with.
const (
	errCursorInUse     mongoerr.Code = 12051
	errDistinctTooBig  mongoerr.Code = 17217
	errUpdatedTooLarge mongoerr.Code = 17419
	errUpsertTooLarge  mongoerr.Code = 17420
	errHalfAwait       mongoerr.Code = 31368
	errRetryMismatch   mongoerr.Code = 40606
	errMissingField    mongoerr.Code = 40414
	errUnknownField    mongoerr.Code = 40415
	errUserExists      mongoerr.Code = 51003
	errCursorSession   mongoerr.Code = 50738
	errNotRetryable    mongoerr.Code = 50768
)
