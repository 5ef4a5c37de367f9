package splitter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"
)

// Server codes that decide what happens next.
const (
	codeBadValue          = 2
	codeFailedToParse     = 9
	codeUnauthorized      = 13
	codeTypeMismatch      = 14
	codeIllegalOperation  = 20
	codeNamespaceNotFound = 26
	codeCommandNotFound   = 59
	codeOnView            = 166
	codeNoRandomDocument  = 28799
)

// NoIndexError says that no usable index starts with the key.
type NoIndexError struct {
	NS, Key  string
	Then     []string   // further fields of a compound key
	Unusable []Unusable // indexes that hold the key but can't be used, and why
}

func (e *NoIndexError) Error() string { return "splitter: " + e.Problem() + ": " + e.WayOut() }

// Problem is the error without its way out.
func (e *NoIndexError) Problem() string {
	keys := strings.Join(append([]string{e.Key}, e.Then...), ", ")
	if len(e.Unusable) == 0 {
		return fmt.Sprintf("%s has no index that starts with %s", e.NS, keys)
	}
	var why []string
	for _, u := range e.Unusable {
		why = append(why, u.String())
	}
	return fmt.Sprintf("%s has no usable index that starts with %s (%s)", e.NS, keys, strings.Join(why, "; "))
}

// Beside says that an index with the same fields is there, so that a new one needs
// a field more: servers before 5.0 refuse two with the same fields.
func (e *NoIndexError) Beside() bool {
	return slices.ContainsFunc(e.Unusable, func(u Unusable) bool {
		return u.Refusal == Sparse || u.Refusal == Partial || u.Refusal == Hidden || u.Refusal == Collation
	})
}

// WayOut says what to do.
func (e *NoIndexError) WayOut() string {
	fields := e.Key + ": 1"
	for _, f := range e.Then {
		fields += ", " + f + ": 1"
	}
	switch {
	case len(e.Unusable) == 1 && e.Unusable[0].Refusal == Hidden:
		return "unhide it"
	case e.Beside():
		return "create one beside it on {" + fields + ", _id: 1}"
	}
	return "create one on {" + fields + "}"
}

// CollationError says that the collection compares strings by a collation of its own, also in filters.
type CollationError struct{ NS, Locale string }

func (e *CollationError) Error() string {
	return fmt.Sprintf("splitter: %s compares strings by the collation %q, and ranges are cut in the order of bytes: "+
		"run without ranges, or copy it to a collection without a collation", e.NS, e.Locale)
}

// ViewError says that the namespace is a view.
type ViewError struct {
	NS  string
	Err error // the server's
}

func (e *ViewError) Error() string {
	return fmt.Sprintf("splitter: %s is a view, which has no indexes: name the collection behind it: %v", e.NS, e.Err)
}

func (e *ViewError) Unwrap() error { return e.Err }

// StrategyError says that a strategy does not serve for this collection, or not on this server.
type StrategyError struct {
	NS, Strategy, Reason string
	Err                  error // the server's, if it refused
}

func (e *StrategyError) Error() string {
	return fmt.Sprintf("splitter: %s: %s: %s: use another strategy, or auto", e.NS, e.Strategy, e.Reason)
}

func (e *StrategyError) Unwrap() error { return e.Err }

// NoCollectionError says that the collection does not exist.
type NoCollectionError struct{ NS string }

func (e *NoCollectionError) Error() string {
	return fmt.Sprintf("splitter: %s does not exist: check the name, or fill it first", e.NS)
}

// MultikeyError says that documents hold arrays in the key's path. The index
// has such a document once for each element, so ranges would count it several times.
type MultikeyError struct{ NS, Key, Index string }

func (e *MultikeyError) Error() string {
	return fmt.Sprintf("splitter: %s: field %q holds arrays (index %s), so a document would be in several ranges: "+
		"split by another field, such as _id, or run without ranges", e.NS, e.Key, e.Index)
}

// NotCoveredError says that the pieces do not add up to the collection.
type NotCoveredError struct {
	NS            string
	Pieces, Total int64
}

func (e *NotCoveredError) Error() string {
	return fmt.Sprintf("splitter: %s: the ranges hold %d documents and the collection %d: "+
		"something writes to it, or orphaned documents are counted; try again when it is quiet", e.NS, e.Pieces, e.Total)
}

// code is the server's error code in err, 0 when there is none.
func code(err error) int32 {
	var ce mongo.CommandError
	if errors.As(err, &ce) {
		return ce.Code
	}
	return 0
}
