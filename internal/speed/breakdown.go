package main

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"strings"

	"github.com/google/pprof/profile"
)

// What the time of a document is spent on.
const (
	partRead    = "read"    // storage to raw documents or index entries, and matching
	partJS      = "JS"      // inside JavaScript functions
	partConvert = "convert" // between BSON and JavaScript
	partGroup   = "group"   // grouping, expressions, sorting
	partWrite   = "write"   // storage's log, tables, compaction; index keys
	partWire    = "wire"    // driver, messages, and their pipe
	partClient  = "client"  // making documents, merging, digesting answers
	partGC      = "gc"      // the Go runtime's own goroutines
	partOther   = "other"
)

var partOrder = []string{partRead, partJS, partConvert, partGroup, partWrite, partWire, partClient, partGC, partOther}

// rules say what a function is for. The innermost function of a stack that has a rule decides; what is used for
// several things (bsonx, compression) has none, so that its caller does. The first rule that fits counts.
var rules = []struct{ in, part string }{
	{"runtime.gcBgMarkWorker", partGC},
	{"runtime.bgsweep", partGC},
	{"runtime.bgscavenge", partGC},
	{"github.com/dop251/goja", partJS},
	{"internal/embedded/script.", partConvert},
	{"internal/embedded/spill.", partGroup},
	{"internal/embedded/pipeline.", partGroup},
	{"internal/embedded/expr.", partGroup},
	{"internal/embedded/mapreduce.", partGroup},
	{"internal/embedded/store.(*tableWriter)", partWrite},
	{"internal/embedded/store.(*Builder)", partWrite},
	{"internal/embedded/store.(*DB)", partWrite},
	{"internal/embedded/store.(*keyGen)", partWrite},
	{"internal/embedded/store.", partRead},
	{"internal/embedded/query.", partRead},
	{"pebble/v2/sstable.(*RawColumnWriter)", partWrite},
	{"pebble/v2/sstable.(*Writer)", partWrite},
	{"pebble/v2/internal/compact", partWrite},
	{"pebble/v2.(*DB).runCompaction", partWrite},
	{"pebble/v2.(*DB).flush", partWrite},
	{"pebble/v2.(*commitPipeline)", partWrite},
	{"pebble/v2.(*Batch)", partWrite},
	{"pebble/v2/record", partWrite},
	{"pebble/v2.(*Iterator)", partRead},
	{"internal/embedded/command.", partWire},
	{"internal/embedded/wire.", partWire},
	{"internal/embedded.", partWire},
	{"go.mongodb.org/mongo-driver", partWire},
	{"mrbench/seed", partClient},
	{"mrbench/mr.", partClient},
	{"mrbench/aggregate.", partClient},
	{"mrbench/splitter.", partClient},
	{"mrbench/internal/parity.", partClient},
	{"mrbench/internal/cli.", partClient},
}

func partOf(function string) string {
	for _, r := range rules {
		if strings.Contains(function, r.in) {
			return r.part
		}
	}
	return ""
}

// cpu is nanoseconds of CPU by part.
type cpu map[string]float64

// perDocument divides by a number of documents; nil stays nil.
func (c cpu) perDocument(documents int64) map[string]float64 {
	if c == nil {
		return nil
	}
	out := map[string]float64{}
	for part, ns := range c {
		out[part] = ns / float64(documents)
	}
	return out
}

// running is a CPU profile being taken; nil takes none.
type running struct{ buf bytes.Buffer }

func startProfile(on bool) (*running, error) {
	if !on {
		return nil, nil
	}
	r := &running{}
	return r, pprof.StartCPUProfile(&r.buf)
}

func (r *running) stop() (cpu, error) {
	if r == nil {
		return nil, nil
	}
	pprof.StopCPUProfile()
	p, err := profile.Parse(&r.buf)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	return parts(p), nil
}

// parts adds up a profile's samples.
func parts(p *profile.Profile) cpu {
	value := len(p.SampleType) - 1 // of a CPU profile: nanoseconds
	c := cpu{}
	for _, s := range p.Sample {
		c[partOfStack(s)] += float64(s.Value[value])
	}
	return c
}

func partOfStack(s *profile.Sample) string {
	for _, loc := range s.Location { // the innermost first
		for _, line := range loc.Line {
			if part := partOf(line.Function.Name); part != "" {
				return part
			}
		}
	}
	return partOther
}
