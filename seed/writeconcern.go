package seed

import (
	"fmt"
	"strconv"
	"strings"

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
