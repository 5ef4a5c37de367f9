package parity

import (
	"bytes"
	"fmt"
	"iter"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/splitter"
)

// Difference is a key that two answers disagree on. Values are Extended JSON, "" where an answer does not have the key.
type Difference struct{ Key, A, B string }

// Differences returns the first n keys, ascending, on which two answers differ. Both streams must be ascending by _id
// in the server's order.
func Differences(a, b iter.Seq2[bson.Raw, error], n int) ([]Difference, error) {
	left, right := follow(a), follow(b)
	defer left.stop()
	defer right.stop()
	if err := left.advance(); err != nil {
		return nil, err
	}
	if err := right.advance(); err != nil {
		return nil, err
	}
	var found []Difference
	for len(found) < n && (left.ok || right.ok) {
		order := 0
		switch {
		case !left.ok:
			order = 1
		case !right.ok:
			order = -1
		default:
			order = splitter.Compare(left.key, right.key)
		}
		switch {
		case order < 0:
			found = append(found, Difference{Key: show(left.key), A: show(left.value)})
		case order > 0:
			found = append(found, Difference{Key: show(right.key), B: show(right.value)})
		default:
			same, err := equal(left, right)
			if err != nil {
				return found, err
			}
			if !same {
				found = append(found, Difference{Key: show(left.key), A: show(left.value), B: show(right.value)})
			}
		}
		if order <= 0 {
			if err := left.advance(); err != nil {
				return found, err
			}
		}
		if order >= 0 {
			if err := right.advance(); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

func equal(a, b *stream) (bool, error) {
	x, err := appendCanonical(nil, a.value)
	if err != nil {
		return false, err
	}
	y, err := appendCanonical(nil, b.value)
	if err != nil {
		return false, err
	}
	return bytes.Equal(x, y), nil
}

// stream is an answer that is walked step by step.
type stream struct {
	next       func() (bson.Raw, error, bool)
	stop       func()
	ok         bool
	doc        bson.Raw
	key, value bson.RawValue
}

func follow(seq iter.Seq2[bson.Raw, error]) *stream {
	next, stop := iter.Pull2(seq)
	return &stream{next: next, stop: stop}
}

func (s *stream) advance() error {
	doc, err, ok := s.next()
	if !ok {
		s.ok = false
		return nil
	}
	if err != nil {
		return err
	}
	// The source may reuse its buffer.
	s.doc = append(s.doc[:0], doc...)
	s.ok = true
	s.key, s.value, err = pair(s.doc)
	return err
}

// show is a value as relaxed Extended JSON.
func show(v bson.RawValue) string {
	if v.Type == 0 {
		return "null"
	}
	b, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, false, false)
	if err != nil {
		return fmt.Sprintf("<%s>", v.Type)
	}
	return string(bytes.TrimSuffix(bytes.TrimPrefix(b, []byte(`{"v":`)), []byte(`}`)))
}
