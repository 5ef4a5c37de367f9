package query

import (
	"strconv"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// docBuilder appends the fields of one document.
type docBuilder struct {
	buf   []byte
	start int32
}

func newDoc() *docBuilder {
	b := &docBuilder{}
	b.start, b.buf = bsoncore.AppendDocumentStart(nil)
	return b
}

func (b *docBuilder) set(name string, v bsonx.Value) *docBuilder {
	b.buf = bsonx.AppendElem(b.buf, name, v)
	return b
}

func (b *docBuilder) str(name, s string) *docBuilder { return b.set(name, bsonx.String(s)) }

func (b *docBuilder) doc() bsonx.Doc {
	b.buf, _ = bsoncore.AppendDocumentEnd(b.buf, b.start) // the length of a document built here always fits
	return b.buf
}

// oneField is the document {name: v}.
func oneField(name string, v bsonx.Value) bsonx.Doc { return newDoc().set(name, v).doc() }

// arrayBuilder appends the elements of one array, given back as {name: [...]}.
type arrayBuilder struct {
	name string
	in   *docBuilder
	n    int
}

func newArray(name string) *arrayBuilder { return &arrayBuilder{name: name, in: newDoc()} }

func (b *arrayBuilder) add(v bsonx.Value) {
	b.in.set(strconv.Itoa(b.n), v)
	b.n++
}

func (b *arrayBuilder) value() bsonx.Value { return bsonx.ArrayValue(b.in.doc()) }
func (b *arrayBuilder) doc() bsonx.Doc     { return oneField(b.name, b.value()) }
