package cli

import (
	"context"
	"fmt"
	"strings"

	"mrbench/internal/target"
)

// need is what a command has to be allowed to do before it begins.
type need struct {
	db, coll string
	actions  []string
	role     string // that has them
}

// allowed says which right is missing, and the role that has it. What the server does not tell is found out on the way.
func allowed(f *target.Facts, needs ...need) error {
	for _, n := range needs {
		if missing := f.Lacks(n.db, n.coll, n.actions...); len(missing) > 0 {
			return withCode(exitFailed, "user %s lacks %s on %s.%s: grant the role %s on %s", f.User, strings.Join(missing, ", "), n.db, n.coll, n.role, n.db)
		}
	}
	return nil
}

// mayDo asks the server what its user may do, and is an error when something that is needed is missing.
func mayDo(ctx context.Context, t *target.Target, needs ...need) error {
	f, err := t.Rights(ctx)
	if err != nil {
		return err
	}
	return allowed(f, needs...)
}

func toRead(ns target.Namespace) need { return need{ns.DB, ns.Coll, []string{"find"}, "read"} }

// toSeed is what a load needs. exists says that the collection is there.
func toSeed(ns target.Namespace, o seedOptions, exists bool) need {
	actions := []string{"find", "insert"}
	if !exists || o.drop {
		actions = append(actions, "createCollection")
	}
	if exists && o.drop {
		actions = append(actions, "dropCollection")
	}
	if o.index != "none" {
		actions = append(actions, "createIndex")
	}
	return need{ns.DB, ns.Coll, actions, "readWrite"}
}

// mayPrepare says what is missing for reading the source, and for the documents and the index that a run may make.
func (m *measurement) mayPrepare(ctx context.Context, f *target.Facts) error {
	ns := m.app.common.ns
	needs := []need{toRead(ns)}
	if m.o.docs > 0 {
		_, exists, err := collectionUUID(ctx, m.coll.Database(), m.coll.Name())
		if err != nil {
			return err
		}
		if !exists {
			needs = append(needs, toSeed(ns, seedDefaults, false))
		}
	}
	if m.o.createIndex {
		needs = append(needs, need{ns.DB, ns.Coll, []string{"createIndex"}, "readWrite"})
	}
	return allowed(f, needs...)
}

// roleFor is a built-in role that has a command's rights, and where it has to be granted.
func roleFor(command, db string) string {
	switch strings.ToLower(command) {
	case "find", "count", "distinct", "explain", "listcollections", "listindexes", "collstats", "dbstats":
		return "read on " + db
	case "splitvector":
		return "clusterManager on admin"
	case "serverstatus", "listdatabases":
		return "clusterMonitor on admin"
	case "dropdatabase":
		return "dbAdmin on " + db
	case "renamecollection":
		return "readWriteAnyDatabase on admin"
	}
	return "readWrite on " + db
}

// rightText adds to an error of the server what right is missing, where it does not say so yet.
func (a *app) rightText(err error, text string) string {
	why := lackingRight(err)
	if why == "" || strings.Contains(text, why) || strings.Contains(text, " lacks ") {
		return text
	}
	if user := target.UserOf(a.common.uri); user != "" {
		why = strings.Replace(why, "the user", "user "+user, 1)
	}
	return fmt.Sprintf("%s; %s", text, why)
}
