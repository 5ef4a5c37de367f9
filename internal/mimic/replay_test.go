package mimic

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

type recording struct {
	Name  string
	Steps []struct {
		DB    string
		Cmd   bson.D
		Reply bson.Raw
		Fill  *struct {
			Coll   string
			N      int
			Fields bson.Raw
		}
	}
}

func recordings(t *testing.T, file string) []recording {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Cases []json.RawMessage }
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	out := make([]recording, len(list.Cases))
	for i, c := range list.Cases {
		if err := bson.UnmarshalExtJSON(c, true, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// notMimicked are commands, or with a dot fields of replies, that the mimic leaves to the engine, and why.
var notMimicked = map[string]string{
	"dbStats":          "nothing in mrbench reads the statistics of each shard",
	"aggregate":        "the engine's cursors have a router's shape; $out into a sharded collection and explain have not",
	"update":           "nothing in mrbench updates documents of a collection that others made",
	"renameCollection": "sharded collections are never renamed",
	"currentOp":        "operations are the engine's",
	"killOp":           "operations are the engine's",
	"serverStatus":     "the engine's own statistics; a test of its own says what matters",
	"replSetGetStatus": "the state of members, and no statistics of elections",

	"buildInfo.openssl": "of no use to anybody here", "buildInfo.buildEnvironment": "of the build", "buildInfo.storageEngines": "a mongos has none",
	"splitVector.timeMillis": "the engine's own", "insert.electionId": "written by drivers' tests only",
	"isMaster.compression": "connections are plain", "isMaster.electionId": "$clusterTime and ids are not compared",
	"find.ns": "of indexes, gone since 4.4", "listIndexes.ns": "of indexes, gone since 4.4", "mapReduce.timing": "what the engine measures",
	"buildInfo.modules": "of the build", "mapReduce.postProcessCounts": "which shard a new database lives on; TestRouterCounts says the rest",
	"insert.opTime": "left out of the comparison by the recordings' own rules",
}

// shapes compares the names and types of fields; order and values are not compared.
func shapes(want, got bson.RawValue, path string) (diffs []string) {
	if exempt(path) {
		return nil
	}
	if want.Type != got.Type {
		return []string{fmt.Sprintf("%s is of type %v, not %v", path, got.Type, want.Type)}
	}
	switch want.Type {
	case bson.TypeEmbeddedDocument:
		w, g := elements(want.Document()), elements(got.Document())
		for name, v := range w {
			if _, ok := g[name]; !ok {
				if !exempt(path + "." + name) {
					diffs = append(diffs, path+"."+name+" is missing")
				}
				continue
			}
			diffs = append(diffs, shapes(v, g[name], path+"."+name)...)
		}
		for name := range g {
			if _, ok := w[name]; !ok && !exempt(path+"."+name) {
				diffs = append(diffs, path+"."+name+" is too many")
			}
		}
	case bson.TypeArray:
		w, _ := want.Array().Values()
		g, _ := got.Array().Values()
		if (len(w) == 0) != (len(g) == 0) {
			return []string{fmt.Sprintf("%s has %d elements, not %d", path, len(g), len(w))}
		}
		for i := range min(len(w), len(g)) {
			diffs = append(diffs, shapes(w[i], g[i], path)...)
		}
	}
	return diffs
}

func exempt(path string) bool {
	parts := strings.Split(path, ".")
	if slices.Contains([]string{"$clusterTime", "operationTime", "electionId", "$gleStats", "codeName"}, parts[len(parts)-1]) {
		return true
	}
	for _, p := range parts[1:] {
		if _, ok := notMimicked[parts[0]+"."+p]; ok {
			return true
		}
	}
	return false
}

// elements are a document's fields. The names of shards' hosts are taken for one another.
func elements(d bson.Raw) map[string]bson.RawValue {
	m := map[string]bson.RawValue{}
	list, _ := d.Elements()
	for _, e := range list {
		name := e.Key()
		if shard, host, ok := strings.Cut(name, "/"); ok && strings.Contains(host, ":") {
			name = shard
		}
		m[name] = e.Value()
	}
	return m
}

func replay(t *testing.T, c recording, client *mongo.Client) {
	t.Helper()
	ctx := t.Context()
	for _, db := range []string{"gold", "gold_b"} {
		if err := client.Database(db).Drop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range c.Steps {
		if step.Fill != nil {
			var docs []any
			for n := range step.Fill.N {
				docs = append(docs, bson.D{{Key: "_id", Value: int32(n)}, {Key: "dim0", Value: int32(n * 7919 % 100)}})
			}
			if _, err := client.Database(step.DB).Collection(step.Fill.Coll).InsertMany(ctx, docs); err != nil {
				t.Fatal(err)
			}
			continue
		}
		name := step.Cmd[0].Key
		if why, ok := notMimicked[name]; ok {
			t.Logf("step %d, %s: not compared: %s", i, name, why)
			continue
		}
		got, err := client.Database(step.DB).RunCommand(ctx, step.Cmd).Raw()
		at := fmt.Sprintf("step %d, %v", i, step.Cmd)
		at = at[:min(len(at), 150)]
		if ok, _ := step.Reply.Lookup("ok").DoubleOK(); ok == 0 {
			if name == "collStats" {
				t.Logf("%s: statistics of what is not there are the engine's", at)
				continue
			}
			code, _ := step.Reply.Lookup("code").AsInt64OK()
			ce, isCommand := err.(mongo.CommandError) //nolint:errorlint // nothing wraps it
			if !isCommand || int64(ce.Code) != code {
				t.Errorf("%s: %v, not code %d", at, err, code)
			}
			continue
		}
		if code := step.Reply.Lookup("writeErrors", "0", "code"); code.Type != 0 {
			t.Logf("%s: the rules of shard keys are not mimicked", at)
			continue
		}
		if step.Reply.Lookup("writeConcernError").Type != 0 {
			t.Logf("%s: write concerns that can't be met are not mimicked", at)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		doc := func(r bson.Raw) bson.RawValue { return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: r} }
		for _, d := range shapes(doc(step.Reply), doc(got), name) {
			t.Errorf("%s: %s", at, d)
		}
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	for file, topology := range map[string]Topology{"mongos": Mongos, "replset": ReplicaSet} {
		client := Start(t, Config{Version: "4.0.3", Topology: topology}).Client(t)
		for _, c := range recordings(t, "testdata/"+file+".json") {
			t.Run(c.Name, func(t *testing.T) { replay(t, c, client) })
		}
		_ = client.Disconnect(context.Background())
	}
}
