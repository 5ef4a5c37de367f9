package query

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
)

const (
	codeEmptyFieldName mongoerr.Code = 56
	codeNotSingleValue mongoerr.Code = 54
)

// Update is a parsed update: operators, replacement, or pipeline (the latter through a hook, see
// PipelineUpdate). Safe for one goroutine at a time.
type Update struct {
	replacement bsonx.Doc
	stages      bsonx.Doc
	run         PipelineUpdate
	changes     []*change // in the order of their paths
	filters     []arrayFilter
	now         func() time.Time
}

// change is one operator on one path.
type change struct {
	op    string
	path  string
	parts []string
	mod   modifier
	// onInsert: only for a document that is being inserted.
	onInsert bool
	// unstorable is why what this would store can't be, nil if it can.
	unstorable error
	// source: nothing happens when this path is missing ($rename).
	source []string
	// create: a missing path is made.
	create bool
}

// modifier computes a new value from the old one (missing if there is none). keep leaves the
// document as it is; a missing result removes the field.
type modifier func(old bsonx.Value, at *application) (v bsonx.Value, keep bool, err error)

// arrayFilter is one of arrayFilters: elements that $[id] stands for.
type arrayFilter struct {
	id    string
	tests leaf
	used  bool
}

// PipelineUpdate is set by the caller who can run pipelines (command), avoiding an import cycle.
type PipelineUpdate func(stages bsonx.Doc, doc bsonx.Doc) (bsonx.Doc, error)

// SetPipeline gives the function that runs the stages of a pipeline update.
func (u *Update) SetPipeline(run PipelineUpdate) { u.run = run }

// IsReplacement reports whether the update is a whole document.
func (u *Update) IsReplacement() bool { return u.replacement != nil }

// IsPipeline reports whether the update is a list of stages, for which SetPipeline is needed.
func (u *Update) IsPipeline() bool { return u.stages != nil }

