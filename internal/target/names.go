package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Namespace is a database and a collection.
type Namespace struct{ DB, Coll string }

func (n Namespace) String() string { return n.DB + "." + n.Coll }

// systemDatabases are never worked on.
var systemDatabases = []string{"admin", "config", "local"}

// ParseNamespace reads "database.collection" and refuses system databases and collections.
func ParseNamespace(s string) (Namespace, error) {
	db, coll, ok := strings.Cut(s, ".")
	switch {
	case !ok || db == "" || coll == "":
		return Namespace{}, errors.New("a namespace is database.collection, such as test.uniques")
	case slices.Contains(systemDatabases, db):
		return Namespace{}, fmt.Errorf("database %s belongs to the server; use another one (admin, config and local are refused)", db)
	case strings.HasPrefix(coll, "system."):
		return Namespace{}, fmt.Errorf("collection %s belongs to the server; use another one", coll)
	case strings.ContainsAny(db, "/\\ \"$*<>:|?\x00"):
		return Namespace{}, fmt.Errorf("database name %q holds a character that servers refuse", db)
	case strings.ContainsAny(coll, "$\x00"):
		return Namespace{}, fmt.Errorf("collection name %q holds a character that servers refuse", coll)
	case len(db) > 63:
		return Namespace{}, fmt.Errorf("database name %q is longer than 63 bytes", db)
	}
	return Namespace{db, coll}, nil
}
