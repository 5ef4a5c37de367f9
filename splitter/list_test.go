package splitter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

func listOf(bounds ...bson.RawValue) *List {
	l := &List{NS: "d.c", Key: "k", Documents: int64(len(bounds) + 1), Strategy: Walk, Types: []string{"int"}, Server: "mongodb://h", Created: time.Unix(1700000000, 0).UTC()}
	lo := bson.RawValue{}
	for _, hi := range append(bounds, bson.RawValue{}) {
		l.Pieces = append(l.Pieces, Piece{Range: Range{Key: "k", Lo: lo, Hi: hi}, Documents: 1})
		lo = hi
	}
	return l
}

// A list comes back from its file as it was, with bounds of every type; what JSON can not keep is refused.
func TestListRoundTrip(t *testing.T) {
	kept, refused := 0, 0
	for _, row := range ascending {
		for _, v := range row {
			if zero(v) || bracketOf(v) == array {
				continue
			}
			l := listOf(v)
			var text strings.Builder
			err := l.Write(&text)
			if err != nil {
				if !strings.Contains(err.Error(), "range 1: the bound") {
					t.Errorf("%s: %v", Text(v), err)
				}
				refused++
				continue
			}
			kept++
			got, err := ReadList(strings.NewReader(text.String()))
			if err != nil {
				t.Errorf("%s: %v\n%s", Text(v), err, text.String())
				continue
			}
			back := got.Pieces[0].Range.Hi
			if back.Type != v.Type || string(back.Value) != string(v.Value) || got.ID() != l.ID() {
				t.Errorf("%s came back as %s\n%s", Text(v), Text(back), text.String())
			}
			if !got.Created.Equal(l.Created) || got.NS != l.NS || got.Documents != l.Documents || got.Strategy != l.Strategy || fmt.Sprint(got.Types) != fmt.Sprint(l.Types) {
				t.Errorf("%+v, not %+v", got, l)
			}
		}
	}
	if kept < 40 || refused > 8 {
		t.Errorf("%d kept, %d refused", kept, refused)
	}
}

func TestListRefusals(t *testing.T) {
	n := func(i int) bson.RawValue { return raw(int32(i)) }
	change := func(f func(*List)) *List { l := listOf(n(1), n(5)); f(l); return l }
	for want, l := range map[string]*List{
		"names no collection":             change(func(l *List) { l.NS = "" }),
		"has no ranges":                   change(func(l *List) { l.Pieces = nil }),
		"there is a gap between them":     change(func(l *List) { l.Pieces[1].Range.Lo = n(2) }),
		"they overlap":                    change(func(l *List) { l.Pieces[1].Range.Lo = n(0) }),
		"range 1 begins at 0":             change(func(l *List) { l.Pieces[0].Range.Lo = n(0) }),
		"range 3, the last, ends at 9":    change(func(l *List) { l.Pieces[2].Range.Hi = n(9) }),
		"begins at the very beginning":    change(func(l *List) { l.Pieces[1].Range.Lo = bson.RawValue{} }),
		"ends at the very end":            change(func(l *List) { l.Pieces[1].Range.Hi = bson.RawValue{} }),
		"range 2 ends at 1, not above":    change(func(l *List) { l.Pieces[1].Range.Hi, l.Pieces[2].Range.Lo = n(1), n(1) }),
		"bounded by an array":             change(func(l *List) { l.Pieces[1].Range.Hi, l.Pieces[2].Range.Lo = raw(bson.A{1}), raw(bson.A{1}) }),
		"holds -1 documents":              change(func(l *List) { l.Pieces[1].Documents = -1 }),
		"is not of the field other alone": change(func(l *List) { l.Key = "other" }),
	} {
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if err := listOf(n(1), n(5)).Check(); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		``:                      "no list of ranges",
		`{"rows": []}`:          "no schema_version",
		`{"schema_version": 7}`: "schema_version is 7",
		`{"schema_version": 1, "ns": "d.c", "key": "k"}`:                                               "no ranges",
		`{"schema_version": 1, "ns": "d.c", "key": "k", "ranges": [{"to": {"$oid": 1}}, {"from": 3}]}`: "range 1 has a bound",
		`{"schema_version": 1, "ns": "d.c", "key": "k", "ranges": [{"to": 2}, {"from": 3}]}`:           "gap",
	} {
		if _, err := ReadList(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %s", text, err, want)
		}
	}
}

func TestProveRefusesOtherRanges(t *testing.T) {
	for _, ranges := range [][]Range{nil, {{Key: "x"}}, {{Key: "k", Then: []Field{{Key: "x"}}}}} {
		if _, err := Prove(context.Background(), Config{Key: "k"}, ranges, true); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", ranges, err)
		}
	}
}
