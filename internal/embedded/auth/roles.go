package auth

import (
	"maps"
	"slices"
)

// Rights is a set of things that may be done to a database, or (Monitor, Operate) to the server.
type Rights uint8

// The rights that roles are made of.
const (
	Read    Rights = 1 << iota // documents, indexes, sizes
	Write                      // documents, collections, indexes
	Manage                     // collections, indexes, checks, but not documents
	Users                      // of a database
	DropDB                     // whole databases
	Monitor                    // what the server does
	Operate                    // stop what runs, settings

	All = Read | Write | Manage | Users | DropDB | Monitor | Operate
)

// Role is a built-in role on a database.
type Role struct {
	Role string `bson:"role"`
	DB   string `bson:"db"`
}

// builtin says what a role gives.
type builtin struct {
	rights   Rights
	anywhere bool // on every database; such roles are admin's alone
}

// builtins are MongoDB's built-in roles, as far as there is something for them to allow.
func builtins() map[string]builtin {
	return map[string]builtin{
		"read":      {rights: Read},
		"readWrite": {rights: Read | Write},
		"dbAdmin":   {rights: Manage | DropDB},
		"userAdmin": {rights: Users},
		"dbOwner":   {rights: Read | Write | Manage | Users | DropDB},

		"readAnyDatabase":      {Read, true},
		"readWriteAnyDatabase": {Read | Write, true},
		"dbAdminAnyDatabase":   {Manage | DropDB, true},
		"userAdminAnyDatabase": {Users, true},
		"clusterMonitor":       {Monitor, true},
		"clusterManager":       {Monitor, true},
		"hostManager":          {Operate, true},
		"clusterAdmin":         {Monitor | Operate | DropDB, true},
		"root":                 {All, true},
	}
}

// RoleNames lists the roles of a database in order.
func RoleNames(db string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(builtins())) {
		if (Role{name, db}).Exists() {
			names = append(names, name)
		}
	}
	return names
}

// Exists reports whether there is such a role on that database.
func (r Role) Exists() bool {
	b, ok := builtins()[r.Role]
	return ok && (!b.anywhere || r.DB == "admin")
}

// Grants are the rights of one user, worked out from its roles.
type Grants struct {
	anywhere Rights
	byDB     map[string]Rights
}

// NewGrants adds up roles; those that do not exist give nothing.
func NewGrants(roles []Role) Grants {
	g := Grants{byDB: map[string]Rights{}}
	all := builtins()
	for _, r := range roles {
		switch b := all[r.Role]; {
		case !r.Exists():
		case b.anywhere:
			g.anywhere |= b.rights
		default:
			g.byDB[r.DB] |= b.rights
		}
	}
	return g
}

// On is what may be done to a database.
func (g Grants) On(db string) Rights { return g.anywhere | g.byDB[db] }

// ByDB gives the databases with rights of their own; "" stands for all.
func (g Grants) ByDB() map[string]Rights {
	m := maps.Clone(g.byDB)
	if g.anywhere != 0 {
		m[""] = g.anywhere
	}
	return m
}
