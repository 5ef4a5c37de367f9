package seed

import (
	"encoding/binary"
	"time"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
)

// idElement is the length of an _id that is an ObjectId: type, name, value.
const idElement = 1 + len("_id") + 1 + 12

// idMaker gives documents of files that have no _id one that depends on the load and
// on the record's place alone: a batch that is sent again is then known by its keys. It is an
// ObjectId of the load's begin, four random bytes of the load, and the place in the
// whole text, whose upper half goes into the time: 4 GiB are a second, which no load
// outruns. So _ids ascend through the files.
type idMaker struct {
	start uint32 // seconds
	tag   uint32
}

func newIDMaker(started time.Time, tag uint32) idMaker { return idMaker{uint32(started.Unix()), tag} }

// ensure gives the document that begins at at in buf an _id when it has none.
func (m idMaker) ensure(buf []byte, at int, place int64) []byte {
	if hasID(buf[at:]) {
		return buf
	}
	var id [idElement]byte
	copy(id[:], "\x07_id\x00")
	binary.BigEndian.PutUint32(id[5:], m.start+uint32(place>>32))
	binary.BigEndian.PutUint32(id[9:], m.tag)
	binary.BigEndian.PutUint32(id[13:], uint32(place))
	buf = append(buf, id[:]...)
	copy(buf[at+4+idElement:], buf[at+4:len(buf)-idElement])
	copy(buf[at+4:], id[:])
	binary.LittleEndian.PutUint32(buf[at:], uint32(len(buf)-at))
	return buf
}

// hasID says whether a valid document has a field _id at its top.
func hasID(doc []byte) bool {
	if len(doc) > 9 && string(doc[5:9]) == "_id\x00" {
		return true
	}
	rest := doc[4:]
	for len(rest) > 1 {
		e, next, ok := bsoncore.ReadElement(rest)
		if !ok {
			return false
		}
		if string(e.KeyBytes()) == "_id" {
			return true
		}
		rest = next
	}
	return false
}
