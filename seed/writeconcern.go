package seed

import (
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// concern is a write concern as it goes into a command.
type concern struct {
	text           string
	doc            bsoncore.Document // nil: the server's own default of {w: 1}
	unacknowledged bool
}

// parseConcern reads "1", "0", "majority", "j", "3", a tag of the replica set's
// configuration, and "j" joined to one of them by a comma.
func parseConcern(s string) (concern, error) {
	c := concern{text: s}
	if s == "" {
		c.text = "1"
	}
	journal := false
	w := ""
	for part := range strings.SplitSeq(c.text, ",") {
		part = strings.TrimSpace(part)
		switch {
		case part == "j":
			journal = true
		case part == "" || w != "":
			return c, fmt.Errorf("seed: write concern %q: use 0, 1, a number of members, majority, j, or one of them with ,j", s)
		default:
			w = part
		}
	}
	if w == "" {
		w = "1"
	}
	b := bsoncore.NewDocumentBuilder()
	if n, err := strconv.ParseInt(w, 10, 32); err == nil {
		if n < 0 {
			return c, fmt.Errorf("seed: write concern %q: the number of members must not be negative", s)
		}
		c.unacknowledged = n == 0
		b.AppendInt32("w", int32(n))
	} else {
		b.AppendString("w", w)
	}
	if journal {
		if c.unacknowledged {
			return c, fmt.Errorf("seed: write concern %q: 0 asks for no answer and j for one", s)
		}
		b.AppendBoolean("j", true)
	}
	c.doc = b.Build()
	return c, nil
}

// driver is the write concern of commands that the driver makes; nil for one that the server has anyway, and for none.
func (c concern) driver() *writeconcern.WriteConcern {
	if c.unacknowledged {
		return nil
	}
	raw := bson.Raw(c.doc)
	w := &writeconcern.WriteConcern{}
	switch v := raw.Lookup("w"); v.Type {
	case bson.TypeInt32:
		w.W = int(v.Int32())
	default:
		w.W = v.StringValue()
	}
	if j, ok := raw.Lookup("j").BooleanOK(); ok {
		w.Journal = &j
	}
	if w.W == 1 && w.Journal == nil {
		return nil
	}
	return w
}
