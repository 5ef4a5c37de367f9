// Package wire frames MongoDB's wire protocol: it reads OP_MSG (with document
// sequences and checksums), OP_COMPRESSED and the legacy OP_QUERY of a
// handshake, and builds replies in one buffer.
//
// Invariants: every document handed out passed bsonx.Validate; nothing is
// copied out of a message's buffer; a message never makes the reader allocate
// more than the message says, and never more than MaxMessageSize. It knows no
// command, and no legacy write or cursor opcode. Tested by round trips against the
// driver's own framing, by checksums, and by fuzzing the parser.
package wire
