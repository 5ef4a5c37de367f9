package splitter

import (
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"
)

// Server codes that decide what happens next.
const (
	codeBadValue          = 2
	codeFailedToParse     = 9
	codeUnauthorized      = 13
	codeTypeMismatch      = 14
	codeNamespaceNotFound = 26
	codeCommandNotFound   = 59
	codeOnView            = 166
)

// NoIndexError says that no usable index starts with the key.
type NoIndexError struct {
	NS, Key  string
	Unusable []string // indexes that start with the key but can't be used, and why
}

func (e *NoIndexError) Error() string {
	s := fmt.Sprintf("splitter: %s has no index that starts with %q", e.NS, e.Key)
	if len(e.Unusable) > 0 {
		s = fmt.Sprintf("splitter: %s has no usable index that starts with %q (%s)", e.NS, e.Key, strings.Join(e.Unusable, "; "))
	}
	return s + fmt.Sprintf(": create one on {%s: 1}", e.Key)
}

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

// refused tells a server's answer "no" from a connection or context that failed.
func refused(err error) bool {
	var ce mongo.CommandError
	return errors.As(err, &ce) && !ce.HasErrorLabel("NetworkError")
}
