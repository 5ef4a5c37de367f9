package mr

import (
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/splitter"
)

func doc(t testing.TB, text string) bson.Raw {
	t.Helper()
	var d bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := bson.MarshalExtJSON(v, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCommand(t *testing.T) {
	full := Job{
		Map: "M", Reduce: "R", Finalize: "F", Limit: 5,
		Query: bson.D{{Key: "a", Value: int32(1)}}, Sort: bson.D{{Key: "b", Value: int32(1)}}, Scope: bson.D{{Key: "c", Value: int32(2)}},
	}
	tests := []struct {
		name   string
		j      Job
		query  bson.D
		jsMode bool
		wire   int
		want   string
	}{
		{
			"least",
			Job{Map: "M", Reduce: "R"},
			nil, false, 7,
			`{"mapReduce":"c","map":{"$code":"M"},"reduce":{"$code":"R"},"out":{"replace":"part_0","db":"d"},"verbose":true}`,
		},
		{
			"all", full, full.Query, true, 9,
			`{"mapReduce":"c","map":{"$code":"M"},"reduce":{"$code":"R"},"out":{"replace":"part_0","db":"d"},"finalize":{"$code":"F"},` +
				`"query":{"a":1},"sort":{"b":1},"limit":5,"scope":{"c":2},"jsMode":true,"verbose":true,"comment":"tag"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := text(t, command("c", tt.j, tt.query, output{"replace", "d", "part_0"}, tt.jsMode, "tag", tt.wire))
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestBoth(t *testing.T) {
	a, b := bson.D{{Key: "a", Value: int32(1)}}, bson.D{{Key: "b", Value: int32(2)}}
	for _, tt := range []struct {
		a, b bson.D
		want string
	}{{nil, nil, `null`}, {a, nil, `{"a":1}`}, {nil, b, `{"b":2}`}, {a, b, `{"$and":[{"a":1},{"b":2}]}`}} {
		got := "null"
		if f := both(tt.a, tt.b); f != nil {
			got = text(t, f)
		}
		if got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestReadReply(t *testing.T) {
	tests := []struct {
		name, reply string
		want        reply
	}{
		{
			"4.0", `{"result":"o","timeMillis":38,"timing":{"mapTime":2,"mode":"js"},"counts":{"input":10,"emit":11,"reduce":3,"output":4},"ok":1.0}`,
			reply{Counts{10, 11, 3, 4, true}, nil, "js", 38},
		},
		{
			"4.0 router", `{"result":"o","counts":{"input":{"$numberLong":"1000"},"emit":{"$numberLong":"1000"},"reduce":{"$numberLong":"100"},"output":{"$numberLong":"100"}},` +
				`"timeMillis":72,"timing":{"shardProcessing":39,"postProcessing":33},"shardCounts":{"s1/h:1":{"input":500,"emit":500,"reduce":50,"output":50},"s2/h:2":{"input":0,"emit":0,"reduce":0,"output":0}},"ok":1.0}`,
			reply{Counts{1000, 1000, 100, 100, true}, []ShardCounts{{"s1/h:1", Counts{500, 500, 50, 50, true}}, {"s2/h:2", Counts{Known: true}}}, "", 72},
		},
		{"4.4", `{"result":"o","ok":1.0}`, reply{Counts{}, nil, "", -1}},
	}
	for _, tt := range tests {
		if got := readReply(doc(t, tt.reply)); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestUniqueCountAccess(t *testing.T) {
	for field, want := range map[string]string{
		"dim0": "this.dim0", "a.b.c": "((this.a || {}).b || {}).c", "odd-name": `this["odd-name"]`, "0": `this["0"]`, "a\"b": `this["a\"b"]`,
	} {
		if got := access(field); got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
}

// Routers before 4.4 get the comment in the filter, by which the shards' part of the work is known; others as a field, or not at all.
func TestTagged(t *testing.T) {
	for _, c := range []struct {
		server splitter.Server
		query  bson.D
		want   int // fields
	}{
		{splitter.Server{Mongos: true, WireVersion: 7}, nil, 1},
		{splitter.Server{Mongos: true, WireVersion: 8}, bson.D{{Key: "k", Value: 1}}, 2},
		{splitter.Server{Mongos: true, WireVersion: 9}, bson.D{{Key: "k", Value: 1}}, 1},
		{splitter.Server{WireVersion: 7}, nil, 0},
	} {
		r := &runner{Config: Config{Comment: "tag"}, server: c.server}
		got := r.tagged(c.query)
		if len(got) != c.want || c.want > len(c.query) && got[len(got)-1].Value != "tag" {
			t.Errorf("%+v: %v", c.server, got)
		}
	}
}
