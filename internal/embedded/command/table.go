package command

import (
	"context"
	"slices"
)

// command is one line of the table.
type command struct {
	name    string
	aliases []string
	help    string
	kind    opKind
	args    []string // fields it takes besides the first and the generic ones; nil: any
	run     func(context.Context, *call) error

	admin    bool // only on the admin database
	reads    bool // reads a collection, so it may run on a secondary (listCommands says so)
	writes   bool
	explains bool // explain takes it
	legacy   bool // may come as OP_QUERY: what old drivers begin a connection with
	rule     rule // from rules
	session  bool // works on sessions, so it is not stopped by killSessions
}

// table finds commands by name or alias.
type table struct {
	list   []*command // by name
	byName map[string]*command
}

func newTable() *table {
	t := &table{byName: map[string]*command{}}
	rules := rules()
	for _, part := range [][]command{handshakeCommands(), userCommands(), crudCommands(), catalogCommands(), statsCommands(), adminCommands()} {
		for i := range part {
			c := &part[i]
			c.rule = rules[c.name]
			t.list = append(t.list, c)
			t.byName[c.name] = c
			for _, a := range c.aliases {
				t.byName[a] = c
			}
		}
	}
	slices.SortFunc(t.list, func(a, b *command) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return t
}

func (t *table) find(name []byte) *command { return t.byName[string(name)] }

func handshakeCommands() []command {
	return []command{
		{name: "hello", run: hello, legacy: true, reads: true, help: "what this server is and what it can do"},
		{name: "isMaster", aliases: []string{"ismaster"}, run: hello, legacy: true, reads: true, help: "hello, as older drivers ask"},
		{name: "ping", run: ping, legacy: true, reads: true, help: "answers, nothing else"},
		{name: "buildInfo", aliases: []string{"buildinfo"}, run: buildInfo, legacy: true, reads: true, help: "version, and mrbench's own version in the field mrbench"},
		{name: "connectionStatus", run: connectionStatus, reads: true, help: "who is authenticated on this connection"},
		{name: "whatsmyuri", aliases: []string{"whatsmyip"}, run: whatsMyURI, reads: true, help: "the client's address as the server sees it"},
		{name: "startSession", run: startSession, session: true, help: "begins a logical session"},
		{name: "endSessions", run: endSessions, session: true, help: "ends logical sessions and closes their cursors"},
		{name: "refreshSessions", run: refreshSessions, session: true, help: "keeps logical sessions alive"},
		{name: "killSessions", run: killSessions, session: true, help: "ends logical sessions and stops what runs in them"},
		{name: "killAllSessions", run: killAllSessions, session: true, help: "ends all logical sessions"},
		{name: "abortTransaction", run: noTransactions, admin: true, help: "refused: there are no transactions"},
		{name: "commitTransaction", run: noTransactions, admin: true, help: "refused: there are no transactions"},
	}
}

func userCommands() []command {
	return []command{
		{name: "saslStart", run: saslStart, help: "begins to log in"},
		{name: "saslContinue", run: saslContinue, help: "goes on logging in"},
		{name: "logout", run: logout, help: "ends what logging in began"},
		{name: "createUser", run: createUser, args: createUserArgs, help: "makes a user"},
		{name: "updateUser", run: updateUser, args: createUserArgs, help: "changes a user"},
		{name: "dropUser", run: dropUser, args: []string{}, help: "removes a user"},
		{name: "dropAllUsersFromDatabase", run: dropAllUsers, args: []string{}, help: "removes the users of a database"},
		{name: "grantRolesToUser", run: grantRolesToUser, args: []string{"roles"}, help: "gives a user more roles"},
		{name: "revokeRolesFromUser", run: revokeRolesFromUser, args: []string{"roles"}, help: "takes roles away from a user"},
		{name: "usersInfo", run: usersInfo, reads: true, args: usersInfoArgs, help: "the users"},
		{name: "rolesInfo", run: rolesInfo, reads: true, args: []string{"showBuiltinRoles", "showPrivileges", "showAuthenticationRestrictions"}, help: "the built-in roles"},
	}
}

func crudCommands() []command {
	return []command{
		{name: "insert", run: insert, kind: opInsert, writes: true, args: []string{"documents", "ordered", "bypassDocumentValidation"}, help: "adds documents"},
		{name: "update", run: update, kind: opUpdate, writes: true, explains: true, args: []string{"updates", "ordered", "bypassDocumentValidation", "let"}, help: "changes documents"},
		{name: "delete", run: remove, kind: opDelete, writes: true, explains: true, args: []string{"deletes", "ordered", "let"}, help: "removes documents"},
		{name: "findAndModify", aliases: []string{"findandmodify"}, run: findAndModify, writes: true, explains: true, args: findAndModifyArgs, help: "changes or removes one document and returns it"},
		{name: "find", run: find, kind: opQuery, reads: true, explains: true, args: findArgs, help: "opens a cursor on a collection"},
		{name: "getMore", run: getMore, kind: opGetMore, reads: true, args: []string{"collection", "batchSize", "term", "lastKnownCommittedOpTime"}, help: "the next batch of a cursor"},
		{name: "killCursors", run: killCursors, reads: true, args: []string{"cursors"}, help: "closes cursors"},
		{name: "count", run: count, reads: true, explains: true, args: []string{"query", "limit", "skip", "hint", "fields"}, help: "counts documents"},
		{name: "distinct", run: distinct, reads: true, explains: true, args: []string{"key", "query", "hint"}, help: "the different values of a path"},
		{name: "aggregate", run: aggregate, reads: true, explains: true, args: aggregateArgs, help: "runs a pipeline"},
		{name: "mapReduce", aliases: []string{"mapreduce"}, run: mapReduce, reads: true, writes: true, explains: true, help: "map, reduce and finalize in JavaScript"},
		{name: "explain", run: explain, reads: true, args: []string{"verbosity"}, help: "how a command would read"},
	}
}

func catalogCommands() []command {
	return []command{
		{name: "create", run: create, writes: true, args: createArgs, help: "makes a collection or a view"},
		{name: "drop", run: drop, writes: true, args: []string{}, help: "removes a collection"},
		{name: "dropDatabase", run: dropDatabase, writes: true, args: []string{}, help: "removes a database"},
		{name: "renameCollection", run: renameCollection, writes: true, admin: true, args: []string{"to", "dropTarget", "stayTemp"}, help: "gives a collection another name"},
		{name: "createIndexes", run: createIndexes, writes: true, args: []string{"indexes", "commitQuorum", "ignoreUnknownIndexOptions"}, help: "builds indexes"},
		{name: "listIndexes", run: listIndexes, reads: true, args: []string{"cursor"}, help: "the indexes of a collection"},
		{name: "dropIndexes", aliases: []string{"deleteIndexes"}, run: dropIndexes, writes: true, args: []string{"index"}, help: "removes indexes"},
		{name: "listCollections", run: listCollections, reads: true, args: []string{"filter", "nameOnly", "authorizedCollections", "cursor"}, help: "the collections of a database"},
		{name: "listDatabases", run: listDatabases, reads: true, admin: true, args: []string{"filter", "nameOnly", "authorizedDatabases"}, help: "the databases"},
		{name: "splitVector", run: splitVector, reads: true, args: []string{"keyPattern", "min", "max", "maxChunkSize", "maxChunkSizeBytes", "maxSplitPoints", "maxChunkObjects", "force"}, help: "keys that cut a collection into even pieces"},
	}
}

func statsCommands() []command {
	return []command{
		{name: "collStats", aliases: []string{"collstats"}, run: collStats, reads: true, args: []string{"scale", "verbose"}, help: "the size of a collection"},
		{name: "dbStats", aliases: []string{"dbstats"}, run: dbStats, reads: true, args: []string{"scale", "freeStorage"}, help: "the size of a database"},
		{name: "dataSize", aliases: []string{"datasize"}, run: dataSize, reads: true, args: []string{"min", "max", "keyPattern", "estimate"}, help: "the bytes of a collection's documents"},
		{name: "validate", run: validate, reads: true, args: []string{"full", "repair", "metadata", "checkBSONConformance", "background", "scandata"}, help: "checks a collection against its indexes"},
		{name: "serverStatus", run: serverStatus, reads: true, help: "counters of this process"},
		{name: "hostInfo", run: hostInfo, reads: true, admin: true, help: "the machine"},
		{name: "listCommands", run: listCommands, reads: true, help: "this list"},
	}
}

func adminCommands() []command {
	return []command{
		{name: "getParameter", run: getParameter, reads: true, admin: true, help: "the value of a server parameter"},
		{name: "setParameter", run: setParameter, admin: true, help: "refused: there is nothing to set"},
		{name: "getCmdLineOpts", run: getCmdLineOpts, reads: true, admin: true, help: "how the process was started"},
		{name: "getLog", run: getLog, reads: true, admin: true, help: "recent log lines (none are kept)"},
		{name: "getFreeMonitoringStatus", run: freeMonitoring, reads: true, admin: true, help: "disabled; shells ask for it"},
		{name: "currentOp", run: currentOp, reads: true, admin: true, help: "the commands that run now"},
		{name: "killOp", run: killOp, admin: true, args: []string{"op"}, help: "stops a command"},
		{name: "fsync", run: fsync, admin: true, help: "brings what was written to stable storage"},
		{name: "profile", run: profile, reads: true, help: "the profiler's level, which is 0"},
		{name: "replSetGetStatus", run: replSetGetStatus, reads: true, admin: true, help: "refused: not a replica set"},
	}
}
