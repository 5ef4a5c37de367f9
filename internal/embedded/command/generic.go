package command

import (
	"slices"
	"strings"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// generic holds the arguments that every command takes.
type generic struct {
	maxTime time.Duration
	comment bsonx.Value
	session []byte // id of the logical session, aliases the request; nil without one
	journal bool   // writeConcern j: true
	awaited bool   // writeConcern w other than 0

	numbered  bool // with txnNumber
	txnNumber int64
	stmtIDs   []int32 // of a numbered write's statements; firstStmt and up when there are none
	firstStmt int32
}

// parseGeneric reads the generic arguments and refuses fields that the command does not know.
func (c *call) parseGeneric() error {
	c.g.awaited = true
	it := c.body.Iter()
	it.Next()
	for it.Next() {
		name, v := it.Name(), it.Value()
		known, err := c.genericField(name, v)
		if err != nil {
			return err
		}
		if !known && c.cmd.args != nil && !slices.Contains(c.cmd.args, string(name)) {
			return mongoerr.New(errUnknownField, "BSON field '%s.%s' is an unknown field.", c.cmd.name, name)
		}
	}
	if c.g.numbered {
		if err := c.checkNumbered(); err != nil {
			return err
		}
	}
	if c.db == "" {
		return mongoerr.New(errMissingField, "OP_MSG requests require a $db argument")
	}
	return checkDB(c.db)
}

func (c *call) genericField(name []byte, v bsonx.Value) (known bool, err error) {
	switch string(name) {
	case "$db":
		if v.Type != bsonx.TypeString {
			return true, wrongType(c.cmd.name, "$db", v, "string")
		}
		c.db = v.Str()
		if c.db == "" {
			return true, checkDB("")
		}
	case "lsid":
		err = c.parseSession(v)
	case "txnNumber":
		err = c.parseTxnNumber(v)
	case "stmtId":
		if v.Type != bsonx.TypeInt32 {
			return true, wrongType(c.cmd.name, "stmtId", v, "int")
		}
		c.g.firstStmt = v.Int32()
	case "stmtIds":
		err = c.parseStmtIDs(v)
	case "startTransaction", "autocommit":
		err = errTransaction()
	case "readConcern":
		err = parseReadConcern(c.cmd.name, v)
	case "writeConcern":
		err = c.parseWriteConcern(v)
	case "maxTimeMS":
		c.g.maxTime, err = parseMaxTime(v)
	case "comment":
		c.g.comment = v
	case "apiVersion":
		if v.Type != bsonx.TypeString || v.Str() != "1" {
			err = mongoerr.New(mongoerr.APIVersionError, "API version must be \"1\", got %s", v)
		}
	case "collation":
		if c.cmd.name == "mapReduce" {
			break // it has a code of its own
		}
		err = checkCollation(c.cmd.name, v)
	case "apiStrict", "apiDeprecationErrors", "$readPreference", "$queryOptions", "maxTimeMSOpOnly", "readOnce",
		"allowImplicitCollectionCreation", "clientOperationKey", "mayBypassWriteBlocking", "rawData":
	default:
		return strings.HasPrefix(string(name), "$"), nil // $clusterTime, $client, … of the cluster's own
	}
	return true, err
}

func (c *call) parseSession(v bsonx.Value) error {
	if v.Type != bsonx.TypeEmbeddedDocument {
		return wrongType(c.cmd.name, "lsid", v, "object")
	}
	id := v.Doc().Get("id")
	if id.Type != bsonx.TypeBinary {
		return wrongType(c.cmd.name, "lsid.id", id, "binData")
	}
	_, b := id.Binary()
	c.g.session = c.sess.own(b)
	if c.sess.Stranger() {
		return nil // nothing is remembered for one
	}
	c.s.idle.touch(c.g.session, time.Now())
	return nil
}

func parseReadConcern(cmd string, v bsonx.Value) error {
	if v.Type != bsonx.TypeEmbeddedDocument {
		return wrongType(cmd, "readConcern", v, "object")
	}
	d := v.Doc()
	if level := d.Get("level"); !level.IsMissing() {
		if level.Type != bsonx.TypeString {
			return wrongType(cmd, "readConcern.level", level, "string")
		}
		switch s := level.Str(); s {
		case "local", "available", "majority":
		case "linearizable", "snapshot":
			return mongoerr.New(mongoerr.NotAReplicaSet, "node needs to be a replica set member to use read concern %s", s)
		default:
			return mongoerr.New(mongoerr.BadValue, "unknown read concern level '%s'", s)
		}
	}
	if t := d.Get("afterClusterTime"); !t.IsMissing() {
		return mongoerr.New(mongoerr.NotAReplicaSet, "node needs to be a replica set member to use read concern afterClusterTime")
	}
	return nil
}

func parseMaxTime(v bsonx.Value) (time.Duration, error) {
	n, ok := v.AsInt64()
	switch {
	case !v.IsNumber():
		return 0, mongoerr.New(mongoerr.BadValue, "maxTimeMS must be a number")
	case !ok:
		return 0, mongoerr.New(mongoerr.BadValue, "maxTimeMS has non-integral value")
	case n < 0 || n > 1<<31-1:
		return 0, mongoerr.New(mongoerr.BadValue, "maxTimeMS is out of range: %d", n)
	}
	return time.Duration(n) * time.Millisecond, nil
}

// checkCollation refuses every collation but the simple one: strings compare by their bytes here.
func checkCollation(cmd string, v bsonx.Value) error {
	if v.Type != bsonx.TypeEmbeddedDocument {
		return wrongType(cmd, "collation", v, "object")
	}
	locale := v.Doc().Get("locale")
	if v.Doc().Len() == 0 || locale.Type == bsonx.TypeString && locale.Str() == "simple" {
		return nil
	}
	return mongoerr.New(mongoerr.BadValue, "collation %s is not supported: strings compare by their bytes here; leave it out or use {locale: \"simple\"}", v)
}
