package target

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// Answer is what a question to a server gave.
type Answer int

// The answers. The zero value is that nobody could say.
const (
	Unknown Answer = iota
	Yes
	No
)

// Facts are what a server says about itself, and about the user who asks. Nothing is changed on it to find them out.
type Facts struct {
	Kind     string // MongoDB or Embedded
	Version  string
	Major    int32 // of Version
	Minor    int32
	Mongos   bool
	Wire     int32  // maxWireVersion, -1 not said
	Set      *Set   // nil: no member of a replica set
	FCV      string // feature compatibility version, "" not known
	Hosted   bool   // a hosted tier that refuses or limits commands
	Storage  string // storage engine, "" not known
	User     string // "name@database" who is logged in, "" nobody
	Document int64  // bytes of the largest document
	Message  int64  // bytes of the largest message
	Batch    int64  // documents of the largest batch

	Scripting       Answer // server-side JavaScript
	ScriptingWhy    string
	SplitVector     Answer // may this user run it on the namespace
	SplitVectorWhy  string
	ServerStatus    Answer // may this user ask for it
	ServerStatusWhy string
	OtherOps        Answer // may this user see and end operations of others (inprog, killop)

	privileges []privilege // of the user; nil when nobody is logged in or it can't be known
}

type privilege struct {
	Resource struct {
		DB         *string `bson:"db"`
		Collection *string `bson:"collection"`
		Cluster    bool    `bson:"cluster"`
		Any        bool    `bson:"anyResource"`
	} `bson:"resource"`
	Actions []string `bson:"actions"`
}

// atLeast reports whether the version is major.minor or newer.
func (f *Facts) atLeast(major, minor int32) bool {
	return f.Major > major || f.Major == major && f.Minor >= minor
}

// pipelines reports whether mapReduce runs as a pipeline there, as on servers since 4.4.
func (f *Facts) pipelines() bool { return f.Kind != Embedded && f.atLeast(4, 4) }

// Codes of refusals.
const (
	codeNotFound        = 26
	codeNotPossibleHere = 20
	codeUnauthorized    = 13
	codeUnknownCommand  = 59
)

