// Package mongoerr holds the error that a command answers with: MongoDB's
// numeric code, its name, and a message a person can act on.
//
// Every package of the embedded engine returns *Error for faults that a client
// is to see with a particular code; any other error reaches the client as
// InternalError (1), a cancelled or expired context as Interrupted or
// MaxTimeMSExpired. The recorded replies of a server name its codes in a test.
package mongoerr
