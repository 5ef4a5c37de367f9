package target

// Change is something that becomes different for mapReduce jobs with a version of MongoDB.
type Change struct {
	Version string `json:"version"`
	What    string `json:"what"`
	// JSMode, Sharded and Atomic (merge or reduce without nonAtomic) say that it concerns only jobs that use these.
	JSMode  bool `json:"js_mode,omitempty"`
	Sharded bool `json:"sharded_output,omitempty"`
	Atomic  bool `json:"atomic_output,omitempty"`

	major, minor int32
}

// changes are those of MongoDB's release notes and of docs/differences.md, oldest first.
func changes() []Change {
	at := func(major, minor int32, version, what string) Change {
		return Change{Version: version, What: what, major: major, minor: minor}
	}
	js := at(4, 4, "4.4", "jsMode is taken and ignored: keys keep their types, so numbers and booleans no longer come out as strings")
	js.JSMode = true
	sharded := at(4, 4, "4.4", "a sharded output collection has to exist; mapReduce no longer makes one")
	sharded.Sharded = true
	atomic := at(4, 4, "4.4", "nonAtomic: false is refused for merge and reduce")
	atomic.Atomic = true
	return []Change{
		at(4, 4, "4.4", "mapReduce runs as a pipeline: sort and separate output databases gain nothing, ranges still do"),
		at(4, 4, "4.4", "reduce is called for a key with a single value too, and values come newest first: it must not depend on their number or order"),
		at(4, 4, "4.4", "counts and timeMillis are gone from the reply; verbose is ignored"),
		js,
		atomic,
		at(4, 4, "4.4", "views can't be read (code 166); through mongos the output database has to exist"),
		sharded,
		at(5, 0, "5.0", "mapReduce is deprecated: the server logs a warning; a pipeline's range filters in $expr use an index"),
		at(6, 0, "6.0", "$group and $sort of a pipeline go to disk by themselves above 100 MB"),
		at(8, 0, "8.0", "server-side JavaScript is deprecated: mapReduce, $function, $accumulator and $where"),
	}
}

// Outlook is what changes for mapReduce jobs with versions newer than this server's. The embedded engine answers mapReduce as 4.2 does.
func (f *Facts) Outlook() []Change {
	have := *f
	if f.Kind == Embedded {
		have.Major, have.Minor = 4, 2
	}
	var out []Change
	for _, c := range changes() {
		if !have.atLeast(c.major, c.minor) {
			out = append(out, c)
		}
	}
	return out
}
