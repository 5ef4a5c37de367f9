package mimic

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// outputOf says how a mapReduce writes (replace, merge, reduce), and where; how is "" when it does not.
func outputOf(c mongofake.Command) (how, ns string) {
	out := c.Body.Lookup("out")
	if name, ok := out.StringValueOK(); ok {
		return "replace", c.DB + "." + name
	}
	d, ok := out.DocumentOK()
	if !ok {
		return "", ""
	}
	db := c.DB
	if other, ok := d.Lookup("db").StringValueOK(); ok {
		db = other
	}
	for _, how := range []string{"replace", "merge", "reduce"} {
		if name, ok := d.Lookup(how).StringValueOK(); ok {
			return how, db + "." + name
		}
	}
	return "", ""
}

// refuseOutput refuses outputs that a version or router does not write to: a sharded collection without the word before 4.4, and since then, where
// results are written by $merge, a key that is null.
func (s *Server) refuseOutput(ctx context.Context, c mongofake.Command) (bson.D, error) {
	how, ns := outputOf(c)
	switch {
	case how == "":
		return nil, nil
	case !s.atLeast(4, 4):
		if s.c.Topology != Mongos {
			return nil, nil
		}
		if told, _ := c.Body.Lookup("out", "sharded").BooleanOK(); told {
			return nil, nil
		}
		coll, err := s.sharded(ctx, ns)
		if coll != nil {
			return refuse(15920, "Cannot output to a non-sharded collection because sharded collection exists already"), err
		}
		return nil, err
	case how == "replace":
		return nil, nil
	}
	return s.refuseNull(ctx, c)
}

// refuseNull runs the job once for its keys.
func (s *Server) refuseNull(ctx context.Context, c mongofake.Command) (bson.D, error) {
	var body bson.D
	if err := bson.Unmarshal(c.Body, &body); err != nil {
		return nil, err
	}
	body = slices.DeleteFunc(without(body, "jsMode", "verbose", "comment"), func(e bson.E) bool { return e.Key[0] == '$' || e.Key == "lsid" || e.Key == "txnNumber" })
	raw, err := s.inside.Database(c.DB).RunCommand(ctx, replace(body, "out", bson.D{{Key: "inline", Value: 1}})).Raw()
	if err != nil {
		return nil, nil //nolint:nilerr // the engine refuses the job itself
	}
	list, _ := raw.Lookup("results").ArrayOK()
	results, err := list.Values()
	for _, r := range results {
		if r.Document().Lookup("_id").Type == bson.TypeNull {
			return refuse(51132, "$merge write error: 'on' field '_id' cannot be missing, null, undefined or an array"), nil
		}
	}
	return nil, err
}
