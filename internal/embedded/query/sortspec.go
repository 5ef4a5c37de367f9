package query

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// SortSpec is a parsed {a: 1, "b.c": -1}. {$natural: ±1} is a spec with that one path.
type SortSpec struct{ Fields []store.IndexField }

// ParseSort parses a sort document; an empty one gives nil, any order. Codes: 2 for a direction that is not 1 or -1 or
// an empty path, 115 for $meta.
func ParseSort(d bsonx.Doc) (*SortSpec, error) {
	s := &SortSpec{}
	for it := d.Iter(); it.Next(); {
		name, v := string(it.Name()), it.Value()
		if v.Type == typeObject && !v.Doc().Get("$meta").IsMissing() {
			return nil, mongoerr.New(mongoerr.CommandNotSupported, "sorting by $meta is not supported by this engine")
		}
		n, ok := v.TruncInt64()
		switch {
		case !v.IsNumber() || !ok || n != 1 && n != -1:
			return nil, bad("bad sort specification: %s: %s, a direction is 1 or -1", name, v)
		case name == "":
			return nil, bad("bad sort specification: a path is empty")
		case name[0] == '$' && name != "$natural":
			return nil, mongoerr.New(16410, "FieldPath field names may not start with '$'.")
		}
		for part := range strings.SplitSeq(name, ".") {
			if part == "" {
				return nil, bad("bad sort specification: %s has an empty name in it", name)
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
