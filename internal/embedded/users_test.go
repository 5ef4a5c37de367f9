package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// guarded is an engine that asks for a login, served on a port of this machine.
type guarded struct {
	*Engine
	address string
}

func openGuarded(t *testing.T, c Config) *guarded {
	t.Helper()
	c.Auth = true
	if c.Dir == "" {
		c.Dir, c.FS = "data", vfs.NewMem()
	}
	e, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- e.Serve(context.Background(), l) }()
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return &guarded{e, l.Addr().String()}
}

// login is a client over the port; mechanism "" leaves the choice to the driver.
func (g *guarded) login(t *testing.T, user, password, source, mechanism string) *mongo.Client {
	t.Helper()
	o := options.Client().ApplyURI("mongodb://" + g.address).SetServerSelectionTimeout(5 * time.Second)
	if user != "" {
		o.SetAuth(options.Credential{Username: user, Password: password, AuthSource: source, AuthMechanism: mechanism})
	}
	client, err := mongo.Connect(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

func newUser(name, password string, roles ...any) bson.D {
	return bson.D{{Key: "createUser", Value: name}, {Key: "pwd", Value: password}, {Key: "roles", Value: append(bson.A{}, roles...)}}
}

func role(name, db string) bson.D { return bson.D{{Key: "role", Value: name}, {Key: "db", Value: db}} }

func ping(client *mongo.Client) error {
	return client.Database("admin").RunCommand(context.Background(), bson.D{{Key: "listDatabases", Value: 1}}).Err()
}

// TestLogin: both mechanisms let the right password in and nothing else, and say the same of every failure.
func TestLogin(t *testing.T) {
	g := openGuarded(t, Config{})
	admin := connect(t, g.Engine).Database("admin") // in memory: nobody asks
	run(t, admin, newUser("ann", "päss wörd,=", "root"))
	run(t, admin, append(newUser("old", "secret", "root"), bson.E{Key: "mechanisms", Value: bson.A{"SCRAM-SHA-1"}}))
	run(t, admin, append(newUser("new", "secret", "root"), bson.E{Key: "mechanisms", Value: bson.A{"SCRAM-SHA-256"}}))
	run(t, admin.Client().Database("d"), newUser("a,b=c", "secret", "readWrite"))

	for _, c := range []struct {
		user, password, source, mechanism string
		ok                                bool
	}{
		{"ann", "päss wörd,=", "admin", "", true},
		{"ann", "päss wörd,=", "admin", "SCRAM-SHA-1", true},
		{"ann", "päss wörd,=", "admin", "SCRAM-SHA-256", true},
		{"a,b=c", "secret", "d", "", true},
		{"a,b=c", "secret", "d", "SCRAM-SHA-1", true},
		{"old", "secret", "admin", "SCRAM-SHA-1", true},
		{"old", "secret", "admin", "", true}, // the driver asks what the user has
		{"old", "secret", "admin", "SCRAM-SHA-256", false},
		{"new", "secret", "admin", "SCRAM-SHA-256", true},
		{"new", "secret", "admin", "SCRAM-SHA-1", false},
		{"ann", "wrong", "admin", "", false},
		{"ann", "wrong", "admin", "SCRAM-SHA-1", false},
		{"ann", "päss wörd,=", "d", "", false},
		{"nobody", "secret", "admin", "", false},
		{"nobody", "secret", "admin", "SCRAM-SHA-1", false},
	} {
		err := ping(g.login(t, c.user, c.password, c.source, c.mechanism))
		if c.ok && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if !c.ok && (err == nil || !strings.Contains(err.Error(), "(AuthenticationFailed) Authentication failed.")) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := ping(g.login(t, "", "", "", "")); codeOf(err) != 13 {
		t.Errorf("without a login: %v", err)
	}
}

// TestNothingBeforeLogin: a stranger gets code 13 for all but what a login needs, and nothing is read of the request.
func TestNothingBeforeLogin(t *testing.T) {
	g := openGuarded(t, Config{})
	run(t, connect(t, g.Engine).Database("admin"), newUser("ann", "secret", "root"))
	client := g.login(t, "", "", "", "")
	open := map[string]bool{
		"hello": true, "isMaster": true, "ping": true, "buildInfo": true, "connectionStatus": true, "whatsmyuri": true,
		"saslStart": true, "saslContinue": true, "logout": true,
	}
	commands, err := run(t, connect(t, g.Engine).Database("admin"), bson.D{{Key: "listCommands", Value: 1}}).Lookup("commands").Document().Elements()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range commands {
		name := e.Key()
		err := client.Database("d").RunCommand(context.Background(), bson.D{{Key: name, Value: "c"}, {Key: "nonsense", Value: 1}}).Err()
		if refused := codeOf(err) == 13; refused == open[name] {
			t.Errorf("%s: %v", name, err)
		}
		if asks, _ := e.Value().Document().Lookup("requiresAuth").BooleanOK(); asks == open[name] {
			t.Errorf("%s: requiresAuth %v", name, asks)
		}
	}
}

// TestFirstUser: from this machine, the first user can be made without a login, and only the first.
func TestFirstUser(t *testing.T) {
	g := openGuarded(t, Config{})
	db := g.login(t, "", "", "", "").Database("admin")
	fails(t, db.Client().Database("d"), 13, newUser("x", "secret", "readWrite"))
	fails(t, db, 13, bson.D{{Key: "usersInfo", Value: 1}})
	run(t, db, newUser("ann", "secret", "root"))
	fails(t, db, 13, newUser("bob", "secret", "root"))
	if err := ping(g.login(t, "ann", "secret", "admin", "")); err != nil {
		t.Error(err)
	}
}

// TestUserCommands: users can be made, shown, changed and removed; what is kept of a password is not the password.
func TestUserCommands(t *testing.T) {
	client := connect(t, openEngine(t))
	db, admin := client.Database("d"), client.Database("admin")
	run(t, db, append(newUser("u", "geheim", "readWrite", role("read", "other")), bson.E{Key: "customData", Value: bson.D{{Key: "n", Value: 1}}}))
	fails(t, db, 51003, newUser("u", "geheim", "read"))
	fails(t, db, 31, newUser("v", "geheim", "root")) // root is on admin alone
	fails(t, db, 31, newUser("v", "geheim", "nonsense"))
	fails(t, db, 2, newUser("v", "", "read"))
	fails(t, db, 2, newUser("", "geheim", "read"))
	fails(t, db, 40414, bson.D{{Key: "createUser", Value: "v"}, {Key: "pwd", Value: "x"}})
	fails(t, db, 2, append(newUser("v", "x", "read"), bson.E{Key: "digestPassword", Value: false}))
	fails(t, db, 115, append(newUser("v", "x", "read"), bson.E{Key: "authenticationRestrictions", Value: bson.A{bson.D{{Key: "clientSource", Value: bson.A{"::1"}}}}}))
	fails(t, client.Database("local"), 2, newUser("__system", "x"))

	info := run(t, db, bson.D{{Key: "usersInfo", Value: "u"}}).Lookup("users", "0").Document()
	if info.Lookup("_id").StringValue() != "d.u" || info.Lookup("customData", "n").Int32() != 1 || info.Lookup("roles", "1", "db").StringValue() != "other" ||
		info.Lookup("mechanisms", "1").StringValue() != "SCRAM-SHA-256" || len(info.Lookup("credentials").Value) != 0 {
		t.Errorf("usersInfo: %v", info)
	}
	stored, err := admin.Collection("system.users").FindOne(context.Background(), bson.D{{Key: "_id", Value: "d.u"}}).Raw()
	if err != nil || strings.Contains(stored.String(), "geheim") || strings.Contains(string(stored), "geheim") {
		t.Errorf("stored: %v (%v)", stored, err)
	}
	for mech, n := range map[string]int32{"SCRAM-SHA-1": 10000, "SCRAM-SHA-256": 15000} {
		if got := stored.Lookup("credentials", mech, "iterationCount").AsInt64(); got != int64(n) {
			t.Errorf("%s: %d iterations", mech, got)
		}
	}
	fails(t, admin, 73, bson.D{{Key: "delete", Value: "system.users"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}}}}})
	fails(t, admin, 20, bson.D{{Key: "dropDatabase", Value: 1}})

	run(t, db, bson.D{{Key: "grantRolesToUser", Value: "u"}, {Key: "roles", Value: bson.A{"dbAdmin"}}})
	run(t, db, bson.D{{Key: "revokeRolesFromUser", Value: "u"}, {Key: "roles", Value: bson.A{"readWrite", role("read", "other")}}})
	run(t, db, bson.D{{Key: "updateUser", Value: "u"}, {Key: "mechanisms", Value: bson.A{"SCRAM-SHA-256"}}})
	fails(t, db, 2, bson.D{{Key: "updateUser", Value: "u"}, {Key: "mechanisms", Value: bson.A{"SCRAM-SHA-1"}}})
	fails(t, db, 2, bson.D{{Key: "updateUser", Value: "u"}})
	fails(t, db, 11, bson.D{{Key: "updateUser", Value: "nobody"}, {Key: "pwd", Value: "x"}})
	info = run(t, admin, bson.D{{Key: "usersInfo", Value: bson.D{{Key: "user", Value: "u"}, {Key: "db", Value: "d"}}}}).Lookup("users", "0").Document()
	if roles, _ := info.Lookup("roles").Array().Values(); len(roles) != 1 || roles[0].Document().Lookup("role").StringValue() != "dbAdmin" {
		t.Errorf("roles: %v", info)
	}
	if mechs, _ := info.Lookup("mechanisms").Array().Values(); len(mechs) != 1 {
		t.Errorf("mechanisms: %v", info)
	}
	run(t, db, newUser("w", "x", "read"))
	run(t, db, bson.D{{Key: "dropUser", Value: "w"}})
	fails(t, db, 11, bson.D{{Key: "dropUser", Value: "w"}})
	if n := run(t, db, bson.D{{Key: "dropAllUsersFromDatabase", Value: 1}}).Lookup("n").Int32(); n != 1 {
		t.Errorf("dropped %d users", n)
	}
}

