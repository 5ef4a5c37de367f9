package splitter

import (
	"slices"

	"go.mongodb.org/mongo-driver/bson"
)

// Plan is what an explain reply says of the winning plans in it: one for each
// shard or stage.
type Plan struct {
	Indexes        []string // names, each once
	Fetches        bool     // documents are fetched after an index
	Scans          bool     // a collection scan
	Multikey       bool     // an index with array elements is used
	Shards         []string // names of those that are asked, where a router explains
	multikeyPaths  []string // fields of it that hold arrays, where the server says
	multikeyListed bool
}

// Covered says that an index alone answers.
func (p Plan) Covered() bool { return len(p.Indexes) > 0 && !p.Fetches && !p.Scans }

// ReadPlan reads an explain reply of find, count or aggregate in any of the
// shapes that servers have given it since 3.6: queryPlanner at the top, inside
// stages[0].$cursor, below shards, with the classic plan or with queryPlan
// inside winningPlan. Rejected plans and execution statistics are passed over.
func ReadPlan(explain bson.Raw) Plan {
	var p Plan
	p.Shards = shardsOf(explain)
	p.find(explain)
	return p
}

// find looks for winning plans.
func (p *Plan) find(d bson.Raw) {
	elements, _ := d.Elements()
	for _, e := range elements {
		switch e.Key() {
		case "winningPlan":
			if doc, ok := e.Value().DocumentOK(); ok {
				p.stage(doc)
			}
		case "rejectedPlans", "executionStats", "command", "serverInfo", "parsedQuery", "query":
		default:
			p.into(e.Value(), p.find)
		}
	}
}

// stage reads one stage of a winning plan and those below it.
func (p *Plan) stage(d bson.Raw) {
	if name, ok := d.Lookup("stage").StringValueOK(); ok {
		switch name {
		case "FETCH":
			p.Fetches = true
		case "COLLSCAN", "CLUSTERED_IXSCAN", "IDHACK":
			p.Scans = true
		}
	}
	if index, ok := d.Lookup("indexName").StringValueOK(); ok && !slices.Contains(p.Indexes, index) {
		p.Indexes = append(p.Indexes, index)
	}
	if b, ok := d.Lookup("isMultiKey").BooleanOK(); ok && b {
		p.Multikey = true
	}
	if paths, ok := d.Lookup("multiKeyPaths").DocumentOK(); ok {
		p.multikeyListed = true
		elements, _ := paths.Elements()
		for _, e := range elements {
			if a, ok := e.Value().ArrayOK(); ok && len(a) > 5 { // five bytes are an empty array
				p.multikeyPaths = append(p.multikeyPaths, e.Key())
			}
		}
	}
	elements, _ := d.Elements()
	for _, e := range elements {
		switch e.Key() {
		case "slotBasedPlan", "rejectedPlans", "indexBounds", "filter", "keyPattern", "multiKeyPaths", "transformBy":
		default:
			p.into(e.Value(), p.stage)
		}
	}
}

func (p *Plan) into(v bson.RawValue, visit func(bson.Raw)) {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		visit(v.Document())
	case bson.TypeArray:
		values, _ := v.Array().Values()
		for _, w := range values {
			if d, ok := w.DocumentOK(); ok {
				visit(d)
			}
		}
	}
}

// multikeyOn says whether the field holds arrays, as far as the index knows: it
// remembers arrays that are gone.
func (p *Plan) multikeyOn(field string) bool {
	if p.multikeyListed {
		return slices.Contains(p.multikeyPaths, field)
	}
	return p.Multikey
}

// shardsOf reads which shards a router asks: the names in "shards" for a pipeline, and in the winning plan for the rest. A router hands a
// pipeline for one shard on, and so it does its reply in some versions: then there is nothing to read.
func shardsOf(explain bson.Raw) (names []string) {
	if d, ok := explain.Lookup("shards").DocumentOK(); ok {
		elements, _ := d.Elements()
		for _, e := range elements {
			names = append(names, e.Key())
		}
	}
	if list, ok := explain.Lookup("queryPlanner", "winningPlan", "shards").ArrayOK(); ok {
		values, _ := list.Values()
		for _, v := range values {
			if d, ok := v.DocumentOK(); ok {
				if name, ok := d.Lookup("shardName").StringValueOK(); ok {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}
