package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func number(n int64) *int64 { return &n }

func TestShardLoads(t *testing.T) {
	told := func(name string, n int64) PartShard { return PartShard{name, number(n), number(n / 10)} }
	tests := []struct {
		name    string
		parts   []Part
		pieces  []Piece
		want    []ShardLoad
		strayed int
	}{
		{"no shards", []Part{{Seconds: 1}, {Seconds: 2}}, []Piece{{Documents: 5}, {Documents: 6}}, nil, 0},
		{"by owner", []Part{
			{Shard: "s2", Seconds: 1, Counts: Counts{Output: number(3)}}, {Shard: "s1", Seconds: 2, Counts: Counts{Output: number(4)}}, {Shard: "s2", Seconds: 4, Counts: Counts{Output: number(5)}},
		}, []Piece{{Documents: 10}, {Documents: 20}, {Documents: 30}}, []ShardLoad{{"s1", 1, 20, 4, 2}, {"s2", 2, 40, 8, 5}}, 0},
		// The router told what each shard did; a shard that was asked and had nothing does not count.
		{"told", []Part{
			{Shard: "s1", Seconds: 1, Shards: []PartShard{told("s1", 100), told("s2", 0)}},
			{Shard: "", Seconds: 2, Shards: []PartShard{told("s1", 20), told("s2", 30)}},
		}, nil, []ShardLoad{{"", 1, 0, 0, 2}, {"s1", 1, 120, 12, 1}, {"s2", 0, 30, 3, 0}}, 0},
		// What a command adds to counts what was there before in the shard's own reply, and not in the part's.
		{"added to a result", []Part{{Shard: "s1", Counts: Counts{Output: number(4)}, Shards: []PartShard{told("s1", 100), told("s2", 0)}}}, nil,
			[]ShardLoad{{"s1", 1, 100, 4, 0}}, 0},
		{"a chunk has moved", []Part{{Shard: "s1", Seconds: 1, Shards: []PartShard{told("s1", 50), told("s2", 50)}}}, nil,
			[]ShardLoad{{"s1", 1, 50, 5, 1}, {"s2", 0, 50, 5, 0}}, 1},
		// An explain names the shard that the next range begins on too; of others there is no need.
		{"explained", []Part{
			{Shard: "s1", Shards: []PartShard{{Shard: "s1"}, {Shard: "s2"}}}, {Shard: "s2", Shards: []PartShard{{Shard: "s1"}, {Shard: "s2"}}},
		}, nil, []ShardLoad{{"s1", 1, 0, 0, 0}, {"s2", 1, 0, 0, 0}}, 1},
		{"explained, the next is not known", []Part{{Shard: "s1", Shards: []PartShard{{Shard: "s2"}}}, {}}, nil, []ShardLoad{{Shard: "", Ranges: 1}, {Shard: "s1", Ranges: 1}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, ShardLoads(tt.parts, tt.pieces)); d != "" {
				t.Error(d)
			}
			if n := Strayed(tt.parts); n != tt.strayed {
				t.Errorf("%d strayed", n)
			}
		})
	}
}