// TestRightsOfRoles: who may do what.
func TestRightsOfRoles(t *testing.T) {
	g := openGuarded(t, Config{})
	own := connect(t, g.Engine)
	insertNumbers(t, own.Database("d").Collection("c"), 10)
	insertNumbers(t, own.Database("e").Collection("c"), 10)
	for user, roles := range map[string]bson.A{
		"reader": {role("read", "d")}, "writer": {role("readWrite", "d")}, "keeper": {role("dbAdmin", "d")}, "registrar": {role("userAdmin", "d")},
		"anyreader": {"readAnyDatabase"}, "anywriter": {"readWriteAnyDatabase"}, "watcher": {"clusterMonitor"}, "boss": {"root"},
	} {
		run(t, own.Database("admin"), newUser(user, "secret", roles...))
	}
	pipeline := func(stages ...any) bson.D {
		return bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: append(bson.A{}, stages...)}, {Key: "cursor", Value: bson.D{}}}
	}
	stage := func(name string, arg any) bson.D { return bson.D{{Key: name, Value: arg}} }
	job := func(out any) bson.D {
		return bson.D{{Key: "mapReduce", Value: "c"}, {Key: "map", Value: "function () { emit(1, 1); }"}, {Key: "reduce", Value: "function (k, v) { return 1; }"}, {Key: "out", Value: out}}
	}
	find, insert := bson.D{{Key: "find", Value: "c"}}, bson.D{{Key: "insert", Value: "new"}, {Key: "documents", Value: bson.A{bson.D{}}}}
	for _, c := range []struct {
		what string
		db   string
		cmd  bson.D
		may  string // which users may
	}{
		{"find", "d", find, "reader writer anyreader anywriter boss"},
		{"find elsewhere", "e", find, "anyreader anywriter boss"},
		{"find users", "admin", bson.D{{Key: "find", Value: "system.users"}}, "boss"},
		{"count users", "admin", bson.D{{Key: "count", Value: "system.users"}}, "boss"},
		{"look up users", "admin", bson.D{{Key: "aggregate", Value: 1}, {Key: "pipeline", Value: bson.A{
			stage("$documents", bson.A{bson.D{}}),
			stage("$lookup", bson.D{{Key: "from", Value: "system.users"}, {Key: "as", Value: "u"}, {Key: "pipeline", Value: bson.A{}}}),
		}}, {Key: "cursor", Value: bson.D{}}}, "boss"},
		{"view of users", "admin", bson.D{{Key: "create", Value: "v"}, {Key: "viewOn", Value: "system.users"}}, "boss"},
		{"explain find", "d", stage("explain", find), "reader writer anyreader anywriter boss"},
		{"aggregate", "d", pipeline(), "reader writer anyreader anywriter boss"},
		{"$out", "d", pipeline(stage("$out", "o")), "writer anywriter boss"},
		{"$out elsewhere", "d", pipeline(stage("$out", bson.D{{Key: "db", Value: "e"}, {Key: "coll", Value: "o"}})), "anywriter boss"},
		{"$merge elsewhere", "d", pipeline(stage("$merge", bson.D{{Key: "into", Value: bson.D{{Key: "db", Value: "e"}, {Key: "coll", Value: "o"}}}})), "anywriter boss"},
		{"explain $out", "d", stage("explain", pipeline(stage("$out", "o"))), "writer anywriter boss"},
		{"mapReduce", "d", job(bson.D{{Key: "inline", Value: 1}}), "reader writer anyreader anywriter boss"},
		{"mapReduce out", "d", job("o"), "writer anywriter boss"},
		{"mapReduce out elsewhere", "d", job(bson.D{{Key: "replace", Value: "o"}, {Key: "db", Value: "e"}}), "anywriter boss"},
		{"insert", "d", insert, "writer anywriter boss"},
		{"insert elsewhere", "e", insert, "anywriter boss"},
		{"createIndexes", "d", bson.D{{Key: "createIndexes", Value: "c"}, {Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "name", Value: "a"}}}}}, "writer keeper anywriter boss"},
		{"validate", "d", bson.D{{Key: "validate", Value: "c"}}, "keeper boss"},
		{"splitVector", "admin", bson.D{{Key: "splitVector", Value: "e.c"}, {Key: "keyPattern", Value: bson.D{{Key: "_id", Value: 1}}}, {Key: "maxChunkSizeBytes", Value: 1000}}, "anyreader anywriter boss"},
		{"rename into another", "admin", bson.D{{Key: "renameCollection", Value: "d.new"}, {Key: "to", Value: "e.newer"}, {Key: "dropTarget", Value: true}}, "anywriter boss"},
		{"serverStatus", "admin", bson.D{{Key: "serverStatus", Value: 1}}, "watcher boss"},
		{"currentOp", "admin", bson.D{{Key: "currentOp", Value: 1}}, "watcher boss"},
		{"currentOp of one's own", "admin", bson.D{{Key: "currentOp", Value: 1}, {Key: "$ownOps", Value: true}}, "reader writer keeper registrar anyreader anywriter watcher boss"},
		{"$currentOp", "admin", bson.D{{Key: "aggregate", Value: 1}, {Key: "pipeline", Value: bson.A{stage("$currentOp", bson.D{})}}, {Key: "cursor", Value: bson.D{}}}, "watcher boss"},
		{"killOp", "admin", bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: 99999}}, "boss"},
		{"killAllSessions", "admin", bson.D{{Key: "killAllSessions", Value: bson.A{}}}, "boss"},
		{"createUser", "d", bson.D{{Key: "updateUser", Value: "nobody"}, {Key: "pwd", Value: "x"}}, "registrar boss"},
		{"usersInfo", "d", bson.D{{Key: "usersInfo", Value: 1}}, "registrar boss"},
		{"grant what is not one's own", "d", newUser("x", "x", role("read", "e")), "boss"},
	} {
		for _, user := range []string{"reader", "writer", "keeper", "registrar", "anyreader", "anywriter", "watcher", "boss"} {
			if c.what == "rename into another" {
				_, _ = own.Database("d").Collection("new").InsertOne(context.Background(), bson.D{})
			}
			client := g.login(t, user, "secret", "admin", "SCRAM-SHA-256")
			err := client.Database(c.db).RunCommand(context.Background(), c.cmd).Err()
			if may := strings.Contains(" "+c.may+" ", " "+user+" "); may == (codeOf(err) == 13) {
				t.Errorf("%s by %s: %v", c.what, user, err)
			}
			_ = client.Disconnect(context.Background())
		}
	}
	names, err := g.login(t, "reader", "secret", "admin", "").ListDatabaseNames(context.Background(), bson.D{})
	if err != nil || strings.Join(names, " ") != "d" {
		t.Errorf("reader sees the databases %v (%v)", names, err)
	}
}

