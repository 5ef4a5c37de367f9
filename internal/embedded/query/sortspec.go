package query

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// SortSpec is a parsed {a: 1, "b.c": -1}. {$natural: ±1} is a spec with that one path.
type SortSpec struct{ Fields []store.IndexField }

// ParseSort parses a sort document; an empty one gives nil, any order.
// Codes: 15975 for a direction that is not 1 or -1 (by type), 2 for others, 115 for $meta.
func ParseSort(d bsonx.Doc) (*SortSpec, error) {
	s := &SortSpec{}
	for it := d.Iter(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		if v.Type == typeObject {
			if !v.Doc().Get("$meta").IsMissing() {
				return nil, mongoerr.New(mongoerr.CommandNotSupported, "sorting by $meta is not supported by this engine")
			}
			return nil, mongoerr.New(15975, "$sort key ordering must be specified using a number or {$meta: 'textScore'}")
		}
		if !v.IsNumber() {
			return nil, mongoerr.New(15974, "$sort key ordering must be specified using a number")
		}
		n, ok := v.AsInt64()
		if !ok || (n != 1 && n != -1) {
			return nil, mongoerr.New(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
		}
		if name == "" {
			return nil, mongoerr.New(15998, "FieldPath field names may not be empty strings.")
		}
		if name[0] == '$' && name != "$natural" {
			return nil, mongoerr.New(16410, "FieldPath field names may not start with '$'.")
		}
		for part := range strings.SplitSeq(name, ".") {
			if part == "" {
				return nil, mongoerr.New(15998, "FieldPath field names may not be empty strings.")
			}
		}
		s.Fields = append(s.Fields, store.IndexField{Path: name, Desc: n < 0})
	}
	if len(s.Fields) == 0 {
		return nil, nil
	}
	return s, nil
}

// natural gives the direction of {$natural: ±1}.
func (s *SortSpec) natural() (dir int, ok bool) {
	if s == nil || len(s.Fields) != 1 || s.Fields[0].Path != "$natural" {
		return 0, false
	}
	if s.Fields[0].Desc {
		return -1, true
	}
	return 1, true
}
