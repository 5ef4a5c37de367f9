package spill

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestList: records come back by position, from memory and from the file, in any order; the file goes with Reset.
func TestList(t *testing.T) {
	fs := vfs.NewMem()
	l := NewList(Options{FS: fs, Dir: "", MemoryLimit: 1 << 20})
	for round := range 2 {
		n := 30_000
		rec := func(i int) []byte { return []byte(fmt.Sprintf("%d-%d-%s", round, i, strings.Repeat("x", i%200))) }
		for i := range n {
			if err := l.Add(rec(i)); err != nil {
				t.Fatal(err)
			}
		}
		if l.Len() != n || l.Spilled() == 0 {
			t.Fatalf("%d records, %d bytes spilled", l.Len(), l.Spilled())
		}
		if l.Bytes() > 3<<20 {
			t.Errorf("%d bytes held under a limit of 1 MiB", l.Bytes())
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range n {
			i := r.IntN(n)
			got, err := l.At(i)
			if err != nil || !bytes.Equal(got, rec(i)) {
				t.Fatalf("record %d: %q, %v", i, got, err)
			}
		}
		if err := l.Reset(); err != nil {
			t.Fatal(err)
		}
		if names, _ := fs.List(""); len(names) > 0 {
			t.Fatalf("left behind: %v", names)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestListDamaged: a wrong byte in the file is an error.
func TestListDamaged(t *testing.T) {
	fs := vfs.NewMem()
	l := NewList(Options{FS: fs, MemoryLimit: 1 << 20})
	defer l.Close()
	for l.Spilled() == 0 {
		if err := l.Add(bytes.Repeat([]byte("y"), 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := fs.List("")
	f, err := fs.OpenReadWrite(names[0], vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("z"), 5); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	bad := 0
	for i := range l.Len() {
		if _, err := l.At(i); err != nil {
			bad++
		}
	}
	if bad != 1 {
		t.Errorf("%d records are damaged, want 1", bad)
	}
}