// TestUserGoes: what is done to a user counts from the next command of its connections on.
func TestUserGoes(t *testing.T) {
	g := openGuarded(t, Config{})
	admin := connect(t, g.Engine).Database("admin")
	run(t, admin, newUser("u", "secret", "readWriteAnyDatabase"))
	db := g.login(t, "u", "secret", "admin", "").Database("d")
	insertNumbers(t, db.Collection("c"), 10)
	status := run(t, db, bson.D{{Key: "connectionStatus", Value: 1}, {Key: "showPrivileges", Value: true}}).Lookup("authInfo").Document()
	if status.Lookup("authenticatedUsers", "0", "user").StringValue() != "u" || status.Lookup("authenticatedUserRoles", "0", "role").StringValue() != "readWriteAnyDatabase" {
		t.Errorf("connectionStatus: %v", status)
	}
	cur, err := db.Collection("c").Find(context.Background(), bson.D{}, options.Find().SetBatchSize(2))
	if err != nil {
		t.Fatal(err)
	}
	run(t, admin, bson.D{{Key: "updateUser", Value: "u"}, {Key: "roles", Value: bson.A{"readAnyDatabase"}}})
	run(t, db, bson.D{{Key: "count", Value: "c"}})
	fails(t, db, 13, bson.D{{Key: "drop", Value: "c"}})
	run(t, admin, bson.D{{Key: "dropUser", Value: "u"}})
	fails(t, db, 13, bson.D{{Key: "count", Value: "c"}})
	for cur.Next(context.Background()) {
	}
	if codeOf(cur.Err()) != 13 {
		t.Errorf("the cursor of a user that is gone: %v", cur.Err())
	}
	run(t, admin, newUser("u", "secret", "root")) // another one of that name
	fails(t, db, 13, bson.D{{Key: "count", Value: "c"}})
}

