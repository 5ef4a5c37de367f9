package mr

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/splitter"
)

// A batch of copied results. Larger ones gain nothing and hold memory.
const (
	insertDocuments = 5000
	insertBytes     = 2 << 20
)

// inserter copies raw documents into a collection with prebuilt insert commands.
type inserter struct {
	to     *mongo.Collection
	limit  int
	buf    []byte
	head   int   // where the documents array's length stands
	starts []int // where each document starts
	ends   []int
	name   []byte
	sent   int // documents in batches that were sent
	// clash gets the documents whose _id was there already, before the buffer is used
	// again. Nil: that is an error.
	clash func([]bson.Raw) error
}

func newInserter(to *mongo.Collection, server splitter.Server, concern bson.D) *inserter {
	x := &inserter{to: to, limit: min(insertDocuments, server.MaxWriteBatch)}
	_, x.buf = bsoncore.AppendDocumentStart(x.buf)
	x.buf = bsoncore.AppendStringElement(x.buf, "insert", to.Name())
	x.buf = bsoncore.AppendBooleanElement(x.buf, "ordered", false)
	if concern != nil {
		if d, err := bson.Marshal(concern); err == nil { // three numbers and words: it can't fail
			x.buf = bsoncore.AppendDocumentElement(x.buf, "writeConcern", d)
		}
	}
	var head int32
	head, x.buf = bsoncore.AppendArrayElementStart(x.buf, "documents")
	x.head = int(head)
	return x
}

// add appends a document by a function and sends the batch when it is full.
func (x *inserter) add(ctx context.Context, appendDoc func(dst []byte) []byte) error {
	if len(x.starts) == 0 {
		x.buf = x.buf[:x.head+4]
	}
	x.name = strconv.AppendInt(x.name[:0], int64(len(x.starts)), 10)
	x.buf = append(x.buf, byte(bson.TypeEmbeddedDocument))
	x.buf = append(x.buf, x.name...)
	x.buf = append(x.buf, 0)
	x.starts = append(x.starts, len(x.buf))
	x.buf = appendDoc(x.buf)
	x.ends = append(x.ends, len(x.buf))
	if len(x.starts) >= x.limit || len(x.buf) >= insertBytes {
		return x.flush(ctx)
	}
	return nil
}

func (x *inserter) flush(ctx context.Context) error {
	n := len(x.starts)
	if n == 0 {
		return nil
	}
	x.buf = append(x.buf, 0, 0)
	binary.LittleEndian.PutUint32(x.buf[x.head:], uint32(len(x.buf)-1-x.head))
	binary.LittleEndian.PutUint32(x.buf, uint32(len(x.buf)))
	err := x.to.Database().RunCommand(ctx, bson.Raw(x.buf)).Err()
	if err != nil {
		err = x.explain(err)
	}
	x.sent += n
	x.starts, x.ends = x.starts[:0], x.ends[:0]
	return err
}

func (x *inserter) explain(err error) error {
	ns := x.to.Database().Name() + "." + x.to.Name()
	var we mongo.WriteException
	if u := unconfirmed(err); u != nil {
		err = u
	}
	if !errors.As(err, &we) || len(we.WriteErrors) == 0 || x.clash == nil {
		return fmt.Errorf("mr: insert into %s: %w", ns, err)
	}
	docs := make([]bson.Raw, 0, len(we.WriteErrors))
	for _, e := range we.WriteErrors {
		if e.Code != codeDuplicateKey || e.Index >= len(x.starts) {
			return fmt.Errorf("mr: insert into %s: %w", ns, err)
		}
		docs = append(docs, bson.Raw(x.buf[x.starts[e.Index]:x.ends[e.Index]]))
	}
	return x.clash(docs)
}
