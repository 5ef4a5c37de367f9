package command

import "mrbench/internal/embedded/auth"

// rule says what a command needs of the user who sends it, where users have to log in.
type rule struct {
	open   bool              // nothing, not even a login
	anyone bool              // a login
	oneOf  auth.Rights       // one of these rights on the command's database
	check  func(*call) error // decides itself
}

// rules holds a line for each command. A command without a line is for nobody who has to log in.
func rules() map[string]rule {
	const reading, altering = auth.Read | auth.Manage | auth.Monitor, auth.Write | auth.Manage
	open, anyone := rule{open: true}, rule{anyone: true}
	needs := func(oneOf auth.Rights) rule { return rule{oneOf: oneOf} }
	asks := func(f func(*call) error) rule { return rule{check: f} }
	return map[string]rule{
		"hello": open, "isMaster": open, "ping": open, "buildInfo": open, "connectionStatus": open, "whatsmyuri": open,
		"saslStart": open, "saslContinue": open, "logout": open,

		"startSession": anyone, "endSessions": anyone, "refreshSessions": anyone, "killSessions": anyone,
		"abortTransaction": anyone, "commitTransaction": anyone, "listCommands": anyone, "rolesInfo": anyone,
		"killCursors":     anyone, // those of the same user
		"listDatabases":   anyone, // shows those that the user has rights on
		"usersInfo":       anyone, // shows the user itself, and others with the right
		"killAllSessions": needs(auth.Operate),

		"find": needs(auth.Read), "count": needs(auth.Read), "distinct": needs(auth.Read), "getMore": needs(reading | auth.Users),
		"aggregate": asks(authorizeAggregate), "mapReduce": asks(authorizeMapReduce), "explain": asks(authorizeExplain),
		"insert": needs(auth.Write), "update": needs(auth.Write), "delete": needs(auth.Write), "findAndModify": needs(auth.Write),

		"create": asks(authorizeCreate), "drop": needs(altering), "createIndexes": needs(altering), "dropIndexes": needs(altering),
		"dropDatabase": needs(auth.DropDB), "renameCollection": asks(authorizeRename),
		"listIndexes": needs(reading), "listCollections": needs(reading), "splitVector": asks(named(auth.Read | auth.Manage)),

		"collStats": needs(reading), "dbStats": needs(reading), "dataSize": asks(named(reading)), "validate": needs(auth.Manage),
		"profile": needs(auth.Manage | auth.Monitor),

		"serverStatus": needs(auth.Monitor), "hostInfo": needs(auth.Monitor), "getParameter": needs(auth.Monitor),
		"getCmdLineOpts": needs(auth.Monitor), "getLog": needs(auth.Monitor), "getFreeMonitoringStatus": needs(auth.Monitor),
		"replSetGetStatus": needs(auth.Monitor), "currentOp": asks(authorizeCurrentOp), "killOp": asks(authorizeKillOp),
		"fsync": needs(auth.Operate), "setParameter": needs(auth.Operate),

		"createUser": needs(auth.Users), "updateUser": needs(auth.Users), "dropUser": needs(auth.Users),
		"dropAllUsersFromDatabase": needs(auth.Users), "grantRolesToUser": needs(auth.Users), "revokeRolesFromUser": needs(auth.Users),
	}
}
