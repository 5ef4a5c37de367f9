package polite

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

func doc(t *testing.T, json string) bson.Raw {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(json), false, &d); err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The shapes of serverStatus from 3.6 to 8.0, with numbers of every type.
func TestStatusShapes(t *testing.T) {
	cache := `"wiredTiger":{"cache":{"maximum bytes configured":1000.0,"bytes currently in the cache":{"$numberLong":"960"},"tracked dirty bytes in the cache":170}`
	for name, status := range map[string]string{
		"4.0": `{"globalLock":{"currentQueue":{"total":21,"readers":20,"writers":1}},"connections":{"current":91,"available":9,"totalCreated":99},` +
			cache + `,"concurrentTransactions":{"write":{"out":125,"available":3,"totalTickets":128},"read":{"out":0,"available":128,"totalTickets":128}}}}`,
		"no total": `{"globalLock":{"currentQueue":{"readers":20,"writers":1}},"connections":{"current":91,"available":9},` +
			cache + `,"concurrentTransactions":{"write":{"available":3,"totalTickets":128},"read":{"available":128,"totalTickets":128}}}}`,
		"8.0": `{"globalLock":{"currentQueue":{"total":21,"readers":20,"writers":1}},"connections":{"current":91,"available":9},` +
			`"queues":{"execution":{"write":{"out":125,"available":3,"totalTickets":128},"read":{"out":0,"available":128,"totalTickets":128}},"ingress":{}},` + cache + `}}`,
	} {
		var r reading
		r.readStatus(doc(t, status))
		var h held
		want := "queue 21 above 20, dirty cache 17% above 15%, cache in use 96% above 95%, free write tickets 3 of 128 below 10%, connections in use 91% above 90%"
		if got := texts(Default().passed(r, &h), ""); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	var r reading
	r.readStatus(doc(t, `{"connections":{"current":1}}`))
	var h held
	if r != (reading{}) || Default().passed(r, &h) != nil {
		t.Errorf("%v", r)
	}
}

// Tickets are a number or a part; a server that has fewer than the number is asked for half of them.
func TestTickets(t *testing.T) {
	for _, c := range []struct {
		limit       string
		free, whole float64
		busy        bool
	}{
		{"16", 15, 128, true},
		{"16", 16, 128, false},
		{"16", 8, 8, false},
		{"16", 3, 8, true},
		{"16", 4, 8, false},
		{"10%", 0, 4, true},
		{"10%", 1, 4, false},
		{"0", 0, 128, false},
	} {
		l, err := Limits{}.With("tickets=" + c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var r reading
		r.raise(tickets, measure{value: c.free, whole: c.whole, of: "read"})
		var h held
		if got := l.passed(r, &h); (got != nil) != c.busy {
			t.Errorf("%s, %v of %v: %v", c.limit, c.free, c.whole, got)
		}
	}
}

func TestReplicationLag(t *testing.T) {
	member := func(id, state, at, more string) string {
		return `{"_id":` + id + `,"name":"db` + id + `","state":` + state + `,"optimeDate":{"$date":{"$numberLong":"` + at + `"}}` + more + `}`
	}
	for _, c := range []struct {
		name    string
		members []string
		delays  string
		lag     float64
		of      string
		known   bool
	}{
		{"alone", []string{member("0", "1", "90000", "")}, "", 0, "", true},
		{"behind", []string{member("0", "1", "90000", ""), member("1", "2", "76000", `,"health":1.0`), member("2", "2", "90000", "")}, "", 14, "db1", true},
		{"ahead of an old picture of the primary", []string{member("0", "1", "90000", ""), member("1", "2", "91000", "")}, "", 0, "db1", true},
		{"down", []string{member("0", "1", "90000", ""), member("1", "8", "0", `,"health":0.0`)}, "", 0, "", true},
		{"unhealthy", []string{member("0", "1", "90000", ""), member("1", "2", "0", `,"health":0`)}, "", 0, "", true},
		{"initial sync and arbiter", []string{member("0", "1", "90000", ""), member("1", "5", "0", ""), `{"_id":2,"state":7,"name":"a"}`}, "", 0, "", true},
		{"recovering", []string{member("0", "1", "90000", ""), member("1", "3", "80000", "")}, "", 10, "db1", true},
		{"meant to be late, 4.0", []string{member("0", "1", "90000", ""), member("1", "2", "20000", "")}, `{"config":{"members":[{"_id":0},{"_id":1,"slaveDelay":{"$numberLong":"60"}}]}}`, 10, "db1", true},
		{"meant to be late, 5.0", []string{member("0", "1", "90000", ""), member("1", "2", "20000", "")}, `{"config":{"members":[{"_id":1,"secondaryDelaySecs":70}]}}`, 0, "db1", true},
		{"no primary", []string{member("0", "2", "90000", ""), member("1", "2", "85000", "")}, "", 5, "db1", true},
		{"nothing", nil, "", 0, "", false},
	} {
		delays := map[int64]float64(nil)
		if c.delays != "" {
			delays = readDelays(doc(t, c.delays))
		}
		var r reading
		r.readMembers(doc(t, `{"members":[`+strings.Join(c.members, ",")+`]}`), delays)
		if got := r[lag]; got.known != c.known || got.value != c.lag || got.of != c.of {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	var r reading
	r.readLastWrite(doc(t, `{"lastWrite":{"lastWriteDate":{"$date":{"$numberLong":"90000"}},"majorityWriteDate":{"$date":{"$numberLong":"60000"}}}}`))
	if r[lag] != (measure{known: true, value: 30, of: "the majority"}) {
		t.Errorf("%+v", r[lag])
	}
}
