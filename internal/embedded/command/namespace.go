package command

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

const (
	maxDBName    = 63
	maxNamespace = 255 // bytes of "db.coll"
)

func checkDB(name string) error {
	if name == "" || len(name) > maxDBName || strings.ContainsAny(name, "/\\. \"$\x00") {
		return mongoerr.New(mongoerr.InvalidNamespace, "Invalid database name: '%s'", name)
	}
	return nil
}

// collName reads a collection's name from a command's first field.
func (c *call) collName(v bsonx.Value) (string, error) {
	if v.Type != bsonx.TypeString && v.Type != bsonx.TypeSymbol {
		return "", mongoerr.New(mongoerr.BadValue, "collection name has invalid type %s", bsonx.TypeName(v.Type))
	}
	return v.Str(), nil
}

// readNS is the namespace that a reading command names.
func (c *call) readNS() (store.NS, error) {
	name, err := c.collName(c.target())
	if err != nil {
		return store.NS{}, err
	}
	ns := store.NS{DB: c.db, Coll: name}
	c.op.setNS(ns)
	return ns, checkReadable(ns)
}

// writeNS is the namespace that a writing command names.
func (c *call) writeNS() (store.NS, error) {
	ns, err := c.readNS()
	if err != nil {
		return ns, err
	}
	return ns, checkWritable(ns)
}

func checkReadable(ns store.NS) error {
	if ns.Coll == "" || ns.Coll[0] == '.' || strings.IndexByte(ns.Coll, 0) >= 0 {
		return mongoerr.New(mongoerr.InvalidNamespace, "Invalid namespace specified '%s.%s'", ns.DB, ns.Coll)
	}
	return nil
}

func checkWritable(ns store.NS) error {
	if err := checkReadable(ns); err != nil {
		return err
	}
	switch {
	case strings.Contains(ns.Coll, "$"):
		return mongoerr.New(mongoerr.InvalidNamespace, "invalid collection name")
	case strings.HasPrefix(ns.Coll, "system."):
		return mongoerr.New(mongoerr.InvalidNamespace, "cannot write to '%s.%s'", ns.DB, ns.Coll)
	case len(ns.DB)+1+len(ns.Coll) > maxNamespace:
		return mongoerr.New(mongoerr.InvalidNamespace, "fully qualified namespace %s.%s is too long (max: %d bytes)", ns.DB, ns.Coll, maxNamespace)
	}
	return nil
}

// parseNS splits "db.coll" as renameCollection and splitVector take it.
func parseNS(full string) (store.NS, error) {
	db, coll, ok := strings.Cut(full, ".")
	ns := store.NS{DB: db, Coll: coll}
	if !ok || checkDB(db) != nil || checkReadable(ns) != nil {
		return ns, mongoerr.New(mongoerr.InvalidNamespace, "Invalid namespace specified '%s'", full)
	}
	return ns, nil
}
