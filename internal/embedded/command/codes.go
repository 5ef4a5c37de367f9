package command

import "mrbench/internal/embedded/mongoerr"

// Codes that only commands answer with.
const (
	errNoReplication       mongoerr.Code = 76
	errUnknownWriteConcern mongoerr.Code = 79
	errNotAReplicaSet      mongoerr.Code = 123
	errAPIVersion          mongoerr.Code = 322
	errUnsupportedOpQuery  mongoerr.Code = 352
	errCursorSession       mongoerr.Code = 50738
	errCursorInUse         mongoerr.Code = 12051
	errDistinctTooBig      mongoerr.Code = 17217
	errMissingField        mongoerr.Code = 40414
	errUnknownField        mongoerr.Code = 40415
)
