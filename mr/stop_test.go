package mr

import "testing"

func TestOurs(t *testing.T) {
	dbs := places{databases: []string{"run1_0", "run1_1"}}
	tests := []struct {
		name, op string
		want     bool
	}{
		{"mapReduce into our database", `{"opid":1,"ns":"test.u","command":{"mapReduce":"u","out":{"replace":"part_0","db":"run1_1"}}}`, true},
		{"someone else's", `{"opid":1,"ns":"test.u","command":{"mapReduce":"u","out":{"replace":"part_0","db":"run2_1"}}}`, false},
		{"merge", `{"opid":1,"ns":"run1_0.part_0","command":{"aggregate":"part_0"}}`, true},
		{"a longer name", `{"opid":1,"ns":"run1_01.part_0","command":{}}`, false},
		{"comment", `{"opid":1,"ns":"test.u","command":{"mapReduce":"u","comment":"tag"}}`, true},
		{"cut short", `{"opid":1,"ns":"test.u","command":{"$truncated":"{ mapReduce: \"u\", out: { replace: \"part_0\", db: \"run1_0\" }, map: ..."}}`, true},
		{"cut short, another", `{"opid":1,"ns":"test.u","command":{"$truncated":"{ mapReduce: \"u\", out: { replace: \"part_0\", db: \"run1_00\" }, map: ..."}}`, false},
		{"older servers' field", `{"opid":1,"ns":"test.u","query":{"mapReduce":"u","out":{"replace":"p","db":"run1_0"}}}`, true},
		{"on a shard, of a router before 4.4", `{"opid":"s1:7","shard":"s1","ns":"test.u","command":{"mapReduce":"u","query":{"k":{"$lt":5},"$comment":"tag"},"out":"tmp.mrs.u_1543612140_2","shardedFirstPass":true}}`, true},
		{"on a shard, someone else's", `{"opid":"s1:7","shard":"s1","ns":"test.u","command":{"mapReduce":"u","query":{"$comment":"tog"},"out":"tmp.mrs.u_1543612140_2","shardedFirstPass":true}}`, false},
		{"put together on a shard", `{"opid":"s2:9","ns":"other.$cmd","command":{"mapreduce.shardedfinish":{"mapReduce":"u","query":{"$comment":"tag"},"out":{"merge":"o","db":"other"}},"inputDB":"test"}}`, true},
		{"put together, by the output", `{"opid":"s2:9","ns":"admin.$cmd","command":{"mapreduce.shardedfinish":{"mapReduce":"u","out":{"replace":"part_0","db":"run1_1"}},"inputDB":"test"}}`, true},
		{"idle", `{"opid":1}`, false},
	}
	for _, tt := range tests {
		if got := ours(doc(t, tt.op), dbs, "tag"); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
	if ours(doc(t, `{"opid":1,"command":{"comment":""}}`), dbs, "") {
		t.Error("no comment is no sign")
	}
}

// In a database of others only collections with the run's own prefix tell.
func TestOursInOneDatabase(t *testing.T) {
	where := Config{OutDB: "reports", Prefix: "run1"}.places()
	for op, want := range map[string]bool{
		`{"opid":1,"ns":"test.u","command":{"mapReduce":"u","out":{"replace":"run1_part_0","db":"reports"}}}`:               true,
		`{"opid":1,"ns":"test.u","command":{"mapReduce":"u","out":{"reduce":"run1_gathered","db":"reports"}}}`:              true,
		`{"opid":1,"ns":"test.u","command":{"mapReduce":"u","out":{"replace":"monthly","db":"reports"}}}`:                   false,
		`{"opid":1,"ns":"reports.run1_part_0","command":{"aggregate":"run1_part_0"}}`:                                       true,
		`{"opid":1,"ns":"reports.monthly","command":{"find":"monthly"}}`:                                                    false,
		`{"opid":1,"ns":"reports.run10_part_0","command":{"find":"run10_part_0"}}`:                                          false,
		`{"opid":1,"ns":"test.u","command":{"$truncated":"{ mapReduce: \"u\", out: { replace: \"run1_part_0\", map: ..."}}`: true,
		`{"opid":1,"ns":"test.u","command":{"$truncated":"{ mapReduce: \"u\", out: { replace: \"monthly\", map: ..."}}`:     false,
	} {
		if got := ours(doc(t, op), where, ""); got != want {
			t.Errorf("%s: got %v", op, got)
		}
	}
}