// TestCursorsOfOthers: a cursor and a session are their user's.
func TestCursorsOfOthers(t *testing.T) {
	g := openGuarded(t, Config{})
	own := connect(t, g.Engine)
	insertNumbers(t, own.Database("d").Collection("c"), 10)
	for _, name := range []string{"a", "b"} {
		run(t, own.Database("admin"), newUser(name, "secret", "root"))
	}
	a, b := g.login(t, "a", "secret", "admin", "").Database("d"), g.login(t, "b", "secret", "admin", "").Database("d")
	s, err := a.Client().StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.EndSession(context.Background())
	session := s.ID()
	inSession := mongo.NewSessionContext(context.Background(), s)
	r, err := a.RunCommand(inSession, bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 2}}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	id := r.Lookup("cursor", "id").Int64()
	more := bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}, {Key: "batchSize", Value: 2}}
	fails(t, b, 13, more)
	if r := run(t, b, bson.D{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{id}}}); len(r.Lookup("cursorsKilled").Array()) != 5 {
		t.Errorf("killed: %v", r)
	}
	run(t, b, bson.D{{Key: "killSessions", Value: bson.A{session}}})
	if err := a.RunCommand(inSession, more).Err(); err != nil {
		t.Error(err)
	}
	run(t, a, bson.D{{Key: "killSessions", Value: bson.A{session}}})
	if err := a.RunCommand(inSession, more).Err(); codeOf(err) != 43 {
		t.Errorf("the cursor of a killed session: %v", err)
	}
}

