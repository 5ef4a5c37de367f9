package bsonx

import "slices"

// Room returns s with capacity for n more elements. It doubles where append would make a large slice a quarter larger, so that
// filling one copies each element about once, not four times.
func Room[E any](s []E, n int) []E {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, len(s)))
}
