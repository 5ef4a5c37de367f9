package seed

import (
	"fmt"
	"slices"
	"strings"
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
		return GUID(p.Seed), nil
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
