package expr

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/script"
)

// state is what one goroutine needs to evaluate a tree.
type state struct {
	root    bsonx.Doc
	vars    []bsonx.Value
	stack   []bsonx.Value // arguments of calls under way
	buf     []byte        // arena; results of operators live here until the next Eval
	spare   [][]byte      // buffers of documents under construction
	finders []*bsonx.Finder
	zones   map[string]*time.Location
	regexes map[string]matcher
	rng     *rand.Rand
	js      *script.Runtime
	funcs   map[int]*script.Func
}

const firstArena = 256

func (st *state) reset(root bsonx.Doc) {
	st.root = root
	st.buf = st.buf[:0]
	st.stack = st.stack[:0]
}

// alloc gives n bytes that stay put until the next reset: a full chunk is
// left to whoever still points into it, and a larger one is started.
func (st *state) alloc(n int) []byte {
	o := len(st.buf)
	if cap(st.buf)-o < n {
		st.buf = make([]byte, 0, max(2*cap(st.buf), n, firstArena))
		o = 0
	}
	st.buf = st.buf[:o+n]
	return st.buf[o : o+n : o+n]
}

func (st *state) i32(n int32) bsonx.Value {
	b := st.alloc(4)
	binary.LittleEndian.PutUint32(b, uint32(n))
	return bsonx.Value{Type: tInt32, Data: b}
}

func (st *state) u64(t bsonx.Type, n uint64) bsonx.Value {
	b := st.alloc(8)
	binary.LittleEndian.PutUint64(b, n)
	return bsonx.Value{Type: t, Data: b}
}

func (st *state) i64(n int64) bsonx.Value   { return st.u64(tInt64, uint64(n)) }
func (st *state) date(ms int64) bsonx.Value { return st.u64(tDate, uint64(ms)) }
func (st *state) f64(f float64) bsonx.Value { return st.u64(tDouble, math.Float64bits(f)) }

// intOrLong is the narrowest of int32 and int64.
func (st *state) intOrLong(n int64) bsonx.Value {
	if n == int64(int32(n)) {
		return st.i32(int32(n))
	}
	return st.i64(n)
}

func (st *state) str(s string) bsonx.Value {
	b := st.alloc(len(s) + 5)
	binary.LittleEndian.PutUint32(b, uint32(len(s)+1))
	copy(b[4:], s)
	b[len(b)-1] = 0
	return bsonx.Value{Type: tString, Data: b}
}

func (st *state) strBytes(s []byte) bsonx.Value {
	b := st.alloc(len(s) + 5)
	binary.LittleEndian.PutUint32(b, uint32(len(s)+1))
	copy(b[4:], s)
	b[len(b)-1] = 0
	return bsonx.Value{Type: tString, Data: b}
}

// keep copies bytes that were built elsewhere into the arena.
func (st *state) keep(t bsonx.Type, b []byte) bsonx.Value {
	c := st.alloc(len(b))
	copy(c, b)
	return bsonx.Value{Type: t, Data: c}
}

// random is made on first use; each Expr has its own sequence.
func (st *state) random() float64 {
	if st.rng == nil {
		st.rng = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return st.rng.Float64()
}
