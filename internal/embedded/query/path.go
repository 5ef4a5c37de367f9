package query

import "strings"

// fieldPath is a dotted path cut into its components.
type fieldPath struct {
	full  string
	parts []string
	// index holds for each component the array position it names, or -1.
	index []int
}

func newPath(s string) *fieldPath {
	p := &fieldPath{full: s, parts: strings.Split(s, ".")}
	p.index = make([]int, len(p.parts))
	for i, part := range p.parts {
		p.index[i] = arrayIndex(part)
	}
	return p
}

// arrayIndex reads a component such as "12" as an array position; -1 when it is none.
func arrayIndex(s string) int {
	if s == "" || len(s) > 9 || (len(s) > 1 && s[0] == '0') {
		return -1
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// hasIndex reports whether a component may name an array position.
func hasIndex(path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		if arrayIndex(part) >= 0 {
			return true
		}
	}
	return false
}

// covers reports whether a field path holds all that sub names: "a" covers "a" and "a.b".
func covers(path, sub string) bool {
	return sub == path || (len(sub) > len(path) && sub[len(path)] == '.' && sub[:len(path)] == path)
}
