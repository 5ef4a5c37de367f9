package bsonx

import (
	"bytes"
	"encoding/binary"
)

// Iter walks the elements of a document or array.
//
//	for it := d.Iter(); it.Next(); { it.Name(); it.Value() }
//
// On bytes that never passed Validate it does not panic: it ends at the first
// element that does not fit.
type Iter struct {
	rest, name []byte
	val        Value
}

// Iter walks d's elements.
func (d Doc) Iter() Iter {
	if len(d) < 5 {
		return Iter{}
	}
	return Iter{rest: d[4:]}
}

// Next moves to the next element.
func (it *Iter) Next() bool {
	b := it.rest
	if len(b) < 2 || b[0] == 0 {
		return false
	}
	n := 1
	for n < len(b) && b[n] != 0 {
		n++
	}
	if n == len(b) {
		return false
	}
	it.name = b[1:n:n]
	t := Type(b[0])
	b = b[n+1:]
	size := int(fixedSize[t])
	if size < 0 {
		size = varSize(t, b)
	}
	// Not all of b may go: the terminator still has to follow.
	if uint(size) >= uint(len(b)) {
		return false
	}
	it.val = Value{t, b[:size:size]}
	it.rest = b[size:]
	return true
}

// Name is the element's name. It aliases the document.
func (it *Iter) Name() []byte { return it.name }

// Value is the element's value. It aliases the document.
func (it *Iter) Value() Value { return it.val }

// Get returns the first field of that name, or a missing Value. The name is
// one field's, not a dotted path.
func (d Doc) Get(name string) Value {
	if len(d) < 5 {
		return Value{}
	}
	b := []byte(d[4:])
	for len(b) > 1 && b[0] != 0 {
		t := Type(b[0])
		n := 1 + len(name)
		hit := n < len(b) && b[n] == 0 && string(b[1:n]) == name
		if !hit {
			n = 1
			for n < len(b) && b[n] != 0 {
				n++
			}
			if n == len(b) {
				break
			}
		}
		b = b[n+1:]
		size := int(fixedSize[t])
		if size < 0 {
			size = varSize(t, b)
		}
		if uint(size) >= uint(len(b)) {
			break
		}
		if hit {
			return Value{t, b[:size:size]}
		}
		b = b[size:]
	}
	return Value{}
}

// Len counts the elements.
func (d Doc) Len() int {
	n := 0
	for it := d.Iter(); it.Next(); {
		n++
	}
	return n
}

// fixedSize holds the number of data bytes of each type, -1 where it varies
// and for bytes that are no type.
var fixedSize = func() (s [256]int8) {
	for i := range s {
		s[i] = -1
	}
	s[TypeDouble], s[TypeDateTime], s[TypeTimestamp], s[TypeInt64] = 8, 8, 8, 8
	s[TypeUndefined], s[TypeNull], s[TypeMinKey], s[TypeMaxKey] = 0, 0, 0, 0
	s[TypeObjectID], s[TypeBoolean], s[TypeInt32], s[TypeDecimal128] = 12, 1, 4, 16
	return s
}()

// varSize is the number of data bytes of a value of varying size that b starts
// with, or -1 when b cannot hold one.
func varSize(t Type, b []byte) int {
	if t == TypeRegex {
		n := cstringLen(b)
		m := n + 1 + cstringLen(b[min(n+1, len(b)):])
		if m >= len(b) {
			return -1
		}
		return m + 1
	}
	if len(b) < 5 {
		return -1
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	switch t {
	case TypeString, TypeSymbol, TypeJavaScript:
		if n < 1 {
			return -1
		}
		return n + 4
	case TypeEmbeddedDocument, TypeArray:
		if n < 5 {
			return -1
		}
		return n
	case TypeBinary:
		if n < 0 {
			return -1
		}
		return n + 5
	case TypeDBPointer:
		if n < 1 {
			return -1
		}
		return n + 16
	case TypeCodeWithScope:
		if n < 14 {
			return -1
		}
		return n
	}
	return -1
}

// cstringLen is the length up to the first NUL, or len(b).
func cstringLen(b []byte) int {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		return n
	}
	return len(b)
}
