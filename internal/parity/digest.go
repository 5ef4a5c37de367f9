package parity

import (
	"fmt"

	"github.com/zeebo/xxh3"
	"go.mongodb.org/mongo-driver/bson"
)

// Digest gathers what identifies an answer. The zero value is the digest of an empty answer. It is not safe for
// concurrent use: give each part its own and Merge them.
type Digest struct {
	keys   int64
	hi, lo uint64 // sum of 128-bit hashes
	sum    sum
	buf    []byte
}

// Answer is what a digest comes to. Equal answers have equal Answers.
type Answer struct {
	Keys   int64
	Sum    string // of all numeric values, exact when they are whole numbers
	Digest string // 32 hexadecimal digits
}

// Add takes one document {_id, value}. It keeps nothing of it.
func (d *Digest) Add(doc bson.Raw) error {
	key, value, err := pair(doc)
	if err != nil {
		return err
	}
	b, err := appendCanonical(d.buf[:0], key)
	if err == nil {
		b, err = appendCanonical(append(b, tagEnd), value)
	}
	if err != nil {
		return fmt.Errorf("answer for key %s: %w", show(key), err)
	}
	d.buf = b
	h := xxh3.Hash128(b)
	// A sum, unlike exclusive or, does not lose a key that comes twice.
	old := d.lo
	d.lo += h.Lo
	d.hi += h.Hi
	if d.lo < old {
		d.hi++
	}
	d.keys++
	if n, ok := numberOf(value); ok {
		d.sum.add(n)
	}
	return nil
}

// Merge adds what o gathered.
func (d *Digest) Merge(o *Digest) {
	old := d.lo
	d.lo += o.lo
	d.hi += o.hi
	if d.lo < old {
		d.hi++
	}
	d.keys += o.keys
	d.sum.merge(&o.sum)
}

// Answer returns the result so far.
func (d *Digest) Answer() Answer {
	return Answer{Keys: d.keys, Sum: d.sum.String(), Digest: fmt.Sprintf("%016x%016x", d.hi, d.lo)}
}

// pair takes {_id, value} apart. A missing value is null.
func pair(doc bson.Raw) (key, value bson.RawValue, err error) {
	value.Type = bson.TypeNull
	found := false
	err = fields(doc, func(name []byte, v bson.RawValue) error {
		switch string(name) {
		case "_id":
			key, found = v, true
		case "value":
			value = v
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("answer without _id: %s", doc)
	}
	return key, value, err
}
