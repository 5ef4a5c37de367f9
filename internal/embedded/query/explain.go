package query

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// Explain is the winningPlan document: stages IXSCAN, FETCH, COLLSCAN, PROJECTION_COVERED, SORT,
// SKIP, LIMIT, EOF with indexName, keyPattern, isMultiKey, direction and indexBounds as MongoDB shows them.
func (p *Plan) Explain() bsonx.Doc {
	stage := p.explainScan()
	if !p.SortProvided {
		b := newDoc().str("stage", "SORT").set("sortPattern", bsonx.DocValue(p.req.Sort.Doc()))
		if p.req.Limit > 0 {
			b.set("limitAmount", bsonx.Int64(p.req.Limit+p.req.Skip))
		}
		stage = b.set("inputStage", bsonx.DocValue(stage)).doc()
	}
	if p.req.Skip > 0 {
		stage = newDoc().str("stage", "SKIP").set("skipAmount", bsonx.Int64(p.req.Skip)).set("inputStage", bsonx.DocValue(stage)).doc()
	}
	if p.req.Limit > 0 {
		stage = newDoc().str("stage", "LIMIT").set("limitAmount", bsonx.Int64(p.req.Limit)).set("inputStage", bsonx.DocValue(stage)).doc()
	}
	return stage
}

func (p *Plan) explainScan() bsonx.Doc {
	if p.empty && p.Index == nil {
		return newDoc().str("stage", "EOF").doc()
	}
	if p.subs != nil {
		stages := newArray("")
		for _, sub := range p.subs {
			stages.add(bsonx.DocValue(sub.explainScan()))
		}
		return newDoc().str("stage", "OR").set("inputStages", stages.value()).doc()
	}
	if p.Index == nil {
		b := newDoc().str("stage", "COLLSCAN")
		if p.Residual != nil {
			b.set("filter", bsonx.DocValue(p.Residual.Source()))
		}
		return b.str("direction", direction(p.Reverse)).doc()
	}
	scan := newDoc().str("stage", "IXSCAN")
	if p.Covered && p.Residual != nil {
		scan.set("filter", bsonx.DocValue(p.Residual.Source()))
	}
	ix := p.Index
	scan.set("keyPattern", bsonx.DocValue(keyPattern(ix))).str("indexName", ix.Name).
		set("isMultiKey", bsonx.Bool(ix.IsMultikey())).set("multiKeyPaths", bsonx.DocValue(multikeyPaths(ix))).
		set("isUnique", bsonx.Bool(ix.Unique || ix.IsID())).set("isSparse", bsonx.Bool(ix.Sparse)).
		set("isPartial", bsonx.Bool(ix.Partial != nil)).set("indexVersion", bsonx.Int32(2)).
		str("direction", direction(p.Reverse)).set("indexBounds", bsonx.DocValue(p.explainBounds()))
	if p.Covered {
		return newDoc().str("stage", "PROJECTION_COVERED").set("inputStage", bsonx.DocValue(scan.doc())).doc()
	}
	fetch := newDoc().str("stage", "FETCH")
	if p.Residual != nil {
		fetch.set("filter", bsonx.DocValue(p.Residual.Source()))
	}
	return fetch.set("inputStage", bsonx.DocValue(scan.doc())).doc()
}

func direction(reverse bool) string {
	if reverse {
		return "backward"
	}
	return "forward"
}

func multikeyPaths(ix *store.Index) bsonx.Doc {
	b := newDoc()
	for i, f := range ix.Fields {
		a := newArray("")
		if multikeyField(ix, i) {
			a.add(bsonx.String(f.Path))
		}
		b.set(f.Path, a.value())
	}
	return b.doc()
}

// explainBounds shows each field's intervals in the direction of the scan.
func (p *Plan) explainBounds() bsonx.Doc {
	b := newDoc()
	for i, f := range p.Index.Fields {
		a := newArray("")
		if i < len(p.sets) {
			set, down := p.sets[i], f.Desc != p.Reverse
			for k := range set {
				if down {
					k = len(set) - 1 - k
				}
				a.add(bsonx.String(set[k].show(down)))
			}
		}
		b.set(f.Path, a.value())
	}
	return b.doc()
}

// Doc gives the sort back as a document.
func (s *SortSpec) Doc() bsonx.Doc {
	b := newDoc()
	for _, f := range s.Fields {
		dir := int32(1)
		if f.Desc {
			dir = -1
		}
		b.set(f.Path, bsonx.Int32(dir))
	}
	return b.doc()
}
