package seed

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"pgregory.net/rapid"
)

// padded makes documents of a size that depends on the index.
type padded struct{ sizes []int }

func (padded) Name() string { return "padded" }

func (p padded) Append(dst []byte, i int64) []byte {
	d, err := bson.Marshal(bson.D{{Key: "i", Value: i}, {Key: "pad", Value: make([]byte, p.sizes[int(i)%len(p.sizes)])}})
	if err != nil {
		panic(err)
	}
	return append(dst, d...)
}

// nowhere is a network without servers.
type nowhere struct{}

func (nowhere) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no network")
}

// testCollection has names and no connection.
func testCollection(t testing.TB) *mongo.Collection {
	t.Helper()
	c, err := mongo.Connect(t.Context(), options.Client().SetDialer(nowhere{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.WithoutCancel(t.Context())) })
	return c.Database("test").Collection("uniques")
}

// A batch never exceeds the limits in count or bytes, unless one document alone
// does, and its documents are those asked for.
func TestBatchesKeepTheLimits(t *testing.T) {
	coll := testCollection(t)
	rapid.Check(t, func(t *rapid.T) {
		g := padded{rapid.SliceOfN(rapid.IntRange(0, 300), 1, 20).Draw(t, "sizes")}
		lim := limits{bytes: rapid.IntRange(1, 2000).Draw(t, "bytes")}
		batch := rapid.IntRange(1, 20).Draw(t, "batch")
		wc, err := parseConcern("1")
		if err != nil {
			t.Fatal(err)
		}
		s := newSender(Config{Collection: coll, Generator: g, Batch: batch}, wc, lim)
		want := int64(0)
		check := func() {
			s.buf = append(s.buf, 0, 0)
			binary.LittleEndian.PutUint32(s.buf[s.head:], uint32(len(s.buf)-1-s.head))
			binary.LittleEndian.PutUint32(s.buf, uint32(len(s.buf)))
			cmd := bson.Raw(s.buf)
			if err := cmd.Validate(); err != nil {
				t.Fatal(err)
			}
			docs, err := cmd.Lookup("documents").Array().Values()
			if err != nil {
				t.Fatal(err)
			}
			size := int64(0)
			for _, d := range docs {
				if got := d.Document().Lookup("i").Int64(); got != want {
					t.Fatalf("document %d is in %d's place", got, want)
				}
				size += int64(len(d.Value))
				want++
			}
			if len(docs) != s.n || len(docs) > batch || size != s.bytes || (len(docs) > 1 && size > int64(lim.bytes)) {
				t.Fatalf("%d documents of %d bytes; limits %d and %d", len(docs), size, batch, lim.bytes)
			}
			s.n, s.bytes = 0, 0
		}
		for i := range int64(60) {
			if !s.add(i) {
				check()
				if !s.add(i) {
					t.Fatal("an empty batch is full")
				}
			}
		}
		check()
		if want != 60 {
			t.Fatalf("%d documents", want)
		}
	})
}

func TestWhatAFailedBatchMeans(t *testing.T) {
	coll := testCollection(t)
	writeErrors := func(at ...int) mongo.WriteException {
		var e mongo.WriteException
		for _, i := range at {
			e.WriteErrors = append(e.WriteErrors, mongo.WriteError{Index: i, Code: 11000, Message: "dup"})
		}
		return e
	}
	unmet := mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 100, Message: "not enough"}}
	tests := []struct {
		name    string
		ordered bool
		err     error
		docs    int64
		want    string
	}{
		{"ordered", true, writeErrors(3), 3, "seed: test.uniques: document 103 was refused (code 11000, 1 in its batch): dup"},
		{"unordered", false, writeErrors(3, 4), 8, "seed: test.uniques: document 103 was refused (code 11000, 2 in its batch): dup"},
		{"write concern", false, unmet, 10, `seed: test.uniques: documents 100 to 109 were written, but write concern "3" was not met (code 100): not enough: ask for one that this server can give`},
		{"command", false, mongo.CommandError{Code: 13, Message: "no", Name: "Unauthorized"}, 0, "seed: test.uniques: insert of documents 100 to 109: (Unauthorized) no"},
		{
			"bulk", true,
			mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: mongo.WriteError{Index: 1, Code: 2, Message: "bad"}}}},
			1,
			"seed: test.uniques: document 101 was refused (code 2, 1 in its batch): bad",
		},
	}
	wc, err := parseConcern("3")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSender(Config{Collection: coll, Generator: padded{[]int{1}}, Batch: 10, Ordered: tt.ordered}, wc, limits{bytes: 1000})
			for i := int64(100); s.add(i); i++ {
			}
			var o outcome
			_, err := s.sort(t.Context(), &o, tt.err, nil, false)
			docs := o.docs
			if docs != tt.docs || err.Error() != tt.want {
				t.Errorf("got %d, %v", docs, err)
			}
		})
	}
}

func BenchmarkBatch(b *testing.B) {
	wc, err := parseConcern("1")
	if err != nil {
		b.Fatal(err)
	}
	s := newSender(Config{Collection: testCollection(b), Generator: Uniques(1, "dim0", 1_000_000, 0), Batch: 1000}, wc, limits{bytes: 16 << 20})
	b.ReportAllocs()
	i := int64(0)
	for b.Loop() {
		if !s.add(i) {
			s.n, s.bytes = 0, 0
			s.add(i)
		}
		i++
	}
}
