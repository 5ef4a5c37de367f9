package target

import "fmt"

// State says what an option or command does on a server.
type State string

// The states.
const (
	Works     State = "yes"
	Refused   State = "no"
	NoEffect  State = "no effect" // it is taken, and changes nothing
	Uncertain State = "unknown"
)

// Capability is an option or a command, and what it does on a server, with the reason.
type Capability struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Reason string `json:"reason"`
}

// Names of capabilities.
const (
	CapMapReduce   = "mapReduce"
	CapSort        = "mapReduce: sort"
	CapRanges      = "mapReduce: ranges"
	CapDatabases   = "mapReduce: output databases"
	CapJSMode      = "mapReduce: jsMode"
	CapCounts      = "mapReduce: counts"
	CapOutput      = "mapReduce: output"
	CapJSStages    = "$function, $accumulator"
	CapMerge       = "$merge"
	CapExprIndex   = "$expr uses an index"
	CapDiskUse     = "allowDiskUse by default"
	CapSplitVector = "split: splitVector"
	CapChunks      = "split: chunks"
	CapBucketAuto  = "split: bucketAuto"
	CapSample      = "split: sample"
	CapWalk        = "split: walk"
	CapTelemetry   = "serverStatus"
	CapProgress    = "operations of others"

	CapWrites       = "writes"
	CapSecondaries  = "reads of secondaries"
	CapReadConcern  = "read concern"
	CapWriteConcern = "write concern"
	CapMemory       = "memory of a stage"
	CapHosted       = "hosted tier"
)

// Capabilities decides what the facts mean for each option. The rules are MongoDB's documentation's and docs/differences.md's.
func (f *Facts) Capabilities(ns Namespace) []Capability {
	var out []Capability
	add := func(name string, s State, reason string) { out = append(out, Capability{name, s, reason}) }
	mapReduce, why := f.mapReduce(ns)
	add(CapMapReduce, mapReduce, why)
	gone := func(name, effect string) { // what mapReduce as a pipeline no longer has
		switch {
		case mapReduce == Refused:
			add(name, Refused, "mapReduce is refused")
		case f.pipelines():
			add(name, NoEffect, "since 4.4 mapReduce runs as a pipeline")
		default:
			add(name, Works, effect)
		}
	}
	gone(CapSort, "equal keys arrive together, are reduced in memory, and little is written twice")
	if mapReduce == Refused {
		add(CapRanges, Refused, "mapReduce is refused")
	} else {
		add(CapRanges, Works, "ranges run side by side, each as a command of its own")
	}
	switch {
	case mapReduce == Refused:
		add(CapDatabases, Refused, "mapReduce is refused")
	case f.Storage == "mmapv1":
		add(CapDatabases, Works, "mmapv1 locks collections or databases while it writes")
	default:
		add(CapDatabases, NoEffect, "this storage locks documents, so writers of one database do not wait for each other")
	}
	if f.Mongos && !f.pipelines() && mapReduce != Refused {
		add(CapJSMode, Refused, "a mongos before 4.4 refuses the field when the output names a database; mrbench leaves it out")
	} else {
		gone(CapJSMode, "emits stay in JavaScript up to 500,000 keys that are not objects; numbers and booleans become strings as keys")
	}
	gone(CapCounts, "the reply says how many documents were read, emitted, reduced and written")
	output, why := f.output(ns)
	add(CapOutput, output, why)
	switch {
	case !f.atLeast(4, 4):
		add(CapJSStages, Refused, "since 4.4")
	case f.Scripting == No:
		add(CapJSStages, Refused, f.ScriptingWhy)
	default:
		add(CapJSStages, Works, "they keep JavaScript, and its cost")
	}
	f.since(add, CapMerge, 4, 2, "a pipeline can add to a collection")
	f.since(add, CapExprIndex, 5, 0, "ranges are written as $expr, which holds for all types at once")
	f.since(add, CapDiskUse, 6, 0, "$group and $sort go to disk above 100 MB unless told not to")
	f.split(add)
	switch {
	case f.ServerStatus == Yes && f.Mongos:
		add(CapTelemetry, Works, "the router's own load is sampled while a row runs, not that of the shards")
	case f.ServerStatus == Yes:
		add(CapTelemetry, Works, "the server's load is sampled while a row runs")
	default:
		add(CapTelemetry, Refused, "no load of the server in the tables: "+f.ServerStatusWhy)
	}
	switch f.OtherOps {
	case Yes:
		add(CapProgress, Works, "progress of each range, and work is stopped on the server at Ctrl-C")
	case No:
		add(CapProgress, Refused, "user "+f.User+" has no inprog and killop: progress shows time only; own operations are still stopped")
	default:
		add(CapProgress, Uncertain, "the server does not say what user "+f.User+" may do")
	}
	f.setCapabilities(add)
	f.limitCapabilities(add)
	return out
}

func (f *Facts) since(add func(string, State, string), name string, major, minor int32, effect string) {
	if f.atLeast(major, minor) {
		add(name, Works, effect)
	} else {
		add(name, Refused, fmt.Sprintf("since %d.%d", major, minor))
	}
}

func (f *Facts) mapReduce(ns Namespace) (State, string) {
	switch {
	case f.Scripting == No:
		return Refused, f.ScriptingWhy
	case f.may(ns.DB, ns.Coll, "find") == No:
		return Refused, fmt.Sprintf("user %s may not read %s: grant the role read on %s", f.User, ns, ns.DB)
	case f.Kind == Embedded:
		return Works, "as a 4.2 server does it"
	case f.Scripting == Unknown:
		return Uncertain, "it could not be found out whether JavaScript is on: " + f.ScriptingWhy
	case f.atLeast(8, 0):
		return Works, "deprecated since 5.0, as is all server-side JavaScript since 8.0"
	case f.atLeast(5, 0):
		return Works, "deprecated since 5.0"
	case f.atLeast(4, 4):
		return Works, "runs as a pipeline; deprecated since 5.0"
	}
	return Works, "the original one, which the options below were made for"
}

// output says where a mapReduce may write.
func (f *Facts) output(ns Namespace) (State, string) {
	switch {
	case f.may("mrbench_any", "any", "insert", "createCollection", "dropDatabase") == Yes:
		if f.Mongos && f.pipelines() {
			return Works, "databases of its own, made before the run: a mongos since 4.4 wants them to exist"
		}
		return Works, "databases of its own, named mrbench_…"
	case f.may(ns.DB, "mrbench_any", "insert", "createCollection") == Yes:
		return Refused, fmt.Sprintf("user %s may write in %s, not make databases: use --out-db %s, or grant readWriteAnyDatabase", f.User, ns.DB, ns.DB)
	case f.privileges == nil:
		return Uncertain, fmt.Sprintf("the server does not say what user %s may do", f.User)
	}
	return Refused, fmt.Sprintf("user %s may not make databases: grant readWriteAnyDatabase", f.User)
}

func (f *Facts) split(add func(string, State, string)) {
	switch f.SplitVector {
	case Yes:
		add(CapSplitVector, Works, "reads the index once and gives evenly spaced keys")
	default:
		add(CapSplitVector, Refused, f.SplitVectorWhy)
	}
	if f.Mongos {
		add(CapChunks, Works, "for a collection that is sharded by the key")
	} else {
		add(CapChunks, Refused, "not a sharded cluster")
	}
	f.since(add, CapBucketAuto, 3, 4, "exact, reads all keys once")
	f.since(add, CapSample, 3, 2, "quick and rough")
	add(CapWalk, Works, "needs no rights but reading")
}
