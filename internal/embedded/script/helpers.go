package script

import (
	"crypto/md5"
	_ "embed"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/libm"
)

//go:embed prelude.js
var preludeSource string

// defineHelpers defines what remains of the shell's helpers: the small ones in
// JavaScript (prelude.js), those that need Go here.
func (r *Runtime) defineHelpers() {
	global := r.vm.GlobalObject()
	nothing := func(goja.FunctionCall) goja.Value { return r.undefined }
	for _, name := range []string{"print", "printjson", "printjsononeline", "gc"} {
		r.native(global, name, nothing)
	}
	r.native(global, "hex_md5", func(call goja.FunctionCall) goja.Value {
		sum := md5.Sum([]byte(call.Argument(0).String()))
		return r.vm.ToValue(hex.EncodeToString(sum[:]))
	})
	r.native(global, "sleep", func(call goja.FunctionCall) goja.Value {
		ms := min(max(call.Argument(0).ToInteger(), 0), int64(math.MaxInt32))
		timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.watch.ctx.Done():
			r.vm.Interrupt(Interruption(r.watch.ctx))
		}
		return r.undefined
	})
	r.native(global, "ISODate", func(call goja.FunctionCall) goja.Value {
		if goja.IsUndefined(call.Argument(0)) {
			return r.newDate(time.Now().UnixMilli())
		}
		t, ok := parseISODate(call.Argument(0).String())
		if !ok {
			r.throw("Error", "invalid ISO date: %s", call.Argument(0).String())
		}
		return r.newDate(t.UnixMilli())
	})
	r.native(global, "bsonWoCompare", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(r.compare(call.Argument(0), call.Argument(1)))
	})
	r.native(global, "bsonBinaryEqual", func(call goja.FunctionCall) goja.Value {
		ta, a := r.appendValue(nil, call.Argument(0), 0)
		tb, b := r.appendValue(nil, call.Argument(1), 0)
		return r.vm.ToValue(ta == tb && string(a) == string(b))
	})
	r.native(global, "_rand", func(goja.FunctionCall) goja.Value { return r.vm.ToValue(rand.Float64()) })
	_, err := r.vm.RunProgram(prelude())
	must(err)
}

// prelude is compiled once; a program may run in many runtimes.
var prelude = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile(preludeName, preludeSource, false)
})

// parseISODate reads the forms that the shell's ISODate takes: a date, with or without time, seconds, fraction and zone.
func parseISODate(s string) (time.Time, bool) {
	s = strings.Replace(strings.TrimSpace(s), " ", "T", 1)
	for _, layout := range []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02T15Z07:00", "2006-01-02T15", "2006-01-02",
		"20060102T150405Z07:00", "20060102T150405", "20060102",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// defineMath gives Math.exp, log, log10 and pow the digits that a MongoDB server gives them. A whole exponent stays
// with the engine's own repeated multiplication, which the server's JavaScript uses as well.
func (r *Runtime) defineMath() {
	obj := r.vm.GlobalObject().Get("Math").ToObject(r.vm)
	for name, f := range map[string]func(float64) float64{"exp": libm.Exp, "log": libm.Log, "log10": libm.Log10} {
		r.native(obj, name, func(call goja.FunctionCall) goja.Value {
			return r.vm.ToValue(f(call.Argument(0).ToFloat()))
		})
	}
	plain, ok := goja.AssertFunction(obj.Get("pow"))
	if !ok {
		panic("Math.pow is no function")
	}
	r.native(obj, "pow", func(call goja.FunctionCall) goja.Value {
		x, y := call.Argument(0).ToFloat(), call.Argument(1).ToFloat()
		switch {
		case math.IsNaN(y) || y == math.Trunc(y):
			v, err := plain(obj, r.vm.ToValue(x), r.vm.ToValue(y))
			must(err)
			return v
		case y == 0.5 && x != 0 && !math.IsInf(x, 0):
			return r.vm.ToValue(math.Sqrt(x))
		}
		return r.vm.ToValue(libm.Pow(x, y))
	})
}
