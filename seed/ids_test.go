package seed

import (
	"bytes"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"pgregory.net/rapid"
)

// A document without an _id gets one in front and keeps the rest; one with an _id, wherever it
// stands, stays as it is. _ids ascend with the place.
func TestMadeIDs(t *testing.T) {
	m := newIDMaker(time.Unix(1_700_000_000, 0), 77)
	rapid.Check(t, func(t *rapid.T) {
		d := bson.D{}
		n := rapid.IntRange(0, 5).Draw(t, "fields")
		own := rapid.IntRange(-1, n).Draw(t, "own")
		for i := range n + 1 {
			if i == own {
				d = append(d, bson.E{Key: "_id", Value: rapid.Int32().Draw(t, "id")})
			}
			if i < n {
				d = append(d, bson.E{Key: rapid.SampledFrom([]string{"", "a", "_i", "_id2"}).Draw(t, "key"), Value: bson.D{{Key: "_id", Value: "x"}}})
			}
		}
		raw, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		place := rapid.Int64Range(0, 1<<44).Draw(t, "place")
		got := bson.Raw(m.ensure(append([]byte("before"), raw...), 6, place)[6:])
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
		if own >= 0 {
			if !bytes.Equal(got, raw) {
				t.Fatalf("%s became %s", bson.Raw(raw), got)
			}
			return
		}
		id, ok := got.Index(0).Value().ObjectIDOK()
		if !ok || got.Index(0).Key() != "_id" || !bytes.Equal(got[4+idElement:], raw[4:]) {
			t.Fatalf("%s became %s", bson.Raw(raw), got)
		}
		other := bson.Raw(m.ensure(bytes.Clone(raw), 0, place+1+rapid.Int64Range(0, 1<<40).Draw(t, "step"))).Index(0).Value().ObjectID()
		if bytes.Compare(id[:], other[:]) >= 0 {
			t.Fatalf("%s is not below %s", id, other)
		}
	})
}
