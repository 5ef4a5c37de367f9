package spill

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"pgregory.net/rapid"
)

type pair struct{ k, v []byte }

func drain(t testing.TB, it *Iter) []pair {
	t.Helper()
	var got []pair
	for it.Next() {
		got = append(got, pair{bytes.Clone(it.Key()), bytes.Clone(it.Value())})
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return got
}

// The sorter agrees with a stable sort in memory, whatever the keys and however often it spills.
func TestSortsStably(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		fs := vfs.NewMem()
		s := NewSorter(Options{FS: fs, Dir: "", Parallel: rapid.Bool().Draw(r, "parallel")})
		s.limit = rapid.Int64Range(50, 20000).Draw(r, "limit")
		key := rapid.OneOf(
			rapid.SliceOfN(rapid.Byte(), 0, 12),
			rapid.SliceOfN(rapid.ByteRange(0, 1), 0, 20),
			rapid.Map(rapid.IntRange(0, 300), func(i int) []byte { return fmt.Appendf(nil, "common prefix %d", i) }),
		)
		var want []pair
		for i := range rapid.IntRange(0, 600).Draw(r, "n") {
			p := pair{key.Draw(r, "key"), binary.AppendUvarint(nil, uint64(i))}
			want = append(want, p)
			if err := s.Add(p.k, p.v); err != nil {
				r.Fatal(err)
			}
		}
		slices.SortStableFunc(want, func(a, b pair) int { return bytes.Compare(a.k, b.k) })
		it, err := s.Sort()
		if err != nil {
			r.Fatal(err)
		}
		i := 0
		for ; it.Next(); i++ {
			if !bytes.Equal(it.Key(), want[i].k) || !bytes.Equal(it.Value(), want[i].v) {
				r.Fatalf("pair %d is %q %q, want %q %q", i, it.Key(), it.Value(), want[i].k, want[i].v)
			}
		}
		if it.Err() != nil || i != len(want) || s.Len() != int64(len(want)) {
			r.Fatalf("%d of %d pairs, %v", i, len(want), it.Err())
		}
		if err := s.Close(); err != nil {
			r.Fatal(err)
		}
		if left, _ := fs.List(""); len(left) != 0 {
			r.Fatalf("files left: %v", left)
		}
	})
}

