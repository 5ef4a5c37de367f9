package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// Explain shows the stages with the plan of the first one ($cursor).
func (p *Pipeline) Explain(snap *store.Snap) (bsonx.Doc, error) {
	if v, err := p.overView(snap); v != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return v.Explain(snap)
	}
	var stages []bsonx.Value
	rest := p.head.rest
	if len(rest) == 0 || !generates(rest[0].stage) {
		cursor, err := p.explainCursor(snap)
		if err != nil {
			return nil, err
		}
		stages = append(stages, makeStage("$cursor", cursor))
	}
	for _, s := range rest {
		stages = append(stages, makeStage(s.name, s.arg))
	}
	return makeDoc("stages", bsonx.Array(stages...)).Doc(), nil
}

func (p *Pipeline) explainCursor(snap *store.Snap) (bsonx.Value, error) {
	h := &p.head
	parsedQuery := h.filter.Source()
	winning := makeDoc("stage", bsonx.String("EOF")).Doc()
	if c := snap.Collection(p.o.NS); c != nil {
		r := &run{o: &p.o, snap: snap, scope: p.scope}
		plan, err := query.MakePlan(snap, c, p.request(r))
		if err != nil {
			return null, err
		}
		if len(h.rest) > 0 {
			if g, ok := h.rest[0].stage.(*groupStage); ok {
				if plan, err = g.withoutSort(r, plan, h); err != nil {
					return null, err
				}
			}
		}
		winning = plan.Explain()
	}
	planner := makeDoc("plannerVersion", bsonx.Int32(1), "namespace", bsonx.String(p.o.NS.String()), "indexFilterSet", bsonx.Bool(false),
		"parsedQuery", bsonx.DocValue(parsedQuery), "winningPlan", bsonx.DocValue(winning), "rejectedPlans", bsonx.Array())
	d := bsonx.AppendElem(bsonx.BeginDoc(nil), "query", bsonx.DocValue(parsedQuery))
	if h.sort != nil {
		d = bsonx.AppendElem(d, "sort", bsonx.DocValue(h.sort.Doc()))
	}
	if h.limit >= 0 {
		d = bsonx.AppendElem(d, "limit", bsonx.Int64(h.limit))
	}
	d = bsonx.AppendElem(d, "queryPlanner", planner)
	return bsonx.DocValue(bsonx.EndDoc(d, 0)), nil
}