// TestUsersAfterRestart: users are kept, and so are the decoys of those who are not there.
func TestUsersAfterRestart(t *testing.T) {
	dir := t.TempDir()
	var salts []string
	for i := range 2 {
		t.Run("", func(t *testing.T) {
			g := openGuarded(t, Config{Dir: filepath.Join(dir, "data")})
			if i == 0 {
				run(t, connect(t, g.Engine).Database("admin"), newUser("ann", "secret", "root"))
			}
			client := g.login(t, "ann", "secret", "admin", "")
			if err := ping(client); err != nil {
				t.Fatal(err)
			}
			r := run(t, client.Database("admin"), bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: "SCRAM-SHA-256"}, {Key: "payload", Value: []byte("n,,n=nobody,r=abc")}})
			_, payload := r.Lookup("payload").Binary()
			_, salt, _ := strings.Cut(string(payload), ",s=")
			salts = append(salts, salt)
		})
	}
	if len(salts) != 2 || salts[0] != salts[1] {
		t.Errorf("a user that is not there shows by its salts %q", salts)
	}
}

// TestToken: who can read the directory may join; the file is this person's alone and goes with the engine.
func TestToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, tokenName), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("served", func(t *testing.T) {
		g := openGuarded(t, Config{Dir: dir})
		token, err := Token(dir)
		if err != nil || len(token) < 40 {
			t.Fatalf("token %q: %v", token, err)
		}
		for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, tokenName): 0o600} {
			if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
				t.Errorf("%s: %v (%v)", path, st.Mode(), err)
			}
		}
		client := g.login(t, TokenUser, token, TokenSource, "SCRAM-SHA-256")
		if err := ping(client); err != nil {
			t.Error(err)
		}
		insertNumbers(t, client.Database("d").Collection("c"), 2)
		if err := ping(g.login(t, TokenUser, "old", TokenSource, "SCRAM-SHA-256")); err == nil {
			t.Error("the token of an earlier process was taken")
		}
		fails(t, client.Database(TokenSource), 11, bson.D{{Key: "dropUser", Value: TokenUser}})
	})
	if token, err := Token(dir); token != "" || err != nil {
		t.Errorf("after the end: token %q, %v", token, err)
	}
}

