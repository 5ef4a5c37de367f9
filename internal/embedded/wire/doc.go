// Package wire frames MongoDB's wire protocol: it reads OP_MSG (with document
// sequences and checksums), OP_COMPRESSED and the legacy OP_QUERY of a
// handshake, and appends replies to one buffer.
//
// Invariants: every document handed out passed bsonx.Validate; nothing is
// copied out of the message's buffer; a message never makes the reader
// allocate more than the message says, and never more than MaxMessageSize.
// It knows no command. Tested by round trips, checksums, and fuzzing of the parser.
package wire
