package mapreduce

import (
	"mrbench/internal/embedded/script"
)

// Limits of a 4.0 server, bytes.
const (
	maxDocument    = 16 * 1024 * 1024
	maxHalf        = maxDocument / 2
	maxInlineBytes = maxDocument - 0x4000
)

// functions are the job's compiled functions and what calling them needs.
type functions struct {
	rt       *script.Runtime
	mapper   *script.Func
	reducer  *script.Func
	finalize *script.Func // nil if none
	values   *script.Values
	fresh    bool // reduce may keep its values: give it arrays of its own
	reduces  int64
}

func compile(rt *script.Runtime, c *config) (*functions, error) {
	f := &functions{rt: rt, values: rt.NewValues()}
	for _, s := range []struct {
		name string
		src  *source
		to   **script.Func
	}{{"map", &c.mapper, &f.mapper}, {"reduce", &c.reducer, &f.reducer}, {"finalize", c.finalize, &f.finalize}} {
		if s.src == nil {
			continue
		}
		for it := s.src.scope.Iter(); len(s.src.scope) > 0 && it.Next(); {
			if err := rt.SetGlobal(string(it.Name()), it.Value()); err != nil {
				return nil, err
			}
		}
		fn, err := rt.Function(s.name, s.src.text)
		if err != nil {
			return nil, err
		}
		*s.to = fn
	}
	f.fresh = f.reducer.Uses.Escapes(1)
	return f, nil
}

// callReduce calls reduce with the values collected in f.values and empties them.
func (f *functions) callReduce(key script.Value) (script.Value, error) {
	arg := f.values.Object()
	if f.fresh {
		arg = f.values.Array()
	}
	res, err := f.rt.Invoke(f.reducer, f.rt.Undefined(), key, arg)
	f.values.Reset()
	f.reduces++
	return res, err
}

// callFinalize calls finalize, if there is one, else gives value back.
func (f *functions) callFinalize(key, value script.Value) (script.Value, error) {
	if f.finalize == nil {
		return value, nil
	}
	return f.rt.Invoke(f.finalize, f.rt.Undefined(), key, value)
}
