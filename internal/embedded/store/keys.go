package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

// The first byte of a key says what it is.
const (
	spaceMeta    = 0x01 // name → value
	spaceCatalog = 0x02 // db, NUL, collection → its record
	spaceCounter = 0x03 // collection id → counters
	spacePending = 0x04 // id of something not yet published → kind
	spaceRecord  = 0x10 // collection id, encoded _id → document
	spaceEntry   = 0x20 // index id, encoded fields, encoded _id → type bits
)

var errCorrupt = errors.New("corrupt")

// appendID appends an id of one to eight bytes so that bytes order is the ids' order.
func appendID(dst []byte, id uint64) []byte {
	n := max((bits.Len64(id)+7)/8, 1)
	dst = append(dst, byte(n))
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(id>>(8*i)))
	}
	return dst
}

// readID is the inverse of appendID; it returns the length read, 0 if malformed.
func readID(b []byte) (id uint64, n int) {
	if len(b) == 0 || b[0] == 0 || b[0] > 8 || len(b) < int(b[0])+1 {
		return 0, 0
	}
	for _, c := range b[1 : b[0]+1] {
		id = id<<8 | uint64(c)
	}
	return id, int(b[0]) + 1
}

func recordPrefix(id uint64) []byte { return appendID([]byte{spaceRecord}, id) }
func entryPrefix(id uint64) []byte  { return appendID([]byte{spaceEntry}, id) }
func counterKey(id uint64) []byte   { return appendID([]byte{spaceCounter}, id) }
func pendingKey(id uint64) []byte   { return appendID([]byte{spacePending}, id) }

func catalogKey(ns NS) []byte {
	k := make([]byte, 0, len(ns.DB)+len(ns.Coll)+2)
	k = append(k, spaceCatalog)
	k = append(k, ns.DB...)
	k = append(k, 0)
	return append(k, ns.Coll...)
}

func metaKey(name string) []byte { return append([]byte{spaceMeta}, name...) }

// successor is the smallest key greater than every key that starts with p; nil
// if there is none.
func successor(p []byte) []byte {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			s := bytes.Clone(p[:i+1])
			s[i]++
			return s
		}
	}
	return nil
}

// appendSuccessor is successor into a reused buffer.
func appendSuccessor(dst, p []byte) []byte {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			dst = append(dst, p[:i+1]...)
			dst[len(dst)-1]++
			return dst
		}
	}
	return append(dst, 0xff)
}

// An entry's value holds what its key loses: nothing at all in the common case,
// else the length of the fields' type bits, those bits, and the _id's bits. In a
// unique index the key has no _id, so the value always holds the length of the
// fields' bits, those bits, the length of the _id's bits, those bits and the
// encoded _id.

func appendEntryValue(dst, fieldBits, idBits []byte) []byte {
	if len(fieldBits) == 0 && len(idBits) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(fieldBits)))
	dst = append(dst, fieldBits...)
	return append(dst, idBits...)
}

func appendUniqueValue(dst, fieldBits, idBits, idKey []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(fieldBits)))
	dst = append(dst, fieldBits...)
	dst = binary.AppendUvarint(dst, uint64(len(idBits)))
	dst = append(dst, idBits...)
	return append(dst, idKey...)
}

func splitEntryValue(v []byte) (fieldBits, idBits []byte, err error) {
	if len(v) == 0 {
		return nil, nil, nil
	}
	n, w := binary.Uvarint(v)
	if w <= 0 || n > uint64(len(v)-w) {
		return nil, nil, errCorrupt
	}
	v = v[w:]
	return v[:n], v[n:], nil
}

func splitUniqueValue(v []byte) (fieldBits, idBits, idKey []byte, err error) {
	n, w := binary.Uvarint(v)
	if w <= 0 || n > uint64(len(v)-w) {
		return nil, nil, nil, errCorrupt
	}
	fieldBits, v = v[w:w+int(n)], v[w+int(n):]
	n, w = binary.Uvarint(v)
	if w <= 0 || n > uint64(len(v)-w) {
		return nil, nil, nil, errCorrupt
	}
	return fieldBits, v[w : w+int(n)], v[w+int(n):], nil
}
