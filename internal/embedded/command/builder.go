package command

import (
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// builder appends elements to the document under construction at the end of b.
type builder struct{ b []byte }

func (w *builder) int32(name string, v int32)    { w.b = bsoncore.AppendInt32Element(w.b, name, v) }
func (w *builder) int64(name string, v int64)    { w.b = bsoncore.AppendInt64Element(w.b, name, v) }
func (w *builder) double(name string, v float64) { w.b = bsoncore.AppendDoubleElement(w.b, name, v) }

func (w *builder) str(name, v string) { w.b = bsoncore.AppendStringElement(w.b, name, v) }

func (w *builder) bool(name string, v bool) { w.b = bsoncore.AppendBooleanElement(w.b, name, v) }

func (w *builder) date(name string, ms int64) { w.b = bsoncore.AppendDateTimeElement(w.b, name, ms) }
func (w *builder) null(name string)           { w.b = bsoncore.AppendNullElement(w.b, name) }

func (w *builder) value(name string, v bsonx.Value) { w.b = bsonx.AppendElem(w.b, name, v) }

func (w *builder) doc(name string, d bsonx.Doc) {
	w.b = bsoncore.AppendDocumentElement(w.b, name, bsoncore.Document(d))
}

func (w *builder) uuid(name string, u [16]byte) {
	w.b = bsoncore.AppendBinaryElement(w.b, name, bson.TypeBinaryUUID, u[:])
}

func (w *builder) binary(name string, b []byte) {
	w.b = bsoncore.AppendBinaryElement(w.b, name, bson.TypeBinaryGeneric, b)
}

// count appends n as MongoDB appends counters: an int32 where it fits.
func (w *builder) count(name string, n int64) {
	if n == int64(int32(n)) {
		w.int32(name, int32(n))
		return
	}
	w.int64(name, n)
}

func (w *builder) strings(name string, list []string) {
	at := w.startArray(name)
	for i, v := range list {
		w.str(strconv.Itoa(i), v)
	}
	w.end(at)
}

// startDoc and startArray begin a nested value; end finishes the innermost one begun at that place.
func (w *builder) startDoc(name string) (at int32) {
	at, w.b = bsoncore.AppendDocumentElementStart(w.b, name)
	return at
}

func (w *builder) startArray(name string) (at int32) {
	at, w.b = bsoncore.AppendArrayElementStart(w.b, name)
	return at
}

func (w *builder) end(at int32) {
	// The error is about an offset outside of the buffer, which start never gives.
	w.b, _ = bsoncore.AppendDocumentEnd(w.b, at)
}

// startTop begins a top-level document.
func (w *builder) startTop() (at int32) {
	at, w.b = bsoncore.AppendDocumentStart(w.b)
	return at
}

// startElem begins an embedded document that is element i of an array.
func (w *builder) startElem(i int) (at int32) {
	w.elemHeader(bsonx.TypeEmbeddedDocument, i)
	at, w.b = bsoncore.AppendDocumentStart(w.b)
	return at
}

// elem appends element i of an array.
func (w *builder) elem(i int, v bsonx.Value) {
	w.elemHeader(v.Type, i)
	w.b = append(w.b, v.Data...)
}

func (w *builder) elemHeader(t bsonx.Type, i int) {
	w.b = append(w.b, byte(t))
	w.b = strconv.AppendInt(w.b, int64(i), 10)
	w.b = append(w.b, 0)
}

// build makes one document in fresh memory.
func build(fill func(*builder)) bsonx.Doc {
	var w builder
	at := w.startTop()
	fill(&w)
	w.end(at)
	return bsonx.Doc(w.b)
}
