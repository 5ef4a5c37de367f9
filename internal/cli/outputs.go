package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/target"
)

// outputName is what names of output databases look like: mrbench_<run id>, then the row's and the part's number.
var outputName = regexp.MustCompile(`^mrbench_([0-9]{8}t[0-9]{9}[0-9a-f]{4})(_[0-9]+)*$`)

// ownerCollection is in every output database and holds one owner.
const ownerCollection = "mrbench_owner"

// owner says which run a database belongs to.
type owner struct {
	Run     string    `bson:"_id"`
	Program string    `bson:"program"`
	Host    string    `bson:"host"`
	PID     int       `bson:"pid"`
	Created time.Time `bson:"created"`
}

const program = "mrbench"

// newRunID is unique and sorts by time.
func newRunID(now time.Time) string {
	u := now.UTC()
	return fmt.Sprintf("%s%03d%04x", u.Format("20060102t150405"), u.Nanosecond()/1e6, rand.Uint32()&0xffff)
}

// outputs are the databases a run writes to. Each is recorded in the data directory before it is made, and gets an
// owner before anything else is written to it.
type outputs struct {
	run    string
	client *mongo.Client
	server string
	record created
	now    func() time.Time

	mu  sync.Mutex
	dbs []string // made and not dropped
}

func newOutputs(run string, t *target.Target, record created, now func() time.Time) *outputs {
	return &outputs{run: run, client: t.Client, server: t.Identity, record: record, now: now}
}

// prefix is the name of a row's database, and what the names of its parts' databases start with.
func (o *outputs) prefix(row int) string { return fmt.Sprintf("mrbench_%s_%d", o.run, row+1) }

// create records a database and makes it by giving it an owner.
func (o *outputs) create(ctx context.Context, db string) error {
	if m := outputName.FindStringSubmatch(db); m == nil || m[1] != o.run {
		return fmt.Errorf("output database %s: not a name of run %s", db, o.run)
	}
	o.mu.Lock()
	known := slices.Contains(o.dbs, db)
	if !known {
		o.dbs = append(o.dbs, db)
	}
	o.mu.Unlock()
	if known {
		return nil
	}
	if err := o.record.add(creation{Kind: kindDatabase, Name: db, Server: o.server, Run: o.run, Time: o.now()}); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	_, err = o.client.Database(db).Collection(ownerCollection).InsertOne(ctx, owner{o.run, program, host, os.Getpid(), o.now()})
	if err != nil {
		return fmt.Errorf("output database %s: %w", db, err)
	}
	return nil
}

// drop removes the databases of this run whose names keep does not want.
func (o *outputs) drop(ctx context.Context, keep func(db string) bool) error {
	o.mu.Lock()
	names := slices.Clone(o.dbs)
	o.mu.Unlock()
	var failed error
	for _, db := range names {
		if keep != nil && keep(db) {
			continue
		}
		if err := o.client.Database(db).Drop(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("drop output database %s: %w; mrbench clean will drop it", db, err))
			continue
		}
		o.mu.Lock()
		o.dbs = slices.DeleteFunc(o.dbs, func(n string) bool { return n == db })
		o.mu.Unlock()
		if err := o.record.add(creation{Kind: kindDatabase, Name: db, Server: o.server, Run: o.run, Time: o.now(), Dropped: true}); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// of says whether a database belongs to a row.
func (o *outputs) of(row int) func(db string) bool {
	p := o.prefix(row)
	return func(db string) bool { return db == p || len(db) > len(p) && db[:len(p)+1] == p+"_" }
}

// readOwner returns the owner of a database, or nil.
func readOwner(ctx context.Context, db *mongo.Database) (*owner, error) {
	var o owner
	err := db.Collection(ownerCollection).FindOne(ctx, bson.D{{Key: "program", Value: program}}).Decode(&o)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("owner of database %s: %w", db.Name(), err)
	}
	return &o, nil
}

// collectionUUID returns whether a collection exists, and its UUID as text ("" where the server gives none).
func collectionUUID(ctx context.Context, db *mongo.Database, name string) (uuid string, exists bool, err error) {
	specs, err := db.ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: name}})
	if err != nil {
		return "", false, fmt.Errorf("list collections of %s: %w", db.Name(), err)
	}
	for _, s := range specs {
		if s.Name == name {
			if s.UUID != nil {
				uuid = fmt.Sprintf("%x", s.UUID.Data)
			}
			return uuid, true, nil
		}
	}
	return "", false, nil
}