// Enough pairs for the radix sort and several chunks.
func TestManyPairs(t *testing.T) {
	for _, limit := range []int64{4 << 20, 1 << 30} {
		fs := vfs.NewMem()
		s := NewSorter(Options{FS: fs, MemoryLimit: limit})
		rng := rand.New(rand.NewPCG(1, 2))
		want := make([]pair, 300_000)
		for i := range want {
			want[i] = pair{binary.BigEndian.AppendUint32([]byte{7}, rng.Uint32N(100_000)), binary.BigEndian.AppendUint32(nil, uint32(i))}
			if err := s.Add(want[i].k, want[i].v); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortStableFunc(want, func(a, b pair) int { return bytes.Compare(a.k, b.k) })
		it, err := s.Sort()
		if err != nil {
			t.Fatal(err)
		}
		got := drain(t, it)
		if !slices.EqualFunc(got, want, func(a, b pair) bool { return bytes.Equal(a.k, b.k) && bytes.Equal(a.v, b.v) }) {
			t.Fatal("order differs")
		}
		if spilled := s.Spilled() > 0; spilled != (limit == 4<<20) {
			t.Fatalf("limit %d: spilled %d bytes", limit, s.Spilled())
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLargePairs(t *testing.T) {
	s := NewSorter(Options{FS: vfs.NewMem(), MemoryLimit: 1 << 20})
	defer s.Close()
	for i := 9; i >= 0; i-- {
		if err := s.Add([]byte{byte(i)}, bytes.Repeat([]byte{byte(i)}, 5<<20)); err != nil {
			t.Fatal(err)
		}
	}
	it, err := s.Sort()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range drain(t, it) {
		if p.k[0] != byte(i) || len(p.v) != 5<<20 || p.v[len(p.v)-1] != byte(i) {
			t.Fatalf("pair %d is wrong", i)
		}
	}
}

func TestNoSpillTouchesNoDisk(t *testing.T) {
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.ErrInjected.If(errorfs.Writes))
	s := NewSorter(Options{FS: fs, MemoryLimit: 64 << 20})
	for i := range 1000 {
		if err := s.Add([]byte{byte(i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	it, err := s.Sort()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(drain(t, it)); n != 1000 {
		t.Fatal(n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// fill makes a sorter with at least one run and returns the path of that run.
func fill(t *testing.T, fs vfs.FS, parallel bool) (*Sorter, string) {
	t.Helper()
	s := NewSorter(Options{FS: fs, Parallel: parallel})
	for i := 0; len(s.runs) == 0; i++ {
		if err := s.Add(binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15), []byte("value")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.settle(); err != nil {
		t.Fatal(err)
	}
	return s, s.runs[0]
}

func walk(s *Sorter) error {
	it, err := s.Sort()
	if err != nil {
		return err
	}
	for it.Next() {
	}
	return it.Err()
}

// A wrong byte anywhere in a run and a run cut short anywhere are errors.
func TestDamagedRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		where := rng.Float64()
		for _, cut := range []bool{false, true} {
			fs := vfs.NewMem()
			s, path := fill(t, fs, i%2 == 0)
			data := readAll(t, fs, path)
			at := int(where * float64(len(data)))
			if i < 12 {
				at = i // the first header
			} else if i < 20 {
				at = len(data) - 1 - (i - 12) // the last block
			}
			if cut {
				data = data[:at]
			} else {
				data[at] ^= 0x40
			}
			f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(data); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if err := walk(s); err == nil {
				t.Errorf("byte %d of %d (cut: %v) went unnoticed", at, len(data), cut)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func readAll(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	st, err := fs.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, st.Size())
	if err := readFull(f, b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWriteErrorIsReportedAndStays(t *testing.T) {
	for _, parallel := range []bool{false, true} {
		toggle := &errorfs.Toggle{Injector: errorfs.ErrInjected.If(errorfs.Writes)}
		s := NewSorter(Options{FS: errorfs.Wrap(vfs.NewMem(), toggle), Parallel: parallel})
		toggle.On()
		var err error
		for i := 0; err == nil && i < 1_000_000; i++ {
			err = s.Add([]byte("key"), []byte("value"))
		}
		if err == nil {
			t.Fatal("no error from a disk that takes no writes")
		}
		if s.Add(nil, nil) == nil {
			t.Error("a sorter that lost a run takes pairs")
		}
		if _, err := s.Sort(); err == nil {
			t.Error("a sorter that lost a run sorts")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The last run may still be on its way when sorting begins.
func TestWriteErrorOfTheLastRun(t *testing.T) {
	toggle := &errorfs.Toggle{Injector: errorfs.ErrInjected.If(errorfs.Writes)}
	fs := vfs.NewMem()
	s := NewSorter(Options{FS: errorfs.Wrap(fs, toggle), Parallel: true})
	toggle.On()
	for len(s.runs) == 0 {
		if err := s.Add([]byte("key"), []byte("value")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Sort(); err == nil {
		t.Error("a sorter that lost its only run sorts")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := fs.List(""); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
}

// A reader that has seen enough leaves neither files nor goroutines, at whatever pair it stops.
func TestCloseInTheMiddle(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, pairs := range []int{0, 1, 30_000} {
		fs := vfs.NewMem()
		s, _ := fill(t, fs, true)
		it, err := s.Sort()
		if err != nil {
			t.Fatal(err)
		}
		for range pairs {
			it.Next()
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if it.Next() {
			t.Error("a closed iterator goes on")
		}
		if left, _ := fs.List(""); len(left) != 0 {
			t.Errorf("files left: %v", left)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

func BenchmarkSort(b *testing.B) {
	for _, bc := range []struct {
		name     string
		limit    int64
		parallel bool
	}{{"memory", 4 << 30, false}, {"spill64MiB", 64 << 20, false}, {"spill64MiB parallel", 64 << 20, true}} {
		b.Run(bc.name, func(b *testing.B) {
			const n = 2_000_000
			dir := b.TempDir()
			for range b.N {
				s := NewSorter(Options{FS: vfs.Default, Dir: dir, MemoryLimit: bc.limit, Parallel: bc.parallel})
				rng := rand.New(rand.NewPCG(1, 2))
				var k [16]byte
				for range n {
					binary.BigEndian.PutUint64(k[:], rng.Uint64N(1_000_000))
					binary.BigEndian.PutUint64(k[8:], rng.Uint64())
					if err := s.Add(k[:], k[:4]); err != nil {
						b.Fatal(err)
					}
				}
				it, err := s.Sort()
				if err != nil {
					b.Fatal(err)
				}
				c := 0
				for it.Next() {
					c++
				}
				if c != n || it.Err() != nil {
					b.Fatal(c, it.Err())
				}
				s.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/pair")
		})
	}
}
