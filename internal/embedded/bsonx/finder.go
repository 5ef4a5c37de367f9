package bsonx

import "bytes"

// Finder reads one field of many documents of like shape: it remembers which
// elements stood before the field last time, checks that they stand there again
// (so a value that looks like an element can never be mistaken for one), and
// skips them without searching their names. Not safe for concurrent use.
type Finder struct {
	name string
	want []byte // type byte, name, NUL of the field when last seen
	skip []step // elements before it
}

type step struct {
	head []byte // type byte, name, NUL
	size int    // data bytes, -1 when it varies
}

// maxSteps bounds what a Finder remembers; a field that stands further back is searched.
const maxSteps = 24

// NewFinder returns a Finder of the first field called name (not a dotted path).
func NewFinder(name string) *Finder { return &Finder{name: name} }

// Name is the name it looks for.
func (f *Finder) Name() string { return f.name }

// Get returns the field of d, or a missing Value. It aliases d.
func (f *Finder) Get(d Doc) Value {
	if len(f.want) == 0 || len(d) < 5 {
		return f.search(d)
	}
	b := []byte(d[4:])
	for i := range f.skip {
		s := &f.skip[i]
		h := len(s.head)
		if len(b) <= h || !bytes.Equal(b[:h], s.head) {
			return f.search(d)
		}
		b = b[h:]
		size := s.size
		if size < 0 {
			size = varSize(Type(s.head[0]), b)
		}
		if uint(size) >= uint(len(b)) {
			return Value{}
		}
		b = b[size:]
	}
	h := len(f.want)
	// The type may differ from last time: only the name and its NUL count.
	if len(b) <= h || !bytes.Equal(b[1:h], f.want[1:]) || b[0] == 0 {
		return f.search(d)
	}
	t := Type(b[0])
	b = b[h:]
	size := int(fixedSize[t])
	if size < 0 {
		size = varSize(t, b)
	}
	if uint(size) >= uint(len(b)) {
		return Value{}
	}
	return Value{t, b[:size:size]}
}

// search walks d and, when it finds the field, remembers the way.
func (f *Finder) search(d Doc) Value {
	n := 0
	it := d.Iter()
	for ; it.Next(); n++ {
		if string(it.Name()) == f.name {
			f.learn(d, n)
			return it.Value()
		}
	}
	return Value{}
}

func (f *Finder) learn(d Doc, n int) {
	f.want, f.skip = f.want[:0], f.skip[:0]
	if n > maxSteps {
		return
	}
	it := d.Iter()
	for range n {
		it.Next()
		elem := it.Elem()
		head := bytes.Clone(elem[:len(it.Name())+2])
		f.skip = append(f.skip, step{head, int(fixedSize[head[0]])})
	}
	it.Next()
	f.want = append(f.want, it.Elem()[:len(f.name)+2]...)
}
