// Package auth proves who a client is and says what it may do: SCRAM-SHA-1 and
// SCRAM-SHA-256 as MongoDB uses them, and its built-in roles.
//
// Invariants: a password is never kept, only what SCRAM needs to check it (salt,
// stored key, server key); secrets are compared in constant time; an unknown user
// gets the same answers as a known one with a wrong password.
//
// The package keeps no users and knows nothing of commands. Tested against an
// independent implementation of the client's side, and with the examples of
// RFC 5802 and RFC 7677.
package auth
