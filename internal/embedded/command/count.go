package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// count counts the documents that match a query.
func count(ctx context.Context, c *call) error {
	r, err := c.parseCount()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	n, err := r.count(ctx, c.s, snap)
	if err != nil {
		return err
	}
	c.count("n", n)
	return nil
}

func (c *call) parseCount() (*read, error) {
	r := &read{needs: []string{}}
	var err error
	if r.ns, err = c.readNS(); err != nil {
		return nil, err
	}
	if r.filter, err = c.document("query"); err != nil {
		return nil, err
	}
	for _, name := range []string{"skip", "limit"} {
		if v := c.arg(name); !v.IsNullish() && !v.IsNumber() {
			return nil, mongoerr.New(mongoerr.BadValue, "%s value is not a valid number", name)
		}
	}
	if r.skip, err = c.natural("skip", "Skip"); err != nil {
		return nil, err
	}
	if r.limit, err = c.whole("limit", 0); err != nil {
		return nil, err
	}
	if r.limit < 0 {
		r.limit = -r.limit // the shell's way of asking for one batch
	}
	if r.hint, err = hint("count", c.arg("hint")); err != nil {
		return nil, err
	}
	return r, r.parse()
}

func (r *read) count(ctx context.Context, s *Server, snap *store.Snap) (int64, error) {
	coll := snap.Collection(r.ns)
	if coll != nil && !coll.IsView() && r.parsedFilter.Empty() && r.hint.IsMissing() {
		n := max(snap.Stats(coll).Documents-r.skip, 0)
		if r.limit > 0 {
			n = min(n, r.limit)
		}
		return n, nil
	}
	defer r.watch(ctx)()
	src, err := r.open(ctx, s, snap)
	if err != nil || src == nil {
		return 0, err
	}
	return drain(ctx, src, nil)
}

// drain counts what src gives and closes it. each, when given, sees every document.
func drain(ctx context.Context, src query.Source, each func(bsonx.Doc) error) (n int64, err error) {
	defer func() {
		if e := src.Close(); err == nil {
			err = e
		}
	}()
	for {
		block, err := src.Next(ctx)
		if err != nil || len(block) == 0 {
			return n, err
		}
		n += int64(len(block))
		if each == nil {
			continue
		}
		for _, d := range block {
			if err := each(d); err != nil {
				return n, err
			}
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
	}
}
