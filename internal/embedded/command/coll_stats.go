package command

import (
	"context"
	"maps"
	"slices"

	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// collStats tells the size of a collection, in bytes divided by scale.
func collStats(_ context.Context, c *call) error {
	ns, err := c.readNS()
	if err != nil {
		return err
	}
	scale, err := c.scale()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	coll := snap.Collection(ns)
	if err := requireCollection(ns, coll); err != nil {
		return err
	}
	c.str("ns", ns.String())
	if coll == nil {
		c.sizes(store.Stats{}, 0, scale)
		return nil
	}
	c.sizes(snap.Stats(coll), len(coll.Indexes), scale)
	return nil
}

func (c *call) scale() (int64, error) {
	n, err := c.whole("scale", 1)
	if err == nil && n < 1 {
		err = mongoerr.New(mongoerr.BadValue, "scale has to be >= 1")
	}
	return n, err
}

func (c *call) sizes(st store.Stats, indexes int, scale int64) {
	c.count("size", st.Bytes/scale)
	c.count("count", st.Documents)
	if st.Documents > 0 {
		c.count("avgObjSize", st.Bytes/st.Documents)
	}
	c.count("storageSize", st.StorageSize/scale)
	c.int32("freeStorageSize", 0)
	c.bool("capped", false)
	c.int32("nindexes", int32(indexes))
	var total int64
	at := c.startDoc("indexSizes")
	for _, name := range slices.Sorted(maps.Keys(st.IndexBytes)) {
		total += st.IndexBytes[name]
		c.count(name, st.IndexBytes[name]/scale)
	}
	c.end(at)
	c.count("totalIndexSize", total/scale)
	c.count("totalSize", (st.StorageSize+total)/scale)
	c.count("scaleFactor", scale)
}
