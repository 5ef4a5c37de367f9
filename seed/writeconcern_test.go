package seed

import (
	"fmt"
	"testing"
)

func TestParseConcern(t *testing.T) {
	tests := []struct {
		in, doc, text  string
		unacknowledged bool
		bad            bool
	}{
		{in: "", doc: `{"w": {"$numberInt":"1"}}`, text: "1"},
		{in: "1", doc: `{"w": {"$numberInt":"1"}}`, text: "1"},
		{in: "0", doc: `{"w": {"$numberInt":"0"}}`, text: "0", unacknowledged: true},
		{in: "3", doc: `{"w": {"$numberInt":"3"}}`, text: "3"},
		{in: "j", doc: `{"w": {"$numberInt":"1"},"j": true}`, text: "j"},
		{in: "majority", doc: `{"w": "majority"}`, text: "majority"},
		{in: "majority, j", doc: `{"w": "majority","j": true}`, text: "majority, j"},
		{in: "j,2", doc: `{"w": {"$numberInt":"2"},"j": true}`, text: "j,2"},
		{in: "tag", doc: `{"w": "tag"}`, text: "tag"},
		{in: "0,j", bad: true},
		{in: "1,2", bad: true},
		{in: "-1", bad: true},
		{in: ",", bad: true},
	}
	for _, tt := range tests {
		c, err := parseConcern(tt.in)
		if (err != nil) != tt.bad {
			t.Errorf("%q: %v", tt.in, err)
		}
		if tt.bad {
			continue
		}
		if c.doc.String() != tt.doc || c.text != tt.text || c.unacknowledged != tt.unacknowledged {
			t.Errorf("%q: got %s %q %v", tt.in, c.doc, c.text, c.unacknowledged)
		}
	}
}

// The index waits for as many members as the documents do.
func TestConcernOfTheDriver(t *testing.T) {
	for in, want := range map[string]string{"": "<nil>", "1": "<nil>", "0": "<nil>", "3": "3 <nil>", "j": "1 true", "majority,j": "majority true"} {
		c, err := parseConcern(in)
		if err != nil {
			t.Fatal(err)
		}
		got := "<nil>"
		if w := c.driver(); w != nil {
			got = fmt.Sprint(w.W, " ", "<nil>")
			if w.Journal != nil {
				got = fmt.Sprint(w.W, " ", *w.Journal)
			}
		}
		if got != want {
			t.Errorf("%q: %s, not %s", in, got, want)
		}
	}
}