// Ask asks the server for the facts. ns is the collection that the work is about. A question that the server refuses leaves its answer
// unknown, or says no; only a server that can't be talked to is an error.
func (t *Target) Ask(ctx context.Context, ns Namespace) (*Facts, error) {
	f := &Facts{Kind: t.Kind, Version: t.Version}
	admin := t.Client.Database("admin")
	hello, err := admin.RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Raw()
	if err != nil {
		return nil, fmt.Errorf("isMaster: %w", err)
	}
	f.readHello(hello)
	if t.build == nil {
		if t.build, err = admin.RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Raw(); err != nil {
			return nil, fmt.Errorf("buildInfo: %w", err)
		}
	}
	f.readBuild(t.build)
	for _, ask := range []func(context.Context, *mongo.Client, Namespace) error{f.askStatus, f.askFCV, f.askLogin, f.askScripting, f.askSplitVector} {
		if err := ask(ctx, t.Client, ns); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *Facts) readHello(r bson.Raw) {
	msg, _ := r.Lookup("msg").StringValueOK()
	f.Mongos = msg == "isdbgrid"
	f.readSet(r)
	f.Document, _ = r.Lookup("maxBsonObjectSize").AsInt64OK()
	f.Message, _ = r.Lookup("maxMessageSizeBytes").AsInt64OK()
	f.Batch, _ = r.Lookup("maxWriteBatchSize").AsInt64OK()
}

func (f *Facts) readBuild(r bson.Raw) {
	var b struct {
		Version []int32 `bson:"versionArray"`
		Engine  string  `bson:"javascriptEngine"`
	}
	if bson.Unmarshal(r, &b) == nil && len(b.Version) > 1 {
		f.Major, f.Minor = b.Version[0], b.Version[1]
	}
	if b.Engine == "none" {
		f.Scripting, f.ScriptingWhy = No, "this server was built without JavaScript"
	}
}

// refusal is the server's word against a command; another error is none.
func refusal(err error) (code int32, text string, refused bool) {
	ce, ok := errors.AsType[mongo.CommandError](err)
	if !ok {
		return 0, "", false
	}
	return ce.Code, fmt.Sprintf("%s (code %d)", ce.Message, ce.Code), true
}

func (f *Facts) askStatus(ctx context.Context, c *mongo.Client, _ Namespace) error {
	r, err := c.Database("admin").RunCommand(ctx, bson.D{{Key: "serverStatus", Value: 1}}).Raw()
	if err != nil {
		_, text, _ := refusal(err)
		if !f.refused(err) {
			return fmt.Errorf("serverStatus: %w", err)
		}
		f.ServerStatus, f.ServerStatusWhy = No, text
		return nil
	}
	f.ServerStatus = Yes
	f.Storage, _ = r.Lookup("storageEngine", "name").StringValueOK()
	f.Hosted = f.Hosted || r.Lookup("atlasVersion").Type != 0
	return nil
}

func (f *Facts) askLogin(ctx context.Context, c *mongo.Client, _ Namespace) error {
	r, err := c.Database("admin").RunCommand(ctx, bson.D{{Key: "connectionStatus", Value: 1}, {Key: "showPrivileges", Value: true}}).Raw()
	if err != nil {
		if f.refused(err) {
			return nil
		}
		return fmt.Errorf("connectionStatus: %w", err)
	}
	var s struct {
		Auth struct {
			Users []struct {
				User string `bson:"user"`
				DB   string `bson:"db"`
			} `bson:"authenticatedUsers"`
			Privileges []privilege `bson:"authenticatedUserPrivileges"`
		} `bson:"authInfo"`
	}
	if err := bson.Unmarshal(r, &s); err != nil || len(s.Auth.Users) == 0 {
		f.OtherOps = Yes // nobody is logged in, and all is allowed or nothing is
		return nil       //nolint:nilerr // a reply of another shape says nothing
	}
	f.User = s.Auth.Users[0].User + "@" + s.Auth.Users[0].DB
	f.privileges = s.Auth.Privileges
	f.OtherOps = f.may("", "", "inprog", "killop")
	return nil
}

// Rights asks the server what the user may do, and nothing else.
func (t *Target) Rights(ctx context.Context) (*Facts, error) {
	f := &Facts{Kind: t.Kind, Version: t.Version}
	return f, f.askLogin(ctx, t.Client, Namespace{})
}

// may reports whether the user has all the actions on a collection, or with db "" on the cluster.
func (f *Facts) may(db, collection string, actions ...string) Answer {
	if f.User == "" {
		return Yes
	}
	if f.privileges == nil {
		return Unknown
	}
	for _, action := range actions {
		if !f.has(db, collection, action) {
			return No
		}
	}
	return Yes
}

// Lacks lists those of the actions that the user has not on a collection. Nobody logged in, or a server that does not tell, lacks none.
func (f *Facts) Lacks(db, collection string, actions ...string) (missing []string) {
	for _, a := range actions {
		if f.may(db, collection, a) == No {
			missing = append(missing, a)
		}
	}
	return missing
}

func (f *Facts) has(db, collection, action string) bool {
	for _, p := range f.privileges {
		r := p.Resource
		covers := r.Any || db == "" && r.Cluster
		if db != "" && r.DB != nil && r.Collection != nil {
			covers = covers || (*r.DB == "" || *r.DB == db) && (*r.Collection == "" || *r.Collection == collection)
		}
		if !covers {
			continue
		}
		for _, a := range p.Actions {
			if a == action || a == "anyAction" {
				return true
			}
		}
	}
	return false
}

// askScripting has a filter parsed that needs JavaScript, on a collection that does not exist.
func (f *Facts) askScripting(ctx context.Context, c *mongo.Client, ns Namespace) error {
	if f.Scripting == No {
		return nil
	}
	err := c.Database(ns.DB).RunCommand(ctx, bson.D{
		{Key: "find", Value: "mrbench_no_such_collection"},
		{Key: "filter", Value: bson.D{{Key: "$where", Value: "return true"}}},
		{Key: "limit", Value: 1},
	}).Err()
	if err == nil {
		f.Scripting = Yes
		return nil
	}
	code, text, _ := refusal(err)
	switch {
	case !f.refused(err):
		return fmt.Errorf("find: %w", err)
	case code == codeUnauthorized:
		f.ScriptingWhy = text
	case strings.Contains(text, "script") || strings.Contains(text, "Script") || strings.Contains(text, "JavaScript") || strings.Contains(text, "$where"):
		f.Scripting, f.ScriptingWhy = No, text
	default:
		f.ScriptingWhy = text
	}
	return nil
}

// askSplitVector asks for one split key at most, which is little work.
func (f *Facts) askSplitVector(ctx context.Context, c *mongo.Client, ns Namespace) error {
	err := c.Database(ns.DB).RunCommand(ctx, bson.D{
		{Key: "splitVector", Value: ns.String()},
		{Key: "keyPattern", Value: bson.D{{Key: "_id", Value: 1}}},
		{Key: "maxChunkSizeBytes", Value: 32 << 20},
		{Key: "maxSplitPoints", Value: 1},
	}).Err()
	code, text, _ := refusal(err)
	switch {
	case err == nil, code == codeNotFound:
		f.SplitVector = Yes
	case !f.refused(err):
		return fmt.Errorf("splitVector: %w", err)
	case code == codeUnauthorized:
		f.SplitVector, f.SplitVectorWhy = No, "it needs the role clusterManager: "+text
	case code == codeUnknownCommand:
		f.SplitVector, f.SplitVectorWhy = No, "this server has no such command"
	case code == codeNotPossibleHere:
		f.SplitVector, f.SplitVectorWhy = No, "not through mongos, on a sharded collection: "+text
	default:
		f.SplitVector, f.SplitVectorWhy = No, text
	}
	return nil
}
