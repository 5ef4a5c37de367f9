package bsonx

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Iter walks the elements of a document or array.
//
//	it := d.Iter()
//	for it.Next() { it.Name(); it.Value() }
//
// Declare it outside of the for clause: a variable declared inside is copied
// for each element, which costs as much as the walk.
//
// On bytes that never passed Validate it does not panic: it ends at the first
// element that does not fit.
type Iter struct {
	doc            []byte
	name, val, pos int // where the name and the value start; where the next element does
}

// Iter walks d's elements.
func (d Doc) Iter() Iter {
	if len(d) < 5 {
		return Iter{}
	}
	return Iter{doc: d, pos: 4}
}

// Next moves to the next element.
func (it *Iter) Next() bool {
	p := it.pos
	if p >= len(it.doc) {
		return false
	}
	b := it.doc[p:]
	t := Type(b[0])
	n := nameEnd(b)
	if t == 0 || n == len(b) {
		return false
	}
	b = b[n+1:]
	size := int(fixedSize[t])
	if size < 0 {
		size = varSize(t, b)
	}
	// Not all of b may go: the terminator still has to follow.
	if uint(size) >= uint(len(b)) {
		return false
	}
	it.name, it.val = p+1, p+n+1
	it.pos = p + n + 1 + size
	return true
}

// Name is the element's name. It aliases the document.
func (it *Iter) Name() []byte { return it.doc[it.name : it.val-1 : it.val-1] }

// Type is the element's type.
func (it *Iter) Type() Type { return Type(it.doc[it.name-1]) }

// Value is the element's value. It aliases the document.
func (it *Iter) Value() Value {
	return Value{Type(it.doc[it.name-1]), it.doc[it.val:it.pos:it.pos]}
}

// Elem is the whole element: type, name, NUL, data. It aliases the document.
func (it *Iter) Elem() []byte { return it.doc[it.name-1 : it.pos : it.pos] }

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
			if n = nameEnd(b); n == len(b) {
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

// nameEnd is the index of the NUL behind the name of the element that b begins
// with, or len(b). It looks at eight bytes at once, as names are short.
func nameEnd(b []byte) int {
	if len(b) >= 9 {
		w := binary.LittleEndian.Uint64(b[1:])
		if z := (w - 0x0101010101010101) &^ w & 0x8080808080808080; z != 0 {
			return 1 + bits.TrailingZeros64(z)>>3
		}
	}
	for n := 1; n < len(b); n++ {
		if b[n] == 0 {
			return n
		}
	}
	return len(b)
}

// Len counts the elements.
func (d Doc) Len() int {
	n := 0
	it := d.Iter()
	for it.Next() {
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
