package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

var findArgs = []string{
	"filter", "sort", "projection", "hint", "skip", "limit", "batchSize", "singleBatch", "max", "min", "let",
	"returnKey", "showRecordId", "tailable", "awaitData", "oplogReplay", "noCursorTimeout", "allowPartialResults",
	"allowDiskUse", "ntoreturn",
}

// find opens a cursor on a collection or view.
func find(ctx context.Context, c *call) error {
	r, err := c.parseFind()
	if err != nil {
		return err
	}
	size, err := batchSize("find", "batchSize", c.arg("batchSize"), firstBatchDefault)
	if err != nil {
		return findType(err)
	}
	single, err := c.flag("singleBatch", false)
	if err != nil {
		return findType(err)
	}
	cur := c.s.newCursor(r.ns)
	defer cur.release()
	if cur.src, err = r.open(ctx, c.s, cur.snap); err != nil {
		return err
	}
	if cur.src == nil {
		c.emptyReply(cur.ns)
		return nil
	}
	cur.project, cur.scripts = r.project, &r.scripts
	if r.limit > 0 {
		cur.left = r.limit
	}
	return c.firstReply(ctx, cur, size, false, single)
}

// parseFind reads find's arguments but those of its batches.
func (c *call) parseFind() (*read, error) {
	r := &read{}
	var err error
	if r.ns, err = c.readNS(); err != nil {
		return nil, err
	}
	if err = c.findArguments(r); err != nil {
		return nil, findType(err)
	}
	if err = r.parse(); err != nil {
		return nil, err
	}
	return r, c.parseFindProjection(r)
}

// findType gives find's code for an argument of the wrong type, which is not that of other commands.
func findType(err error) error {
	if mongoerr.CodeOf(err) != mongoerr.TypeMismatch {
		return err
	}
	return mongoerr.New(mongoerr.FailedToParse, "Failed to parse: %v", err)
}

// findArguments reads what says which documents come, and in which order.
func (c *call) findArguments(r *read) (err error) {
	for _, f := range [...]struct {
		name string
		to   *bsonx.Doc
	}{{"filter", &r.filter}, {"sort", &r.sort}, {"let", &r.let}, {"min", &r.min}, {"max", &r.max}} {
		if *f.to, err = c.document(f.name); err != nil {
			return err
		}
	}
	if r.min.Len() == 0 {
		r.min = nil
	}
	if r.max.Len() == 0 {
		r.max = nil
	}
	if r.skip, err = c.natural("skip", "Skip"); err != nil {
		return err
	}
	if r.limit, err = c.natural("limit", "Limit"); err != nil {
		return err
	}
	if r.hint, err = hint("find", c.arg("hint")); err != nil {
		return err
	}
	disk, err := c.flag("allowDiskUse", true)
	if err != nil {
		return err
	}
	r.noDisk = !disk
	return c.refuseFindOptions()
}

func (c *call) parseFindProjection(r *read) error {
	d, err := c.document("projection")
	if err != nil || d.Len() == 0 {
		return findType(err)
	}
	if r.project, err = query.ParseProjection(d, r.scope); err != nil {
		return err
	}
	needs := []string{}
	if !r.project.Deps(func(path string) { needs = append(needs, path) }) {
		r.needs = needs
	}
	return nil
}

// refuseFindOptions answers for what is not there, rather than reading something else.
func (c *call) refuseFindOptions() error {
	for _, name := range []string{"returnKey", "showRecordId"} {
		on, err := c.flag(name, false)
		if err != nil {
			return err
		}
		if on {
			return mongoerr.New(mongoerr.CommandNotSupported, "find option %s is not supported: records have no ids of their own here", name)
		}
	}
	on, err := c.flag("tailable", false)
	if err == nil && on {
		err = mongoerr.New(mongoerr.BadValue, "error processing query: tailable cursor requested on non capped collection")
	}
	return err
}
