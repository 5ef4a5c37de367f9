package target

import (
	"context"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// server is a scripted server of some version.
type server struct {
	version   bson.A
	mongos    bool
	scripting bool
	storage   string
	refuse    map[string]bson.D // by command
	actions   bson.A            // of a logged-in user on everything; nil: nobody is logged in
}

func (s server) handle(_ context.Context, c mongofake.Command) bson.D {
	if r, ok := s.refuse[c.Name]; ok {
		return r
	}
	ok := bson.E{Key: "ok", Value: 1.0}
	switch c.Name {
	case "buildInfo":
		return bson.D{{Key: "version", Value: "x"}, {Key: "versionArray", Value: s.version}, ok}
	case "serverStatus":
		return bson.D{{Key: "storageEngine", Value: bson.D{{Key: "name", Value: s.storage}}}, ok}
	case "connectionStatus":
		info := bson.D{{Key: "authenticatedUsers", Value: bson.A{}}, {Key: "authenticatedUserPrivileges", Value: bson.A{}}}
		if s.actions != nil {
			info[0].Value = bson.A{bson.D{{Key: "user", Value: "ann"}, {Key: "db", Value: "admin"}}}
			info[1].Value = bson.A{bson.D{
				{Key: "resource", Value: bson.D{{Key: "db", Value: "shop"}, {Key: "collection", Value: ""}}}, {Key: "actions", Value: s.actions},
			}}
		}
		return bson.D{{Key: "authInfo", Value: info}, ok}
	case "find":
		if !s.scripting {
			return mongofake.Error(2, "no globalScriptEngine in $where parsing")
		}
		return mongofake.Cursor("shop.x")
	case "splitVector":
		return bson.D{{Key: "splitKeys", Value: bson.A{}}, ok}
	}
	return mongofake.Error(codeUnknownCommand, "no such command: "+c.Name)
}

func (s server) capabilities(t *testing.T) (*Facts, map[string]Capability) {
	t.Helper()
	fake := &mongofake.Server{Handle: s.handle, Mongos: s.mongos}
	ns := Namespace{"shop", "orders"}
	f, err := (&Target{Client: fake.Client(t), Kind: MongoDB}).Ask(t.Context(), ns)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Capability{}
	for _, c := range f.Capabilities(ns) {
		if c.Reason == "" {
			t.Errorf("%s has no reason", c.Name)
		}
		out[c.Name] = c
	}
	return f, out
}

func TestCapabilities(t *testing.T) {
	v := func(major, minor int32) bson.A { return bson.A{major, minor, int32(0), int32(0)} }
	full := server{version: v(4, 0), scripting: true, storage: "wiredTiger"}
	with := func(change func(*server)) server {
		s := full
		change(&s)
		return s
	}
	for _, c := range []struct {
		name   string
		server server
		want   map[string]State
		says   string // somewhere among the reasons
	}{
		{"4.0", full, map[string]State{
			CapMapReduce: Works, CapSort: Works, CapJSMode: Works, CapCounts: Works, CapDatabases: NoEffect, CapSplitVector: Works, CapChunks: Refused,
			CapExprIndex: Refused, CapMerge: Refused, CapJSStages: Refused, CapOutput: Works, CapProgress: Works,
		}, "since 4.2"},
		{"3.6 on mmapv1", with(func(s *server) { s.version, s.storage = v(3, 6), "mmapv1" }), map[string]State{CapDatabases: Works, CapJSMode: Works}, "mmapv1 locks"},
		{"4.4", with(func(s *server) { s.version = v(4, 4) }), map[string]State{
			CapMapReduce: Works, CapSort: NoEffect, CapJSMode: NoEffect, CapCounts: NoEffect, CapRanges: Works, CapJSStages: Works, CapMerge: Works, CapExprIndex: Refused,
		}, "runs as a pipeline"},
		{"8.0", with(func(s *server) { s.version = v(8, 0) }), map[string]State{CapMapReduce: Works, CapExprIndex: Works, CapDiskUse: Works}, "deprecated since 5.0, as is all server-side JavaScript since 8.0"},
		{"no scripting", with(func(s *server) { s.version, s.scripting = v(6, 0), false }), map[string]State{
			CapMapReduce: Refused, CapSort: Refused, CapRanges: Refused, CapJSMode: Refused, CapJSStages: Refused, CapMerge: Works,
		}, "globalScriptEngine"},
		{"4.0 mongos", with(func(s *server) {
			s.mongos = true
			s.refuse = map[string]bson.D{"splitVector": mongofake.Error(20, "splitVector can not be run on a sharded collection")}
		}), map[string]State{CapJSMode: Refused, CapChunks: Works, CapSplitVector: Refused, CapMapReduce: Works}, "not through mongos"},
		{"7.0 mongos", with(func(s *server) { s.mongos, s.version = true, v(7, 0) }), map[string]State{CapJSMode: NoEffect, CapOutput: Works}, "made before the run"},
		{"a small hosted tier", with(func(s *server) {
			s.version = v(7, 0)
			s.refuse = map[string]bson.D{
				"splitVector":  mongofake.Error(8000, "splitVector is not allowed in this atlas tier"),
				"serverStatus": mongofake.Error(8000, "serverStatus is not allowed"),
			}
		}), map[string]State{CapSplitVector: Refused, CapTelemetry: Refused}, "not allowed in this atlas tier (code 8000)"},
		{"least rights", with(func(s *server) {
			s.actions = bson.A{"find", "insert", "createCollection"}
			s.refuse = map[string]bson.D{"splitVector": mongofake.Error(13, "not authorized"), "serverStatus": mongofake.Error(13, "not authorized")}
		}), map[string]State{CapOutput: Refused, CapProgress: Refused, CapSplitVector: Refused, CapMapReduce: Works, CapWalk: Works}, "user ann@admin may write in shop, not make databases"},
		{"nothing at all", with(func(s *server) { s.actions = bson.A{"insert"} }), map[string]State{CapMapReduce: Refused}, "may not read shop.orders"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := c.server.capabilities(t)
			var reasons []string
			for name, want := range c.want {
				if got[name].State != want {
					t.Errorf("%s: %q (%s), want %q", name, got[name].State, got[name].Reason, want)
				}
			}
			for _, g := range got {
				reasons = append(reasons, g.Reason)
			}
			if !strings.Contains(strings.Join(reasons, "\n"), c.says) {
				t.Errorf("no reason says %q:\n%s", c.says, strings.Join(reasons, "\n"))
			}
		})
	}
}

