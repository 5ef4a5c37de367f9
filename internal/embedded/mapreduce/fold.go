package mapreduce

import (
	"encoding/binary"
	"math"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/script"
)

// fold reduces the values of one key to one value: begin, add each, end. Values
// that do not fit one 16 MiB argument are reduced in parts; the parts' results are
// reduced after the remaining values, as a 4.0 server does it.
type fold struct {
	f      *functions
	key    script.Value
	budget int
	left   int
	n      int
	arena  []byte // of the values that were added since the last call
	parts  []bsonx.Value
	out    []byte
}

// begin starts a key. It must not alias anything that end's result aliases.
func (d *fold) begin(key bsonx.Value) {
	d.key = d.f.rt.ToJS(key)
	d.budget = maxDocument - (5 + 3 + len(key.Data))
	d.left, d.n, d.arena, d.parts = d.budget, 0, d.arena[:0], d.parts[:0]
	d.f.values.Reset()
}

// add takes the next value; v.Data may be reused afterwards.
func (d *fold) add(v bsonx.Value) error {
	size := 3 + len(v.Data)
	if size >= maxHalf {
		return mongoerr.New(13070, "value too large to reduce")
	}
	if size > d.left && d.n > 1 {
		part, err := d.flush()
		if err != nil {
			return err
		}
		d.parts = append(d.parts, part.Clone())
	}
	d.left -= size
	d.n++
	if v.Type == bsonx.TypeDouble {
		d.f.values.AddNumber(math.Float64frombits(binary.LittleEndian.Uint64(v.Data)))
		return nil
	}
	at := len(d.arena)
	d.arena = append(d.arena, v.Data...)
	d.f.values.AddRaw(bsonx.Value{Type: v.Type, Data: d.arena[at:len(d.arena):len(d.arena)]})
	return nil
}

// end gives the result, which is valid until the next begin.
func (d *fold) end() (bsonx.Value, error) {
	for len(d.parts) > 0 {
		next := d.parts[0]
		d.parts = d.parts[1:]
		if err := d.add(next); err != nil {
			return bsonx.Value{}, err
		}
	}
	return d.flush()
}

func (d *fold) flush() (bsonx.Value, error) {
	res, err := d.f.callReduce(d.key)
	if err != nil {
		return bsonx.Value{}, err
	}
	d.left, d.n, d.arena = d.budget, 0, d.arena[:0]
	v, out, err := reduced(d.f.rt, d.out[:0], res)
	d.out = out
	return v, err
}

// reduced turns what reduce returned into BSON. undefined is stored as null, an array is
// refused, and a bare NumberLong is stored as an empty document: a 4.0 server's
// fault, kept because its answers are what people compare with.
func reduced(rt *script.Runtime, buf []byte, res script.Value) (bsonx.Value, []byte, error) {
	v, buf, err := returned(rt, buf, res)
	if err != nil {
		return v, buf, err
	}
	switch v.Type {
	case bsonx.TypeArray:
		return bsonx.Value{}, buf, mongoerr.New(10075, "reduce -> multiple not supported yet")
	case bsonx.TypeInt64:
		return bsonx.DocValue(bsonx.Empty), buf, nil
	}
	return v, buf, nil
}

// returned turns a function's result into BSON; undefined becomes null.
func returned(rt *script.Runtime, buf []byte, res script.Value) (bsonx.Value, []byte, error) {
	t, buf, err := rt.AppendResult(buf, res)
	if err != nil {
		return bsonx.Value{}, buf, err
	}
	if t == bsonx.TypeUndefined {
		return bsonx.Null(), buf, nil
	}
	return bsonx.Value{Type: t, Data: buf}, buf, nil
}
