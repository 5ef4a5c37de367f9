package seed

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/seed/extjson"
)

// Params are what generators are made from. Each reads those it has a use for.
type Params struct {
	Seed      uint64
	Field     string // of uniques
	Documents int64  // of uniques, for the default of Keys
	Keys      int64  // of uniques
	Template  []byte // of template: its JSON
}

// GeneratorNames lists what ByName knows, sorted.
func GeneratorNames() []string { return []string{"guid", "people", "reviews", "template", "uniques"} }

// ByName makes a generator.
func ByName(name string, p Params) (Generator, error) {
	switch name {
	case "guid":
		return Guid(p.Seed), nil
	case "people":
		return People(p.Seed), nil
	case "reviews":
		return Reviews(p.Seed), nil
	case "template":
		return Template(p.Seed, p.Template)
	case "uniques":
		if p.Field == "" || strings.ContainsRune(p.Field, 0) || slices.Contains([]string{"_id"}, p.Field) {
			return nil, fmt.Errorf("seed: uniques: %q can not be the name of the field", p.Field)
		}
		return Uniques(p.Seed, p.Field, p.Documents, p.Keys), nil
	}
	return nil, fmt.Errorf("seed: unknown generator %q: use one of %s", name, strings.Join(GeneratorNames(), ", "))
}

// WriteNDJSON writes documents [first, first+n) of a generator, a line each, as
// relaxed Extended JSON; canonical keeps the type of every number. It returns
// the documents and bytes written, also beside an error.
func WriteNDJSON(ctx context.Context, w io.Writer, g Generator, first, n int64, canonical bool) (docs, bytes int64, err error) {
	const atOnce = 64 << 10
	var doc, out []byte
	pending := int64(0)
	flush := func() error {
		k, err := w.Write(out)
		bytes += int64(k)
		if err != nil {
			return fmt.Errorf("seed: write document %d: %w", first+docs, err)
		}
		docs += pending
		out, pending = out[:0], 0
		return ctx.Err()
	}
	for i := range n {
		doc = g.Append(doc[:0], first+i)
		if out, err = extjson.AppendJSON(out, bson.Raw(doc), canonical); err != nil {
			return docs, bytes, fmt.Errorf("seed: document %d: %w", first+i, err)
		}
		out = append(out, '\n')
		if pending++; len(out) >= atOnce {
			if err := flush(); err != nil {
				return docs, bytes, err
			}
		}
	}
	return docs, bytes, flush()
}
