package command

import (
	"context"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// hello introduces the server: a standalone that can be written to. It gives no topologyVersion, so drivers
// poll instead of waiting for a push. Who comes with the version of another process is answered at once, as by any server.
func hello(_ context.Context, c *call) error {
	if version, wait := c.arg("topologyVersion"), c.arg("maxAwaitTimeMS"); version.IsMissing() != wait.IsMissing() {
		return mongoerr.New(errHalfAwait, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS', and the other way round")
	}
	if c.cmd.name == "hello" {
		c.bool("isWritablePrimary", true)
	} else {
		c.bool("ismaster", true)
	}
	c.bool("helloOk", true)
	c.int32("maxBsonObjectSize", MaxDocumentBytes)
	c.int32("maxMessageSizeBytes", MaxMessageBytes)
	c.int32("maxWriteBatchSize", MaxWriteBatch)
	c.date("localTime", time.Now().UnixMilli())
	c.int32("logicalSessionTimeoutMinutes", int32(logicalSessionTimeout.Minutes()))
	c.int32("connectionId", int32(c.sess.id))
	c.int32("minWireVersion", minWireVersion)
	c.int32("maxWireVersion", maxWireVersion)
	c.bool("readOnly", false)
	c.str("mrbench", c.s.version)
	c.compression(c.arg("compression"))
	c.client(c.arg("client"))
	c.supportedMechanisms(c.arg("saslSupportedMechs"))
	c.speculate(c.arg("speculativeAuthenticate"))
	return nil
}

// compression answers the client's list with those compressors of it that are there, in its order.
func (c *call) compression(v bsonx.Value) {
	if v.Type != bsonx.TypeArray {
		return
	}
	var both []string
	for it := v.Elems(); it.Next(); {
		if it.Value().Type != bsonx.TypeString {
			continue
		}
		switch name := it.Value().Str(); name {
		case "snappy", "zstd", "zlib":
			both = append(both, name)
		}
	}
	if len(both) > 0 {
		c.strings("compression", both)
	}
}

// client remembers who says to be calling, for currentOp.
func (c *call) client(v bsonx.Value) {
	if v.Type != docType {
		return
	}
	d := v.Doc()
	if app := d.Get("application"); app.Type == docType {
		if name := app.Doc().Get("name"); name.Type == bsonx.TypeString {
			s := name.Str()
			c.sess.appName.Store(&s)
		}
	}
	if driver := d.Get("driver"); driver.Type == docType {
		name, version := driver.Doc().Get("name"), driver.Doc().Get("version")
		if name.Type == bsonx.TypeString && version.Type == bsonx.TypeString {
			s := name.Str() + " " + version.Str()
			c.sess.driver.Store(&s)
		}
	}
}
