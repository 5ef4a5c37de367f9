package command

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"time"
)

const storageEngine = "pebble"

// opLines are the names of opcounters, by opKind.
var opLines = [opKinds]string{opInsert: "insert", opQuery: "query", opUpdate: "update", opDelete: "delete", opGetMore: "getmore", opCommand: "command"}

// serverStatus gives the counters of this process since it opened the data directory.
func serverStatus(_ context.Context, c *call) error {
	s := c.s
	up := time.Since(s.started)
	c.str("host", hostname())
	c.str("version", ServerVersion)
	c.str("mrbench", s.version)
	c.str("process", "mrbench")
	c.int64("pid", int64(os.Getpid()))
	c.double("uptime", math.Floor(up.Seconds()))
	c.int64("uptimeMillis", up.Milliseconds())
	c.int64("uptimeEstimate", int64(up.Seconds()))
	c.date("localTime", time.Now().UnixMilli())
	c.connections()
	c.networkCounters()
	c.opCounters()
	c.cursorMetrics()
	at := c.startDoc("storageEngine")
	c.str("name", storageEngine)
	c.bool("supportsCommittedReads", true)
	c.bool("persistent", true)
	c.bool("readOnly", false)
	c.int64("bytesOnDisk", s.db.DiskUsage())
	c.end(at)
	c.memory()
	return nil
}

func (c *call) connections() {
	n := &c.s.counters
	at := c.startDoc("connections")
	c.count("current", n.connNow.Load())
	c.count("totalCreated", n.connTotal.Load())
	c.count("active", c.s.ops.count())
	c.end(at)
	at = c.startDoc("logicalSessionRecordCache")
	c.count("activeSessionsCount", int64(c.s.idle.count()))
	c.end(at)
}

func (c *call) networkCounters() {
	n := &c.s.counters
	at := c.startDoc("network")
	c.int64("bytesIn", n.bytesIn.Load())
	c.int64("bytesOut", n.bytesOut.Load())
	c.int64("numRequests", n.requests.Load())
	c.end(at)
}

func (c *call) opCounters() {
	at := c.startDoc("opcounters")
	for _, k := range []opKind{opInsert, opQuery, opUpdate, opDelete, opGetMore, opCommand} {
		c.count(opLines[k], c.s.counters.ops[k].Load())
	}
	c.end(at)
}

func (c *call) cursorMetrics() {
	n := &c.s.counters
	open, pinned, made, idle := c.s.cursors.counts()
	at := c.startDoc("metrics")
	cur := c.startDoc("cursor")
	c.int64("timedOut", idle)
	c.int64("totalOpened", made)
	sub := c.startDoc("open")
	c.int64("pinned", pinned)
	c.int64("total", open)
	c.end(sub)
	c.end(cur)
	doc := c.startDoc("document")
	c.int64("deleted", n.docsDel.Load())
	c.int64("inserted", n.docsIn.Load())
	c.int64("returned", n.docsOut.Load())
	c.int64("updated", n.docsUpd.Load())
	c.end(doc)
	c.end(at)
}

// memory is in MiB, as MongoDB's.
func (c *call) memory() {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	total, released, heap := sample[0].Value.Uint64(), sample[1].Value.Uint64(), sample[2].Value.Uint64()
	at := c.startDoc("mem")
	c.int32("bits", 64)
	c.int32("resident", int32((total-released)>>20))
	c.int32("virtual", int32(total>>20))
	c.bool("supported", true)
	c.end(at)
	at = c.startDoc("goRuntime")
	c.int64("heapBytes", int64(heap))
	c.int32("goroutines", int32(runtime.NumGoroutine()))
	c.end(at)
}
