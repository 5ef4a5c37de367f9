package command

import (
	"context"
	"math"
)

// dbStats sums up the collections of a database, in bytes divided by scale.
func dbStats(_ context.Context, c *call) error {
	scale, err := c.scale()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	var collections, views, objects, data, storage, indexes, indexBytes int64
	for _, coll := range snap.Collections(c.db) {
		if coll.IsView() {
			views++
			continue
		}
		st := snap.Stats(coll)
		collections++
		objects += st.Documents
		data += st.Bytes
		storage += st.StorageSize
		indexes += int64(len(coll.Indexes))
		for _, n := range st.IndexBytes {
			indexBytes += n
		}
	}
	c.str("db", c.db)
	c.count("collections", collections)
	c.count("views", views)
	c.count("objects", objects)
	avg := 0.0
	if objects > 0 {
		avg = float64(data) / float64(objects)
	}
	c.double("avgObjSize", avg)
	c.scaled("dataSize", data, scale)
	c.scaled("storageSize", storage, scale)
	c.count("indexes", indexes)
	c.scaled("indexSize", indexBytes, scale)
	c.scaled("totalSize", storage+indexBytes, scale)
	c.count("scaleFactor", scale)
	return nil
}

// scaled appends a size as dbStats does: a double, whole unless scaled.
func (c *call) scaled(name string, n, scale int64) {
	v := float64(n) / float64(scale)
	if scale == 1 {
		v = math.Trunc(v)
	}
	c.double(name, v)
}
