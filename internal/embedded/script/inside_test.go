package script

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// Calls inside behave like calls of their own: what a promise holds back comes before the next call.
func TestInsideKeepsOrder(t *testing.T) {
	r := New()
	var got []int64
	r.SetNative("note", func(args []Value) (Value, error) {
		got = append(got, args[0].ToInteger())
		return nil, nil
	})
	f, err := r.Function("map", "function (n) { Promise.resolve().then(function () { note(n + 1); (async () => { await 0; note(n + 2); })(); }); note(n); }")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := r.Inside(func() (bool, error) {
		n += 10
		_, err := r.Invoke(f, r.Undefined(), r.Number(float64(n)))
		return n < 30, err
	}); err != nil {
		t.Fatal(err)
	}
	if want := []int64{10, 11, 12, 20, 21, 22, 30, 31, 32}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestInsideErrors(t *testing.T) {
	r := New()
	call := func(src string) error {
		f, err := r.Function("map", src)
		if err != nil {
			t.Fatal(err)
		}
		return r.Inside(func() (bool, error) {
			_, err := r.Invoke(f, r.Undefined())
			return true, err
		})
	}
	own := errors.New("of the step")
	if err := r.Inside(func() (bool, error) { return true, own }); !errors.Is(err, own) {
		t.Errorf("got %v", err)
	}
	const thrown = "uncaught exception: 7 :\nmap@:1:15\n"
	if err := call("function () { throw 7; }"); err == nil || err.Error() != thrown {
		t.Errorf("got %q, want %q", err, thrown)
	}
	if err := call("function f() { f(); }"); mongoerr.CodeOf(err) != mongoerr.JSInterpreterFailure {
		t.Errorf("recursion: %v", err)
	}
	for _, src := range []string{
		"function () { for (;;) {} }",
		"function () { function again() { Promise.resolve().then(again); } again(); }",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		stop := r.Watch(ctx)
		if err := call(src); mongoerr.CodeOf(err) != mongoerr.MaxTimeMSExpired {
			t.Errorf("%s: %v", src, err)
		}
		stop()
		cancel()
	}
	f, err := r.Function("map", "function () { return 1; }")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := r.Call(f, bsonx.Value{}); err != nil || text(t, v) != `{"$numberDouble":"1.0"}` {
		t.Errorf("the runtime is of no use afterwards: %v %v", v, err)
	}
}
