package mr

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readconcern"
	"go.mongodb.org/mongo-driver/mongo/readpref"
)

// out is an output database: it is read where it was just written, whatever the client's reads are set to.
func (c Config) out(name string) *mongo.Database {
	o := options.Database().SetReadPreference(readpref.Primary()).SetReadConcern(readconcern.Local())
	if c.WriteConcern != nil {
		o.SetWriteConcern(c.WriteConcern)
	}
	return c.Client.Database(name, o)
}

// concern is the write concern as a command's field has it; nil when nothing is asked for.
func (c Config) concern() bson.D {
	w := c.WriteConcern
	if w == nil {
		return nil
	}
	var d bson.D
	if w.W != nil {
		d = append(d, bson.E{Key: "w", Value: w.W})
	}
	if w.Journal != nil {
		d = append(d, bson.E{Key: "j", Value: *w.Journal})
	}
	if w.WTimeout > 0 {
		d = append(d, bson.E{Key: "wtimeout", Value: w.WTimeout.Milliseconds()})
	}
	return d
}

// confirmed is a command that writes, with the write concern.
func (c Config) confirmed(cmd bson.D) bson.D {
	if d := c.concern(); d != nil {
		cmd = append(cmd, bson.E{Key: "writeConcern", Value: d})
	}
	return cmd
}

// UnconfirmedError says that an output was written, but not confirmed as its write concern asks.
type UnconfirmedError struct {
	Code    int
	Message string
	Err     error // the driver's
}

func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("mr: the output was written, but its write concern was not met: %s (code %d): ask for one that this set can give", e.Message, e.Code)
}

func (e *UnconfirmedError) Unwrap() error { return e.Err }

// unconfirmed tells a write concern that was not met, which servers report beside ok: 1; nil for other errors.
func unconfirmed(err error) error {
	var we mongo.WriteException
	if !errors.As(err, &we) || we.WriteConcernError == nil || len(we.WriteErrors) > 0 {
		return nil
	}
	return &UnconfirmedError{we.WriteConcernError.Code, we.WriteConcernError.Message, err}
}
