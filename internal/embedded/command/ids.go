package command

import (
	"crypto/rand"

	"github.com/google/uuid"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

func newObjectID() [12]byte { return primitive.NewObjectID() }

func newUUID() [16]byte { return uuid.New() }

// newCursorID is positive and not to be guessed from another one.
func newCursorID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	id := int64(0)
	for _, x := range b {
		id = id<<8 | int64(x)
	}
	return max(id&(1<<63-1), 1)
}
