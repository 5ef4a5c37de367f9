package pipeline

import (
	"encoding/binary"
	"errors"

	"mrbench/internal/embedded/bsonx"
)

// column holds one accumulator's state for all groups, flat where it can be.
type column interface {
	// resize makes room for n groups; new ones are empty.
	resize(n int)
	// update takes in docs[i] for group ids[i].
	update(ids []uint32, docs []bsonx.Doc) error
	// bytes is the memory held.
	bytes() int64
	// result is the value of group g, valid until the column changes or result is called again.
	result(g uint32) (bsonx.Value, error)
	// partial appends the state of group g, self-delimiting; merge takes such a state into group g, after what g holds,
	// and gives what follows it.
	partial(dst []byte, g uint32) []byte
	merge(g uint32, src []byte) (rest []byte, err error)
	// reset forgets all groups.
	reset()
	// clone gives an empty column for another goroutine.
	clone() column
}

var errPartial = errors.New("a spilled group is damaged")

// grow lengthens a slice of flat states.
func grow[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	c := make([]T, n, max(n, min(2*cap(s), cap(s)+1<<20), 64))
	copy(c, s)
	return c
}

// wipe empties a slice so that grow gives zeros again.
func wipe[T any](s []T) []T {
	clear(s[:cap(s)])
	return s[:0]
}

func putValue(dst []byte, v bsonx.Value) []byte {
	dst = append(dst, byte(v.Type))
	dst = binary.AppendUvarint(dst, uint64(len(v.Data)))
	return append(dst, v.Data...)
}

func takeValue(src []byte) (v bsonx.Value, rest []byte, err error) {
	if len(src) == 0 {
		return v, nil, errPartial
	}
	n, w := binary.Uvarint(src[1:])
	if w <= 0 || uint64(len(src)-1-w) < n {
		return v, nil, errPartial
	}
	rest = src[1+w:]
	return bsonx.Value{Type: bsonx.Type(src[0]), Data: rest[:n:n]}, rest[n:], nil
}

func takeUvarint(src []byte) (uint64, []byte, error) {
	n, w := binary.Uvarint(src)
	if w <= 0 {
		return 0, nil, errPartial
	}
	return n, src[w:], nil
}

func appendInt(dst []byte, n int64) []byte { return binary.AppendVarint(dst, n) }

func takeInt(src []byte) (int64, []byte, error) {
	n, w := binary.Varint(src)
	if w <= 0 {
		return 0, nil, errPartial
	}
	return n, src[w:], nil
}
