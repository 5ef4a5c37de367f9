package telemetry

import "mrbench/internal/bench"

// What can be observed. The order is that of observed.
const (
	serverCPU = iota
	clientCPU
	processCPU
	serverMemory
	clientMemory
	processMemory
	diskRead
	diskWritten
	sent
	received
	networkIn
	networkOut
	inserts
	queries
	updates
	deletes
	getMores
	commands
	docsInserted
	docsReturned
	connections
	active
	queued
	lockWait
	cacheBytes
	cacheDirty
	observables
)

// observable is one column of a series.
type observable struct {
	gauge bool // a level, of which the highest counts; else a total that grows, of which the growth counts
	// Where serverStatus has it, the first that is there, and the factor that makes it the column's unit. Others come from elsewhere.
	paths  [][]string
	scale  float64
	column func(*bench.Series) *[]float64
}

func counter(column func(*bench.Series) *[]float64, path ...string) observable {
	o := observable{scale: 1, column: column}
	if len(path) > 0 {
		o.paths = [][]string{path}
	}
	return o
}

func gauge(column func(*bench.Series) *[]float64, scale float64, paths ...[]string) observable {
	return observable{gauge: true, paths: paths, scale: scale, column: column}
}

// observed describes all observables.
var observed = [observables]observable{
	serverCPU:     counter(func(s *bench.Series) *[]float64 { return &s.ServerCPU }),
	clientCPU:     counter(func(s *bench.Series) *[]float64 { return &s.ClientCPU }),
	processCPU:    counter(func(s *bench.Series) *[]float64 { return &s.ProcessCPU }),
	serverMemory:  gauge(func(s *bench.Series) *[]float64 { return &s.ServerMemoryBytes }, 1<<20, []string{"mem", "resident"}),
	clientMemory:  gauge(func(s *bench.Series) *[]float64 { return &s.ClientMemoryBytes }, 1),
	processMemory: gauge(func(s *bench.Series) *[]float64 { return &s.ProcessMemoryBytes }, 1),
	diskRead:      counter(func(s *bench.Series) *[]float64 { return &s.DiskReadBytes }),
	diskWritten:   counter(func(s *bench.Series) *[]float64 { return &s.DiskWrittenBytes }),
	sent:          counter(func(s *bench.Series) *[]float64 { return &s.SentBytes }),
	received:      counter(func(s *bench.Series) *[]float64 { return &s.ReceivedBytes }),
	networkIn:     counter(func(s *bench.Series) *[]float64 { return &s.NetworkInBytes }, "network", "bytesIn"),
	networkOut:    counter(func(s *bench.Series) *[]float64 { return &s.NetworkOutBytes }, "network", "bytesOut"),
	inserts:       counter(func(s *bench.Series) *[]float64 { return &s.Inserts }, "opcounters", "insert"),
	queries:       counter(func(s *bench.Series) *[]float64 { return &s.Queries }, "opcounters", "query"),
	updates:       counter(func(s *bench.Series) *[]float64 { return &s.Updates }, "opcounters", "update"),
	deletes:       counter(func(s *bench.Series) *[]float64 { return &s.Deletes }, "opcounters", "delete"),
	getMores:      counter(func(s *bench.Series) *[]float64 { return &s.GetMores }, "opcounters", "getmore"),
	commands:      counter(func(s *bench.Series) *[]float64 { return &s.Commands }, "opcounters", "command"),
	docsInserted:  counter(func(s *bench.Series) *[]float64 { return &s.DocumentsInserted }, "metrics", "document", "inserted"),
	docsReturned:  counter(func(s *bench.Series) *[]float64 { return &s.DocumentsReturned }, "metrics", "document", "returned"),
	connections:   gauge(func(s *bench.Series) *[]float64 { return &s.Connections }, 1, []string{"connections", "current"}),
	active:        gauge(func(s *bench.Series) *[]float64 { return &s.Active }, 1, []string{"globalLock", "activeClients", "total"}, []string{"connections", "active"}),
	queued:        gauge(func(s *bench.Series) *[]float64 { return &s.Queued }, 1, []string{"globalLock", "currentQueue", "total"}),
	lockWait:      counter(func(s *bench.Series) *[]float64 { return &s.LockWait }),
	cacheBytes:    gauge(func(s *bench.Series) *[]float64 { return &s.CacheBytes }, 1, []string{"wiredTiger", "cache", "bytes currently in the cache"}),
	cacheDirty:    gauge(func(s *bench.Series) *[]float64 { return &s.CacheDirtyBytes }, 1, []string{"wiredTiger", "cache", "tracked dirty bytes in the cache"}),
}
