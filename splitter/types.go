package splitter

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
)

// exactTypesUpTo is the largest collection in which every type is looked for
// one by one. Within a bracket that reads all of its documents (no index tells an int from a
// double), so larger collections are sampled at each bracket's ends.
const (
	exactTypesUpTo = 50_000
	sampleKeys     = 64
)

// typeNames are the BSON types by bracket, as $type calls them.
var typeNames = [brackets][]string{
	minKey: {"minKey"}, nullish: {"undefined", "null", "missing"}, nan: {"double", "decimal"},
	number: {"int", "long", "double", "decimal"}, text: {"string", "symbol"}, object: {"object"}, array: {"array"},
	binData: {"binData"}, objectID: {"objectId"}, boolean: {"bool"}, date: {"date"}, timestamp: {"timestamp"},
	regex: {"regex"}, dbPointer: {"dbPointer"}, javascript: {"javascript"}, codeScope: {"javascriptWithScope"}, maxKey: {"maxKey"},
}

// TypeName is a value's type as $type calls it; "missing" for a zero value.
func TypeName(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeInt32:
		return "int"
	case bson.TypeInt64:
		return "long"
	case bson.TypeDouble:
		return "double"
	case bson.TypeDecimal128:
		return "decimal"
	case bson.TypeSymbol:
		return "symbol"
	case bson.TypeString:
		return "string"
	case bson.TypeNull:
		return "null"
	case bson.TypeUndefined:
		return "undefined"
	case 0:
		return "missing"
	default:
		return typeNames[bracketOf(v)][0]
	}
}

// seen is what probing found out.
type seen struct {
	present uint32 // a bit for each bracket that has documents
	types   map[string]bool
	// large are the brackets that have more keys than were looked at, from about their lowest key to
	// about their highest; the outermost ones are left out, for they are often far off.
	large map[bracket]span
}

// seams are values at which to part the index into up to n parts; nil where nothing tells.
func (s *seen) seams(n int) []bson.RawValue {
	for _, b := range []bracket{number, objectID, date, text} {
		if x, ok := s.large[b]; ok {
			return between(x, n)
		}
	}
	return nil
}

func (s *seen) add(v bson.RawValue) { s.types[TypeName(v)] = true }

// list gives the types in sort order.
func (s *seen) list() []string {
	var list []string
	for b := minKey; b < brackets; b++ {
		if b == nan { // its types are those of numbers
			continue
		}
		for _, name := range typeNames[b] {
			if s.types[name] {
				list = append(list, name)
			}
		}
	}
	return list
}

// probe finds the brackets that hold documents, each by one look into the index,
// and the types in them.
func (r *reader) probe(ctx context.Context, total int64) (*seen, error) {
	s := &seen{types: map[string]bool{}, large: map[bracket]span{}}
	for b := minKey; b < brackets; b++ {
		if b == array {
			continue
		}
		f := r.bracketFilter(b, bson.RawValue{}, bson.RawValue{})
		keys, err := r.keys(ctx, f, false, 0, sampleKeys)
		if err != nil && notAValue(err) {
			continue // a server without this type; the proof would show documents of it
		}
		if err != nil {
			return nil, err
		}
		if len(keys) == 0 {
			continue
		}
		s.present |= 1 << b
		if len(keys) == sampleKeys {
			more, err := r.keys(ctx, f, true, 0, sampleKeys)
			if err != nil {
				return nil, err
			}
			s.large[b] = span{keys[sampleKeys-1], more[len(more)-1]}
			keys = append(keys, more...)
		}
		for _, k := range keys {
			s.add(k)
		}
		if len(keys) < sampleKeys || total > exactTypesUpTo {
			continue
		}
		for _, name := range typeNames[b] {
			if s.types[name] {
				continue
			}
			ask := bson.D{{Key: r.key, Value: bson.D{{Key: "$type", Value: name}}}}
			if name == "missing" {
				ask = bson.D{{Key: r.key, Value: bson.D{{Key: "$exists", Value: false}}}}
			}
			found, err := r.any(ctx, ask, true)
			if err != nil {
				return nil, err
			}
			if found {
				s.types[name] = true
			}
		}
	}
	return s, nil
}

// notAValue says that the server did not understand a filter: deprecated types may go.
func notAValue(err error) bool {
	switch code(err) {
	case codeBadValue, codeFailedToParse, codeTypeMismatch:
		return true
	}
	return false
}
