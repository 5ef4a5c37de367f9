package splitter

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// ListVersion is the version of the format of a saved list. It grows when the meaning of a field changes or a field goes.
const ListVersion = 1

// List is the pieces of a collection as a file keeps them, so that several machines work on the same ranges.
type List struct {
	NS, Key   string
	Documents int64 // of the collection; the pieces held as many
	Strategy  string
	Types     []string // of the key
	Server    string   // where it was proved, without credentials
	Created   time.Time
	Pieces    []Piece
}

// listFile is the JSON of a List. Bounds are values in canonical Extended JSON; an open end has none.
type listFile struct {
	SchemaVersion int         `json:"schema_version"`
	ID            string      `json:"id"`
	NS            string      `json:"ns"`
	Key           string      `json:"key"`
	Documents     int64       `json:"documents"`
	Strategy      string      `json:"strategy"`
	Types         []string    `json:"types"`
	Server        string      `json:"server"`
	Created       time.Time   `json:"created"`
	Ranges        []listRange `json:"ranges,omitempty"`
}

type listRange struct {
	From      json.RawMessage `json:"from,omitempty"`
	To        json.RawMessage `json:"to,omitempty"`
	Documents int64           `json:"documents"`
}

// Ranges are the pieces' ranges, in order.
func (l *List) Ranges() []Range {
	out := make([]Range, len(l.Pieces))
	for i, p := range l.Pieces {
		out[i] = p.Range
	}
	return out
}

// ID tells lists apart: it is of the namespace, the key and the bounds, 16 hexadecimal digits.
func (l *List) ID() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", l.NS, l.Key)
	for _, p := range l.Pieces {
		for _, v := range []bson.RawValue{p.Range.Lo, p.Range.Hi} {
			fmt.Fprintf(h, " %d:%x", v.Type, v.Value)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// Check says what is wrong with the list: nothing named, a gap, an overlap, or ends that are not open.
func (l *List) Check() error {
	switch {
	case l.NS == "" || l.Key == "":
		return errors.New("it names no collection or no key")
	case len(l.Pieces) == 0:
		return errors.New("it has no ranges")
	}
	last := len(l.Pieces) - 1
	for i, p := range l.Pieces {
		lo, hi := p.Range.Lo, p.Range.Hi
		switch {
		case p.Range.Key != l.Key || len(p.Range.Then) > 0:
			return fmt.Errorf("range %d is not of the field %s alone", i+1, l.Key)
		case p.Documents < 0:
			return fmt.Errorf("range %d holds %d documents", i+1, p.Documents)
		case bracketOf(lo) == array || bracketOf(hi) == array:
			return fmt.Errorf("range %d is bounded by an array, which no single value of a field is", i+1)
		case i == 0 && !zero(lo):
			return fmt.Errorf("range 1 begins at %s: what lies before is in no range", p.Range.From())
		case i == last && !zero(hi):
			return fmt.Errorf("range %d, the last, ends at %s: what lies behind is in no range", i+1, p.Range.To())
		case i > 0 && zero(lo):
			return fmt.Errorf("range %d begins at the very beginning: it overlaps range %d", i+1, i)
		case i < last && zero(hi):
			return fmt.Errorf("range %d ends at the very end: it overlaps range %d", i+1, i+2)
		case !zero(lo) && !zero(hi) && Compare(lo, hi) >= 0:
			return fmt.Errorf("range %d ends at %s, not above its beginning %s", i+1, p.Range.To(), p.Range.From())
		}
		if i == 0 {
			continue
		}
		switch c := Compare(l.Pieces[i-1].Range.Hi, lo); {
		case c < 0:
			return fmt.Errorf("range %d ends at %s and range %d begins at %s: there is a gap between them", i, l.Pieces[i-1].Range.To(), i+1, p.Range.From())
		case c > 0:
			return fmt.Errorf("range %d ends at %s and range %d begins at %s: they overlap", i, l.Pieces[i-1].Range.To(), i+1, p.Range.From())
		}
	}
	return nil
}

// Write writes the list's file: JSON, with each range on a line of its own.
func (l *List) Write(w io.Writer) error {
	head, err := json.Marshal(listFile{
		SchemaVersion: ListVersion, ID: l.ID(), NS: l.NS, Key: l.Key, Documents: l.Documents, Strategy: l.Strategy, Types: l.Types,
		Server: l.Server, Created: l.Created,
	})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("}")))
	b.WriteString(",\n\"ranges\":[")
	for i, p := range l.Pieces {
		r := listRange{Documents: p.Documents}
		if r.From, err = boundJSON(p.Range.Lo); err == nil {
			r.To, err = boundJSON(p.Range.Hi)
		}
		if err != nil {
			return fmt.Errorf("range %d: %w", i+1, err)
		}
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("range %d: %w", i+1, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n")
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	_, err = w.Write(b.Bytes())
	return err
}

// boundJSON is nil for an open end. What Extended JSON can not keep, such as a text that is not UTF-8, is an error.
func boundJSON(v bson.RawValue) (json.RawMessage, error) {
	if zero(v) {
		return nil, nil
	}
	text, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, true, false)
	if err != nil {
		return nil, fmt.Errorf("the bound %s: %w", Text(v), err)
	}
	var d struct{ V json.RawMessage }
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("the bound %s: %w", Text(v), err)
	}
	back, err := boundOf(d.V)
	if err != nil || back.Type != v.Type || string(back.Value) != string(v.Value) {
		return nil, fmt.Errorf("the bound %s can't be kept as Extended JSON: cut by another field, or into another number of ranges", Text(v))
	}
	return d.V, nil
}

func boundOf(text json.RawMessage) (bson.RawValue, error) {
	if text == nil {
		return bson.RawValue{}, nil
	}
	var d bson.Raw
	if err := bson.UnmarshalExtJSON(append(append([]byte(`{"v":`), text...), '}'), true, &d); err != nil {
		return bson.RawValue{}, err
	}
	return clone(d.Lookup("v")), nil
}

// ReadList reads what Write gives, and checks it.
func ReadList(from io.Reader) (*List, error) {
	var f listFile
	if err := json.NewDecoder(from).Decode(&f); err != nil {
		return nil, fmt.Errorf("it is no list of ranges: %w", err)
	}
	switch {
	case f.SchemaVersion == 0:
		return nil, errors.New("it is no list of ranges: it has no schema_version")
	case f.SchemaVersion != ListVersion:
		return nil, fmt.Errorf("its schema_version is %d, and this program knows %d: use the version that wrote it", f.SchemaVersion, ListVersion)
	}
	l := &List{NS: f.NS, Key: f.Key, Documents: f.Documents, Strategy: f.Strategy, Types: f.Types, Server: f.Server, Created: f.Created}
	for i, r := range f.Ranges {
		p := Piece{Range: Range{Key: f.Key}, Documents: r.Documents}
		var err error
		if p.Range.Lo, err = boundOf(r.From); err == nil {
			p.Range.Hi, err = boundOf(r.To)
		}
		if err != nil {
			return nil, fmt.Errorf("range %d has a bound that is no Extended JSON value: %w", i+1, err)
		}
		l.Pieces = append(l.Pieces, p)
	}
	return l, l.Check()
}
