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
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"

	"mrbench/internal/target"
)

// outputName is what names of output databases look like: mrbench_<run id>, then the row's and the part's number.
var outputName = regexp.MustCompile(`^mrbench_([0-9]{8}t[0-9]{9}[0-9a-f]{4})(_[0-9]+)*$`)

// outputCollection is what names of output collections look like in a database that is not the run's own.
var outputCollection = regexp.MustCompile(`^mrbench_([0-9]{8}t[0-9]{9}[0-9a-f]{4})_([0-9]+_(part_[0-9]+|answer|gathered)|owner)$`)

const ownerSuffix = "_owner"

// ownerOf is the collection that holds the owner of a run's output collections.
func ownerOf(run string) string { return "mrbench_" + run + ownerSuffix }

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

// confirmTimeout is how long the members of a set may take to confirm the first small write.
const confirmTimeout = 30 * time.Second

// newRunID is unique and sorts by time.
func newRunID(now time.Time) string {
	u := now.UTC()
	return fmt.Sprintf("%s%03d%04x", u.Format("20060102t150405"), u.Nanosecond()/1e6, rand.Uint32()&0xffff)
}

// outputs are the databases a run writes to. Each is recorded in the data directory before it is made, and gets an
// owner before anything else is written to it.
type outputs struct {
	run    string
	db     string // of others, where all outputs go as collections; "" they go to databases of the run's own
	client *mongo.Client
	server string
	record created
	now    func() time.Time
	write  *writeconcern.WriteConcern // of marks; nil: the client's

	mu  sync.Mutex
	dbs []string // databases, or collections of db, made and not dropped
}

func newOutputs(run string, t *target.Target, record created, now func() time.Time) *outputs {
	o := &outputs{run: run, record: record, now: now}
	if t != nil { // nil: nothing is made
		o.client, o.server = t.Client, t.Identity
	}
	return o
}

// prefix is the name of a row's database, and what the names of its parts' databases start with.
func (o *outputs) prefix(row int) string { return fmt.Sprintf("mrbench_%s_%d", o.run, row+1) }

// create records a database and makes it by giving it an owner.
func (o *outputs) create(ctx context.Context, db string) error {
	if o.db != "" {
		return o.createCollection(ctx, db)
	}
	if m := outputName.FindStringSubmatch(db); m == nil || m[1] != o.run {
		return fmt.Errorf("output database %s: not a name of run %s", db, o.run)
	}
	if known, err := o.note(kindDatabase, db, db); known || err != nil {
		return err
	}
	if err := o.mark(ctx, o.client.Database(db).Collection(ownerCollection)); err != nil {
		return o.unmade(err, kindDatabase, db, db)
	}
	return nil
}

// createCollection records a collection of o.db, and gives the run's collections there an owner before the first of them.
func (o *outputs) createCollection(ctx context.Context, name string) error {
	if m := outputCollection.FindStringSubmatch(name); m == nil || m[1] != o.run {
		return fmt.Errorf("output collection %s: not a name of run %s", name, o.run)
	}
	marked, err := o.note(kindOutput, ownerOf(o.run), o.db+"."+ownerOf(o.run))
	if err != nil {
		return err
	}
	if !marked {
		if err := o.mark(ctx, o.client.Database(o.db).Collection(ownerOf(o.run))); err != nil {
			return o.unmade(err, kindOutput, ownerOf(o.run), o.db+"."+ownerOf(o.run))
		}
	}
	_, err = o.note(kindOutput, name, o.db+"."+name)
	return err
}

// note records what is about to be made, unless it is known already.
func (o *outputs) note(kind, name, full string) (known bool, err error) {
	o.mu.Lock()
	known = slices.Contains(o.dbs, name)
	if !known {
		o.dbs = append(o.dbs, name)
	}
	o.mu.Unlock()
	if known {
		return true, nil
	}
	return false, o.record.add(creation{Kind: kind, Name: full, Server: o.server, Run: o.run, Time: o.now()})
}

// unmade takes back a note when the server refused to make the thing, so that nobody tries to drop it.
func (o *outputs) unmade(err error, kind, name, full string) error {
	failed := fmt.Errorf("output %s %s: %w", whatIs(kind), full, err)
	if we, ok := errors.AsType[mongo.WriteException](err); ok && we.WriteConcernError != nil && len(we.WriteErrors) == 0 {
		return fmt.Errorf("output %s %s: it was made, but its write concern was not met: %s (code %d); ask for one that this set can give with --write-concern: %w",
			whatIs(kind), full, we.WriteConcernError.Message, we.WriteConcernError.Code, err)
	}
	if _, refused := errors.AsType[mongo.ServerError](err); !refused || mongo.IsNetworkError(err) {
		return failed
	}
	o.mu.Lock()
	o.dbs = slices.DeleteFunc(o.dbs, func(n string) bool { return n == name })
	o.mu.Unlock()
	return errors.Join(failed, o.record.add(creation{Kind: kind, Name: full, Server: o.server, Run: o.run, Time: o.now(), Dropped: true}))
}

func (o *outputs) mark(ctx context.Context, c *mongo.Collection) error {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	if o.write != nil { // a set that can't confirm is found out here, before hours of work
		w := *o.write
		if w.WTimeout == 0 {
			w.WTimeout = confirmTimeout
		}
		if c, err = c.Clone(options.Collection().SetWriteConcern(&w)); err != nil {
			return err
		}
	}
	_, err = c.InsertOne(ctx, owner{o.run, program, host, os.Getpid(), o.now()})
	return err
}

// dropOne drops a database, or a collection of o.db.
func (o *outputs) dropOne(ctx context.Context, name string) (kind, full string, err error) {
	if o.db != "" {
		return kindOutput, o.db + "." + name, o.client.Database(o.db).Collection(name).Drop(ctx)
	}
	return kindDatabase, name, o.client.Database(name).Drop(ctx)
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
		kind, full, err := o.dropOne(ctx, db)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("drop output %s %s: %w; mrbench clean will drop it", whatIs(kind), full, err))
			continue
		}
		o.mu.Lock()
		o.dbs = slices.DeleteFunc(o.dbs, func(n string) bool { return n == db })
		o.mu.Unlock()
		if err := o.record.add(creation{Kind: kind, Name: full, Server: o.server, Run: o.run, Time: o.now(), Dropped: true}); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func whatIs(kind string) string {
	if kind == kindOutput {
		return "collection"
	}
	return kind
}

// of says whether a database belongs to a row.
func (o *outputs) of(row int) func(db string) bool {
	p := o.prefix(row)
	return func(db string) bool { return db == p || len(db) > len(p) && db[:len(p)+1] == p+"_" }
}

// readOwner returns the owner of a database, or nil.
func readOwner(ctx context.Context, db *mongo.Database) (*owner, error) {
	return ownerIn(ctx, db.Collection(ownerCollection))
}

func ownerIn(ctx context.Context, c *mongo.Collection) (*owner, error) {
	var o owner
	err := c.FindOne(ctx, bson.D{{Key: "program", Value: program}}).Decode(&o)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("owner of database %s: %w", c.Database().Name(), err)
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
