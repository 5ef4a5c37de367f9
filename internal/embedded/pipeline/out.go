package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

type outStage struct{ ns store.NS }

func parseOut(ps *parser, arg bsonx.Value) (stage, error) {
	s := &outStage{ns: ps.o.NS}
	switch arg.Type {
	case tString:
		s.ns.Coll = arg.Str()
	case tDoc:
		var db, coll bsonx.Value
		for it := arg.Elems(); it.Next(); {
			switch string(it.Name()) {
			case "db":
				db = it.Value()
			case "coll":
				coll = it.Value()
			default:
				return nil, errf(40415, "BSON field '$out.%s' is an unknown field.", it.Name())
			}
		}
		if db.Type != tString || coll.Type != tString {
			return nil, errf(16994, "If an object is passed to $out it must have exactly 2 string fields: 'db' and 'coll'")
		}
		s.ns = store.NS{DB: db.Str(), Coll: coll.Str()}
	default:
		return nil, errf(16990, "$out only supports a string or object argument, but found %s", typeName(arg))
	}
	if err := checkTarget("$out", s.ns); err != nil {
		return nil, err
	}
	return s, nil
}

// checkTarget refuses names that no output may have.
func checkTarget(stage string, ns store.NS) error {
	switch {
	case ns.Coll == "" || ns.DB == "":
		return errf(mongoerr.InvalidNamespace, "Invalid %s target namespace, %s", stage, ns)
	case len(ns.Coll) >= 7 && ns.Coll[:7] == "system.":
		return errf(17385, "Can't %s to special collection: %s", stage, ns.Coll)
	}
	for i := range len(ns.Coll) {
		if ns.Coll[i] == '$' || ns.Coll[i] == 0 {
			return errf(mongoerr.InvalidNamespace, "Invalid %s target namespace, %s", stage, ns)
		}
	}
	return nil
}

func (s *outStage) target() store.NS { return s.ns }

func (s *outStage) deps(d *deps) bool {
	d.whole = true
	return false
}

func (s *outStage) open(r *run, in query.Source) (query.Source, error) {
	return &funcSource{in: in, fn: func(ctx context.Context) (query.Source, error) { return nil, s.run(ctx, r, in) }}, nil
}

// run fills a collection that nobody sees and puts it in the place of the target at once.
func (s *outStage) run(ctx context.Context, r *run, in query.Source) error {
	if c := r.snap.Collection(s.ns); c != nil {
		if c.Options.Get("capped").Truthy() {
			return errf(17152, "namespace '%s' is capped so it can't be used for $out", s.ns)
		}
		if c.IsView() {
			return errf(mongoerr.CommandNotSupportedOnView, "$out target %s is a view", s.ns)
		}
	}
	b, err := r.o.DB.NewBuilder(ctx, s.ns, true)
	if err != nil {
		return err
	}
	for {
		docs, err := in.Next(ctx)
		if err != nil {
			_ = b.Abort()
			return err
		}
		if len(docs) == 0 {
			break
		}
		for _, d := range docs {
			err := storable(d)
			if err == nil {
				err = b.Add(d)
			}
			if err != nil {
				_ = b.Abort()
				return outError(err)
			}
		}
	}
	if err := b.Publish(ctx); err != nil {
		_ = b.Abort()
		return outError(err)
	}
	return nil
}

// outError gives duplicates the code that $out has for them.
func outError(err error) error {
	if mongoerr.CodeOf(err) == mongoerr.DuplicateKey {
		return errf(16996, "insert for $out failed: %v", err)
	}
	return err
}