func TestOutlook(t *testing.T) {
	versions := func(f Facts) (out []string) {
		for _, c := range f.Outlook() {
			if !slices.Contains(out, c.Version) {
				out = append(out, c.Version)
			}
		}
		return out
	}
	for _, c := range []struct {
		f    Facts
		want string
	}{
		{Facts{Kind: MongoDB, Major: 4}, "4.4 5.0 6.0 8.0"},
		{Facts{Kind: MongoDB, Major: 4, Minor: 4}, "5.0 6.0 8.0"},
		{Facts{Kind: MongoDB, Major: 7}, "8.0"},
		{Facts{Kind: MongoDB, Major: 8, Minor: 2}, ""},
		{Facts{Kind: Embedded, Major: 7}, "4.4 5.0 6.0 8.0"},
	} {
		if got := strings.Join(versions(c.f), " "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}

// The engine in this process can be asked the same questions.
func TestAskEngine(t *testing.T) {
	db, err := Open(t.Context(), Config{DataDir: t.TempDir(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ns := Namespace{"test", "uniques"}
	f, err := db.Ask(t.Context(), ns)
	if err != nil {
		t.Fatal(err)
	}
	if f.Scripting != Yes || f.SplitVector != Yes || f.ServerStatus != Yes || f.Document != 16<<20 {
		t.Errorf("%+v", f)
	}
	for _, c := range f.Capabilities(ns) {
		if c.Name == CapJSMode && c.State != Works {
			t.Errorf("%+v", c)
		}
	}
}