// ParseUpdate parses an update; v is a document or an array (pipeline). arrayFilters may be empty.
// Codes: 9 for unknown modifiers and malformed operands, 40 for paths that collide, 56 for empty names.
func ParseUpdate(v bsonx.Value, arrayFilters []bsonx.Doc, s *expr.Scope) (*Update, error) {
	u := &Update{now: time.Now}
	if v.Type == typeArray {
		if len(arrayFilters) > 0 {
			return nil, mongoerr.New(mongoerr.FailedToParse, "arrayFilters may not be specified for pipeline-syle updates")
		}
		u.stages = v.Doc()
		return u, nil
	}
	if v.Type != typeObject {
		return nil, mongoerr.New(mongoerr.FailedToParse, "Update argument must be either an object or an array")
	}
	d := v.Doc()
	it := d.Iter()
	if !it.Next() || !strings.HasPrefix(string(it.Name()), "$") {
		if len(arrayFilters) > 0 {
			return nil, mongoerr.New(mongoerr.FailedToParse, "arrayFilters may not be specified for replacement-style updates")
		}
		for it := d.Iter(); it.Next(); {
			if strings.HasPrefix(string(it.Name()), "$") {
				return nil, mongoerr.New(mongoerr.DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s' is not valid for storage.", it.Name(), it.Name())
			}
		}
		u.replacement = d
		return u, nil
	}
	if err := u.parseFilters(arrayFilters, s); err != nil {
		return nil, err
	}
	up := updateParser{u: u, p: parser{scope: s}}
	if s == nil {
		up.p.scope = &expr.Scope{}
	}
	if err := up.operators(d); err != nil {
		return nil, err
	}
	for _, f := range u.filters {
		if !f.used {
			return nil, mongoerr.New(mongoerr.FailedToParse, "The array filter for identifier '%s' was not used in the update %s", f.id, d.String())
		}
	}
	return u, nil
}

// parseFilters reads arrayFilters: each names one identifier, alone or as the start of paths.
func (u *Update) parseFilters(docs []bsonx.Doc, s *expr.Scope) error {
	for _, d := range docs {
		f, err := ParseFilter(d, s)
		if err != nil {
			return mongoerr.New(mongoerr.FailedToParse, "Error parsing array filter: %v", err)
		}
		id := ""
		whole := f.Deps(func(path string) {
			first, _, _ := strings.Cut(path, ".")
			switch id {
			case "":
				id = first
			case first:
			default:
				id = "."
			}
		})
		if whole || id == "." {
			return mongoerr.New(mongoerr.FailedToParse, "Error parsing array filter: Expected a single top-level field name, found more in %s", d.String())
		}
		if id == "" {
			return mongoerr.New(mongoerr.FailedToParse, "Cannot use an expression without a top-level field name in arrayFilters")
		}
		if id[0] < 'a' || id[0] > 'z' || strings.IndexFunc(id, func(r rune) bool { return !isAlnum(byte(r)) || r >= 0x80 }) >= 0 {
			return mongoerr.New(mongoerr.BadValue, "Error parsing array filter: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '%s'", id)
		}
		if slices.ContainsFunc(u.filters, func(o arrayFilter) bool { return o.id == id }) {
			return mongoerr.New(mongoerr.FailedToParse, "Found multiple array filters with the same top-level field name %s", id)
		}
		u.filters = append(u.filters, arrayFilter{id: id, tests: &filterLeaf{id, f}})
	}
	return nil
}

// filterLeaf asks a filter about {id: value}, where an array counts as one value only by itself.
type filterLeaf struct {
	id string
	f  *Filter
}

func (l *filterLeaf) clone() leaf { return &filterLeaf{l.id, l.f.Clone()} }

func (l *filterLeaf) test(v bsonx.Value, m *matcher) bool {
	ok, err := l.f.Match(oneField(l.id, v))
	if err != nil && m.err == nil {
		m.err = err
	}
	return ok
}

// Apply gives the new document (fresh memory) and whether it differs. filter is the one that found
// the document, for the positional operator. upsert also applies $setOnInsert.
// Errors carry MongoDB's codes: 14 $inc on non-number, 66 immutable _id, 28 a path through a scalar, 2 others.
func (u *Update) Apply(old bsonx.Doc, filter *Filter, upsert bool) (doc bsonx.Doc, modified bool, err error) {
	id := old.Get("_id")
	switch {
	case u.replacement != nil:
		for it := u.replacement.Iter(); it.Next(); {
			if err := BadName(it.Value(), string(it.Name())); err != nil {
				return nil, false, err
			}
		}
		doc = withID(u.replacement, id)
	case u.stages != nil:
		if u.run == nil {
			return nil, false, mongoerr.New(mongoerr.CommandNotSupported, "pipeline updates are not available here")
		}
		if doc, err = u.run(u.stages, old); err != nil {
			return nil, false, err
		}
		doc = withID(doc, id)
	default:
		a := application{u: u, filter: filter, old: old, upsert: upsert, root: newTree(bsonx.DocValue(old)), pos: -2}
		for _, c := range u.changes {
			if c.onInsert && !upsert {
				continue
			}
			if c.unstorable != nil {
				return nil, false, c.unstorable
			}
			if err := a.change(c); err != nil {
				return nil, false, err
			}
		}
		doc = withID(a.root.encode(), bsonx.Value{})
	}
	if now := doc.Get("_id"); !id.IsMissing() && (now.Type != id.Type || !bytes.Equal(now.Data, id.Data)) && !bsonx.Equal(now, id) {
		if u.replacement != nil || u.stages != nil {
			return nil, false, mongoerr.New(mongoerr.ImmutableField, "After applying the update, the (immutable) field '_id' was found to have been altered to _id: %s", now.String())
		}
		return nil, false, mongoerr.New(mongoerr.ImmutableField, "Performing an update on the path '_id' would modify the immutable field '_id'")
	}
	if now := doc.Get("_id"); now.Type == typeArray || now.Type == typeUndefined || now.Type == typeRegex {
		return nil, false, mongoerr.New(mongoerr.InvalidIDField, "The '_id' value cannot be of type %s", bsonx.TypeName(now.Type))
	}
	return doc, !bytes.Equal(doc, old), nil
}

// withID copies a document with _id first; id is used when it has none.
func withID(d bsonx.Doc, id bsonx.Value) bsonx.Doc {
	own := d.Get("_id")
	if own.IsMissing() || !id.IsMissing() && bsonx.Equal(own, id) {
		own = id // an equal _id of another number type does not change the stored one
	}
	out := bsonx.BeginDoc(make([]byte, 0, len(d)+len(own.Data)+8))
	out = bsonx.AppendElem(out, "_id", own)
	for it := d.Iter(); it.Next(); {
		if string(it.Name()) != "_id" {
			out = appendElem(out, it.Name(), it.Value())
		}
	}
	return bsonx.EndDoc(out, 0)
}
