package expr

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// parseMeta is $meta. What it could tell comes from searches that this engine does not have.
func parseMeta(_ *compiler, name string, arg bsonx.Value) (node, error) {
	if arg.Type != tString {
		return nil, errf(17307, "%s only supports string arguments", name)
	}
	switch what := arg.Str(); what {
	case "textScore", "searchScore", "searchHighlights", "searchScoreDetails", "vectorSearchScore", "geoNearDistance", "geoNearPoint":
		return nil, errf(40218, "query requires %s metadata, but it is not available", what)
	case "randVal", "recordId", "indexKey", "sortKey", "searchSequenceToken", "timeseriesBucketMinTime", "timeseriesBucketMaxTime":
		return nil, errf(mongoerr.CommandNotSupported, "%s: '%s' is not supported by this engine", name, what)
	default:
		return nil, errf(17308, "Unsupported argument to %s: %s", name, what)
	}
}
