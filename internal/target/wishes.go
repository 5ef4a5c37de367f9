package target

import (
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readconcern"
	"go.mongodb.org/mongo-driver/mongo/readpref"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"
)

// Wishes are what a connection string says of how its user's reads and writes are to be made. nil: nothing.
type Wishes struct {
	ReadPreference *readpref.ReadPref
	ReadConcern    *readconcern.ReadConcern
	WriteConcern   *writeconcern.WriteConcern
}

// takeWishes takes them out of options, so that counts, proofs and records are read where they were written: a secondary
// that is behind would give another number. A write concern stays, for what is written, unless it asks for no answer.
func takeWishes(o *options.ClientOptions) Wishes {
	w := Wishes{o.ReadPreference, o.ReadConcern, o.WriteConcern}
	o.SetReadPreference(readpref.Primary())
	o.ReadConcern = nil
	if w.WriteConcern != nil && !w.WriteConcern.Acknowledged() {
		o.WriteConcern = nil
	}
	return w
}
