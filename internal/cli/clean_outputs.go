package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// outputs drops what earlier runs left in databases that are not theirs: those that the record names, and --out-db.
func (c *cleaner) outputs(ctx context.Context) error {
	var dbs []string
	if c.o.outDB != "" {
		dbs = append(dbs, c.o.outDB)
	}
	for _, k := range c.known {
		if db, _, ok := strings.Cut(k.Name, "."); ok && k.Kind == kindOutput && !slices.Contains(dbs, db) {
			dbs = append(dbs, db)
		}
	}
	for _, db := range dbs {
		if err := c.outputsIn(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func (c *cleaner) outputsIn(ctx context.Context, name string) error {
	db := c.t.Client.Database(name)
	found, err := db.ListCollectionNames(ctx, bson.D{}, options.ListCollections().SetNameOnly(true).SetAuthorizedCollections(true))
	if err != nil {
		return fmt.Errorf("list collections of %s: %w", name, err)
	}
	slices.SortFunc(found, ownersLast)
	kept := map[string]bool{} // runs of which something was left alone
	for _, coll := range found {
		m := outputCollection.FindStringSubmatch(coll)
		if m == nil {
			continue
		}
		full := name + "." + coll
		recorded := slices.ContainsFunc(c.known, func(k creation) bool { return k.Kind == kindOutput && k.Name == full })
		o, err := ownerIn(ctx, db.Collection(ownerOf(m[1])))
		if err != nil {
			return err
		}
		drop, reason := c.verdict(o, recorded, m[1])
		if isOwner := coll == ownerOf(m[1]); isOwner && kept[m[1]] {
			drop, reason = false, "the mark of collections that are left alone"
		}
		kept[m[1]] = kept[m[1]] || !drop
		if drop && !c.o.dryRun {
			if err := db.Collection(coll).Drop(ctx); err != nil {
				return fmt.Errorf("drop %s: %w", full, err)
			}
		}
		if err := c.done(kindOutput, full, drop, reason); err != nil {
			return err
		}
	}
	// What is recorded and gone needs no record any more.
	for _, k := range c.known {
		coll, in := strings.CutPrefix(k.Name, name+".")
		if k.Kind == kindOutput && in && !slices.Contains(found, coll) && !c.o.dryRun {
			k.Dropped, k.Time = true, c.app.env.Now()
			if err := c.record.add(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownersLast orders names so that the mark of a run comes after what it marks.
func ownersLast(a, b string) int {
	x, y := strings.HasSuffix(a, ownerSuffix), strings.HasSuffix(b, ownerSuffix)
	switch {
	case x == y:
		return strings.Compare(a, b)
	case x:
		return 1
	}
	return -1
}