// TestSpeculativeLogin: hello begins the login, and saslStart is not needed.
func TestSpeculativeLogin(t *testing.T) {
	client := connect(t, openEngine(t))
	db := client.Database("admin")
	run(t, db, newUser("ann", "secret", "root"))
	r := run(t, db, bson.D{{Key: "hello", Value: 1}, {Key: "saslSupportedMechs", Value: "admin.ann"}, {Key: "speculativeAuthenticate", Value: bson.D{
		{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: "SCRAM-SHA-256"}, {Key: "payload", Value: []byte("n,,n=ann,r=abc")}, {Key: "db", Value: "admin"},
	}}})
	if mechs, _ := r.Lookup("saslSupportedMechs").Array().Values(); len(mechs) != 2 {
		t.Errorf("hello: %v", r)
	}
	_, payload, _ := r.Lookup("speculativeAuthenticate", "payload").BinaryOK()
	if !strings.HasPrefix(string(payload), "r=abc") || r.Lookup("speculativeAuthenticate", "done").Boolean() {
		t.Errorf("hello: %v", r)
	}
	r = run(t, db, bson.D{{Key: "hello", Value: 1}, {Key: "speculativeAuthenticate", Value: bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: "PLAIN"}, {Key: "payload", Value: []byte{}}, {Key: "db", Value: "admin"}}}})
	if _, err := r.LookupErr("speculativeAuthenticate"); err == nil {
		t.Errorf("hello: %v", r)
	}
	fails(t, db, 334, bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: "PLAIN"}, {Key: "payload", Value: []byte{}}})
	fails(t, db, 17, bson.D{{Key: "saslContinue", Value: 1}, {Key: "conversationId", Value: 1}, {Key: "payload", Value: []byte{}}})
}

// TestStrangersHaveLimits: who has not logged in can't send much, and not slowly.
func TestStrangersHaveLimits(t *testing.T) {
	g := openGuarded(t, Config{limits: limits{idle: 200 * time.Millisecond, pace: 100 * time.Millisecond}})
	header := func(n uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, n)
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, 0)
		return binary.LittleEndian.AppendUint32(b, 2013)
	}
	for name, sent := range map[string][]byte{
		"silent": nil, "half a header": header(60)[:7], "half a message": append(header(60), 0, 0), "large": header(strangerMessage + 1),
	} {
		t.Run(name, func(t *testing.T) {
			nc, err := net.Dial("tcp", g.address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = nc.Close() }()
			if _, err := nc.Write(sent); err != nil {
				t.Fatal(err)
			}
			if err := nc.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if n, err := nc.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("the connection is still open: %d bytes, %v", n, err)
			} else if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
				t.Fatal(err)
			}
		})
	}
	t.Run("logged in", func(t *testing.T) {
		g := openGuarded(t, Config{})
		run(t, connect(t, g.Engine).Database("admin"), newUser("ann", "secret", "root"))
		c := g.login(t, "ann", "secret", "admin", "").Database("d").Collection("c")
		if _, err := c.InsertOne(context.Background(), bson.D{{Key: "s", Value: strings.Repeat("x", 4*strangerMessage)}}); err != nil {
			t.Error(err)
		}
	})
}
