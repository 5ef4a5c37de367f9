package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

var createArgs = []string{
	"capped", "autoIndexId", "idIndex", "size", "max", "storageEngine", "validator", "validationLevel", "validationAction",
	"indexOptionDefaults", "viewOn", "pipeline", "timeseries", "expireAfterSeconds", "clusteredIndex",
	"changeStreamPreAndPostImages", "encryptedFields", "flags", "temp",
}

// create makes a collection or a view.
func create(ctx context.Context, c *call) error {
	ns, err := c.writeNS()
	if err != nil {
		return err
	}
	options, err := c.createOptions()
	if err != nil {
		return err
	}
	if !options.Get("viewOn").IsMissing() {
		snap := c.s.db.Snapshot()
		err := checkView(snap, ns, options)
		_ = snap.Close()
		if err != nil {
			return err
		}
	}
	return c.s.db.Create(ctx, ns, options)
}

// createOptions are the options to be kept. An option that would change what the collection does and is
// not there is refused rather than forgotten.
func (c *call) createOptions() (bsonx.Doc, error) {
	var w builder
	at := w.startTop()
	view := false
	for it := c.body.Iter(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		switch name {
		case "viewOn", "pipeline":
			view = view || name == "viewOn"
			w.value(name, v)
		case "capped", "timeseries", "clusteredIndex", "encryptedFields", "changeStreamPreAndPostImages", "expireAfterSeconds":
			if v.Truthy() {
				return nil, mongoerr.New(mongoerr.InvalidOptions, "collection option %s is not supported", name)
			}
		case "validator":
			if v.Type == docType && v.Doc().Len() > 0 {
				return nil, mongoerr.New(mongoerr.InvalidOptions, "collection option validator is not supported: documents are not checked against rules")
			}
		}
	}
	w.end(at)
	out := bsonx.Doc(w.b)
	if !view && !out.Get("pipeline").IsMissing() {
		return nil, mongoerr.New(mongoerr.InvalidOptions, "'pipeline' requires 'viewOn' to also be specified")
	}
	return out, nil
}
