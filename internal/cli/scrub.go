package cli

import (
	"strings"

	"mrbench/internal/target"
)

// scrub takes passwords out of a text: those of the connection string in use, and of what was given as one in the wrong place.
func (a *app) scrub(text string) string {
	uris := []string{a.common.uri, a.env.getenv(envName("uri"))}
	for _, arg := range a.env.Args {
		if i := strings.Index(strings.ToLower(arg), "mongodb"); i >= 0 && strings.Contains(arg, "://") {
			uris = append(uris, arg[i:])
		}
	}
	for _, uri := range uris {
		if strings.Contains(uri, "://") || uri != "" && strings.Contains(uri, "@") {
			text = target.Scrub(text, uri)
		}
	}
	return target.Scrub(text, "")
}
