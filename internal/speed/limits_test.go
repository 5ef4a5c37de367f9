package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/seed"
)

// These benchmarks do what a row does, on the same documents, as a plain program would that knows the data: no server, no protocol, no
// transactions, everything in memory but for what has to be on disk afterwards, one thread. They are the limit that
// docs/performance.md compares with.

var documents = flag.Int64("docs", 2_000_000, "documents of the benchmarks; a tenth as many keys")

func generator() seed.Generator { return seed.Uniques(1, "dim0", *documents, *documents/10) }

// corpus is the documents that seed makes, one behind the other.
func corpus(b *testing.B) []byte {
	b.Helper()
	g := generator()
	var raw []byte
	for i := range *documents {
		raw = g.Append(raw, i)
	}
	b.ResetTimer()
	return raw
}

// dim0 reads the field from a document that begins at raw, and returns the document's length.
func dim0(raw []byte) (key int64, n int) {
	n = int(binary.LittleEndian.Uint32(raw))
	v := bsoncore.Document(raw[:n]).Lookup("dim0")
	key, _ = v.AsInt64OK()
	return key, n
}

func perDoc(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(*documents), "ns/doc")
}

func create(b *testing.B, name string) (*bufio.Writer, func()) {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), name))
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return w, func() {
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// answer writes a result as the rows give it.
func answer(dst []byte, key int64, n int64) []byte {
	i, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsoncore.AppendInt64Element(dst, "_id", key)
	dst = bsoncore.AppendInt64Element(dst, "value", n)
	dst, _ = bsoncore.AppendDocumentEnd(dst, i)
	return dst
}

// BenchmarkLimitLoad makes the documents and writes them twice: to a log and to a table.
func BenchmarkLimitLoad(b *testing.B) {
	g := generator()
	for range b.N {
		log, closeLog := create(b, "log")
		table, closeTable := create(b, "table")
		var doc []byte
		for i := range *documents {
			doc = g.Append(doc[:0], i)
			log.Write(doc)
			table.Write(doc)
		}
		closeLog()
		closeTable()
	}
	perDoc(b)
}

// BenchmarkLimitIndex sorts (key, number of the document) and writes them.
func BenchmarkLimitIndex(b *testing.B) {
	raw := corpus(b)
	for range b.N {
		entries := make([]uint64, 0, *documents)
		for at := 0; at < len(raw); {
			key, n := dim0(raw[at:])
			entries = append(entries, uint64(key)<<32|uint64(len(entries)))
			at += n
		}
		slices.Sort(entries)
		w, closeFile := create(b, "index")
		var e [8]byte
		for _, x := range entries {
			binary.BigEndian.PutUint64(e[:], x)
			w.Write(e[:])
		}
		closeFile()
	}
	perDoc(b)
}

// BenchmarkLimitGroup counts by a hash table.
func BenchmarkLimitGroup(b *testing.B) {
	raw := corpus(b)
	for range b.N {
		counts := make(map[int64]int64)
		for at := 0; at < len(raw); {
			key, n := dim0(raw[at:])
			counts[key]++
			at += n
		}
		var out []byte
		for key, n := range counts {
			out = answer(out, key, n)
		}
	}
	perDoc(b)
}

// BenchmarkLimitCovered counts the equal keys of an index that is in memory.
func BenchmarkLimitCovered(b *testing.B) {
	raw := corpus(b)
	keys := make([]int64, 0, *documents)
	for at := 0; at < len(raw); {
		key, n := dim0(raw[at:])
		keys = append(keys, key)
		at += n
	}
	slices.Sort(keys)
	b.ResetTimer()
	for range b.N {
		var out []byte
		run := 0
		for i, key := range keys {
			if key != keys[run] {
				out = answer(out, keys[run], int64(i-run))
				run = i
			}
		}
		_ = answer(out, keys[run], int64(len(keys)-run))
	}
	perDoc(b)
}

type emit struct {
	key   int64
	value goja.Value
}

// BenchmarkLimitMapReduce calls map for each document and reduce for each key, in the interpreter that the engine uses, with the least around it.
func BenchmarkLimitMapReduce(b *testing.B) {
	raw := corpus(b)
	for range b.N {
		vm := goja.New()
		var emits []emit
		must(b, vm.Set("emit", func(c goja.FunctionCall) goja.Value {
			emits = append(emits, emit{c.Argument(0).ToInteger(), c.Argument(1)})
			return goja.Undefined()
		}))
		mapFn := function(b, vm, "(function () { emit(this.dim0, 1); })")
		reduce := function(b, vm, "(function (key, values) { var s = 0; for (var i = 0; i < values.length; i++) s += values[i]; return s; })")
		this := vm.NewObject()
		for at := 0; at < len(raw); {
			key, n := dim0(raw[at:])
			must(b, this.Set("dim0", key))
			if _, err := mapFn(this); err != nil {
				b.Fatal(err)
			}
			at += n
		}
		slices.SortFunc(emits, func(a, b emit) int { return cmp.Compare(a.key, b.key) })
		var out []byte
		var list []any
		for from, to := 0, 0; from < len(emits); from = to {
			list = list[:0]
			for to = from; to < len(emits) && emits[to].key == emits[from].key; to++ {
				list = append(list, emits[to].value)
			}
			sum, err := reduce(goja.Undefined(), vm.ToValue(emits[from].key), vm.NewArray(list...))
			must(b, err)
			out = answer(out, emits[from].key, sum.ToInteger())
		}
	}
	perDoc(b)
}

func function(b *testing.B, vm *goja.Runtime, source string) goja.Callable {
	b.Helper()
	v, err := vm.RunString(source)
	must(b, err)
	f, ok := goja.AssertFunction(v)
	if !ok {
		b.Fatal("not a function")
	}
	return f
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
