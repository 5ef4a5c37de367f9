package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mrbench/internal/into"
)

// companions drops what runs put beside results of --into, by the record in the data directory. The results stay, and so does what lies beside
// one that is not complete, for ranges of it are still to come.
func (c *cleaner) companions(ctx context.Context) error {
	unfinished := map[string]bool{}
	var known []creation
	for _, k := range c.known {
		db, coll, _ := strings.Cut(k.Name, ".")
		result, is := into.ResultOf(coll)
		if k.Kind != kindCompanion || !is {
			continue
		}
		full := db + "." + result
		if _, asked := unfinished[full]; !asked {
			open, err := into.Unfinished(ctx, c.t.Client, db, result)
			if err != nil {
				return err
			}
			unfinished[full] = open
		}
		if !slices.ContainsFunc(known, func(o creation) bool { return o.Name == k.Name }) {
			known = append(known, k)
		}
	}
	for _, k := range known {
		if err := c.companion(ctx, k, unfinished); err != nil {
			return err
		}
	}
	return nil
}

func (c *cleaner) companion(ctx context.Context, k creation, unfinished map[string]bool) error {
	dbName, coll, _ := strings.Cut(k.Name, ".")
	result, _ := into.ResultOf(coll)
	db := c.t.Client.Database(dbName)
	_, exists, err := collectionUUID(ctx, db, coll)
	if err != nil {
		return err
	}
	if !exists {
		if c.o.dryRun {
			return nil
		}
		k.Dropped, k.Time = true, c.app.env.Now()
		return c.record.add(k)
	}
	drop, reason := true, fmt.Sprintf("the record and parts of %s.%s, which is complete", dbName, result)
	if unfinished[dbName+"."+result] {
		reason = fmt.Sprintf("ranges of %s.%s are still to come: finish it with run --into, or --data drops this", dbName, result)
		if drop = c.o.data; drop {
			reason = fmt.Sprintf("the record and parts of %s.%s, which was never completed", dbName, result)
		}
	}
	if drop && !c.o.dryRun {
		if err := db.Collection(coll).Drop(ctx); err != nil {
			return fmt.Errorf("drop %s: %w", k.Name, err)
		}
	}
	return c.done(kindCompanion, k.Name, drop, reason)
}
