package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
)

// parser turns stage documents into stages.
type parser struct {
	o     *Options
	scope *expr.Scope
	sub   bool // inside another pipeline
	facet bool
	depth int
}

// maxSubDepth bounds pipelines in pipelines.
const maxSubDepth = 20

// stageSpec is one row of the stage table.
type stageSpec struct {
	parse func(ps *parser, arg bsonx.Value) (stage, error)
	first bool // must stand first
	last  bool // must stand last, and only in a pipeline of its own
	// internal stages are what others are short for; no client may name them.
	internal bool
	// expand gives the stages it is short for.
	expand func(ps *parser, arg bsonx.Value) ([]bsonx.Value, error)
}

func stageTable() map[string]stageSpec {
	return map[string]stageSpec{
		"$match":       {parse: parseMatch},
		"$project":     {parse: parseProject},
		"$addFields":   {parse: parseAddFields},
		"$set":         {parse: parseAddFields},
		"$unset":       {parse: parseUnset},
		"$group":       {parse: parseGroup},
		"$sort":        {parse: parseSort},
		"$limit":       {parse: parseLimit},
		"$skip":        {parse: parseSkip},
		"$unwind":      {parse: parseUnwind},
		"$replaceRoot": {parse: parseReplaceRoot},
		"$replaceWith": {parse: parseReplaceWith},
		"$redact":      {parse: parseRedact},
		"$sample":      {parse: parseSample},
		"$bucketAuto":  {parse: parseBucketAuto},
		"$facet":       {parse: parseFacet},
		"$lookup":      {parse: parseLookup},
		"$unionWith":   {parse: parseUnionWith},
		"$count":       {expand: expandCount},
		"$sortByCount": {expand: expandSortByCount},
		"$bucket":      {expand: expandBucket},

		"$setWindowFields": {expand: expandWindow},
		"$fill":            {expand: expandFill},
		"$densify":         {expand: expandDensify},
		"$graphLookup":     {parse: parseGraphLookup},
		windowStageName:    {parse: parseWindow, internal: true},
		densifyStageName:   {parse: parseDensify, internal: true},

		"$collStats":  {parse: parseCollStats, first: true},
		"$indexStats": {parse: parseIndexStats, first: true},
		"$currentOp":  {parse: parseCurrentOp, first: true},
		"$documents":  {parse: parseDocuments, first: true},
		"$out":        {parse: parseOut, last: true},
		"$merge":      {parse: parseMerge, last: true},
	}
}

// unsupported are stages that MongoDB has and this engine does not.
func unsupported(name string) bool {
	switch name {
	case "$geoNear",
		"$listSessions", "$listLocalSessions", "$planCacheStats", "$listSampledQueries",
		"$shardedDataDistribution", "$mergeCursors", "$rankFusion", "$querySettings", "$changeStreamSplitLargeEvent":
		return true
	}
	return false
}

func isSearch(name string) bool {
	switch name {
	case "$search", "$searchMeta", "$vectorSearch", "$listSearchIndexes":
		return true
	}
	return false
}

func (ps *parser) stages(list bsonx.Doc) ([]parsed, error) {
	table := stageTable()
	var out []parsed
	var add func(v bsonx.Value, last, inner bool) error
	add = func(v bsonx.Value, last, inner bool) error {
		name, arg, err := splitStage(v)
		if err != nil {
			return err
		}
		spec, ok := table[name]
		switch {
		case !ok && name == "$changeStream": // as every standalone answers
			return errf(40573, "The $changeStream stage is only supported on replica sets")
		case !ok && isSearch(name): // as every server without a search process answers
			return errf(31082, "%s needs a search process beside the server, which this engine does not have", name)
		case !ok && unsupported(name):
			return errf(mongoerr.CommandNotSupported, "the %s stage is not supported by this engine", name)
		case !ok || spec.internal && !inner:
			return errf(40324, "Unrecognized pipeline stage name: '%s'", name)
		case spec.first && len(out) > 0:
			return errf(40602, "%s is only valid as the first stage in a pipeline", name)
		case spec.last && !last:
			return errf(40601, "%s can only be the final stage in the pipeline", name)
		case ps.facet && (spec.first || spec.last || name == "$facet"):
			return errf(40600, "%s is not allowed to be used within a $facet stage", name)
		case ps.sub && spec.last:
			return errf(51047, "%s is not allowed within another stage's pipeline", name)
		}
		if spec.expand != nil {
			longer, err := spec.expand(ps, arg)
			if err != nil {
				return err
			}
			for _, s := range longer {
				if err := add(s, false, true); err != nil {
					return err
				}
			}
			return nil
		}
		s, err := spec.parse(ps, arg)
		if err != nil {
			return err
		}
		out = append(out, parsed{name, arg.Clone(), s})
		return nil
	}
	// Names and shapes of all stages are looked at before any of them is parsed.
	for it := list.Iter(); it.Next(); {
		name, _, err := splitStage(it.Value())
		if err != nil {
			return nil, err
		}
		if spec, ok := table[name]; (!ok || spec.internal) && name != "$changeStream" && !isSearch(name) && !unsupported(name) {
			return nil, errf(40324, "Unrecognized pipeline stage name: '%s'", name)
		}
	}
	n, i := list.Len(), 0
	for it := list.Iter(); it.Next(); i++ {
		if err := add(it.Value(), i == n-1, false); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func splitStage(v bsonx.Value) (name string, arg bsonx.Value, err error) {
	if v.Type != tDoc {
		return "", arg, errf(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
	}
	it := v.Elems()
	if !it.Next() {
		return "", arg, errf(40323, "A pipeline stage specification object must contain exactly one field.")
	}
	name, arg = string(it.Name()), it.Value()
	if it.Next() {
		return "", arg, errf(40323, "A pipeline stage specification object must contain exactly one field.")
	}
	return name, arg, nil
}

// nested parses a pipeline inside a stage.
func (ps *parser) nested(v bsonx.Value, o Options, scope *expr.Scope, facet bool) (*Pipeline, error) {
	if ps.depth >= maxSubDepth {
		return nil, errf(5454, "pipelines are nested deeper than %d", maxSubDepth)
	}
	if v.Type != tArray {
		return nil, errf(mongoerr.TypeMismatch, "A pipeline must be an array, found %s", typeName(v))
	}
	p := &Pipeline{o: o, raw: bsonx.Doc(v.Clone().Data), scope: scope, sub: true}
	in := parser{o: &p.o, scope: scope, sub: true, facet: facet, depth: ps.depth + 1}
	var err error
	if p.stages, err = in.stages(p.raw); err != nil {
		return nil, err
	}
	if !facet {
		p.optimize()
	}
	return p, nil
}

func (ps *parser) compile(v bsonx.Value) (*expr.Expr, error) { return expr.Compile(v, ps.scope) }

// makeStage writes {name: arg}.
func makeStage(name string, arg bsonx.Value) bsonx.Value {
	b := bsonx.BeginDoc(nil)
	b = bsonx.AppendElem(b, name, arg)
	return bsonx.DocValue(bsonx.EndDoc(b, 0))
}

// makeDoc writes a document of pairs.
func makeDoc(pairs ...any) bsonx.Value {
	b := bsonx.BeginDoc(nil)
	for i := 0; i+1 < len(pairs); i += 2 {
		b = bsonx.AppendElem(b, pairs[i].(string), pairs[i+1].(bsonx.Value))
	}
	return bsonx.DocValue(bsonx.EndDoc(b, 0))
}
