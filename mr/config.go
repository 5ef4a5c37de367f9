package mr

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"

	"mrbench/splitter"
)

// Layout says where the parts of a partitioned run are written.
type Layout int

// The layouts.
const (
	OneDatabase       Layout = iota // all parts in the database <Prefix>
	SeparateDatabases               // part i in the database <Prefix>_i
)

// Config of Run. Client, DB, Coll, Job and Prefix are required.
type Config struct {
	Client    *mongo.Client
	DB, Coll  string
	Job       Job
	Ranges    []splitter.Range // nil: one run over everything
	Predicate splitter.Predicate
	Threads   int // at most this many commands at a time, default 1; fewer than ranges is a work queue
	// Owners are the shards that the ranges lie on, in their order, "" where that is not known (splitter.Report.Owners). At
	// most PerShard commands of one shard's ranges run at a time; 0: no limit.
	Owners   []string
	PerShard int
	Layout   Layout
	JSMode   bool
	// AllowPlain runs without jsMode where the server refuses the option (a router before 4.4);
	// otherwise that is *JSModeError.
	AllowPlain bool
	// KeyTypes are the BSON types of the emit key (splitter.Report.Types); they tell what jsMode's string keys
	// were. Nil: keys stay as the server gives them.
	KeyTypes []string
	// Prefix makes names unique to the run: databases <Prefix>, <Prefix>_0, …; collections "part_0", …, "answer".
	Prefix string
	// OutDB puts all outputs into this one database, whatever the Layout: into collections <Prefix>_part_0, …,
	// <Prefix>_answer, for users who may write to one database only. Nothing else in it is touched. "": into databases
	// of the run's own.
	OutDB string
	// Into puts the parts where it says, instead of into outputs of the run's own that are merged; Layout and OutDB have no part in it then. May be nil.
	Into *Into
	// Created is called before a database is written to, with OutDB before a collection is, so that it can be recorded for
	// clean. May be nil.
	Created func(name string) error
	// Comment tags the commands where the server allows (4.4 and later), default Prefix. Commands with it are
	// killed when the run fails, so it must be the run's own.
	Comment string
	// WriteConcern is sent with every command that writes, and has to be one that asks for an answer; nil: the server's default.
	// Outputs are read from the primary, with read concern local, whatever the client's settings are.
	WriteConcern *writeconcern.WriteConcern
	// Gate is asked before each part's command is sent, with its shard of Owners. It blocks while the server is too busy; its error
	// fails the run. done is called when the command has ended. May be nil: no limit.
	Gate func(ctx context.Context, shard string) (done func(), err error)
	// OnStart is called as parts start, with their Index, Range and Thread, OnPart as they finish; one call of either at a
	// time. May be nil.
	OnStart, OnPart func(Part)
}

// maxDatabaseName is MongoDB's limit, in bytes.
const maxDatabaseName = 63

func (c Config) withDefaults() (Config, error) {
	if c.Client == nil {
		return c, errors.New("mr: no client given")
	}
	if c.DB == "" || c.Coll == "" {
		return c, errors.New("mr: no source collection given")
	}
	if c.Job.Map == "" || c.Job.Reduce == "" {
		return c, errors.New("mr: the job needs a map and a reduce function")
	}
	if c.Threads < 0 {
		return c, fmt.Errorf("mr: %d threads: the number must be positive", c.Threads)
	}
	if c.PerShard < 0 {
		return c, fmt.Errorf("mr: %d commands for each shard: the number must not be negative", c.PerShard)
	}
	c.Threads = max(c.Threads, 1)
	if c.Comment == "" {
		c.Comment = c.Prefix
	}
	longest := c.Prefix + fmt.Sprintf("_%d", max(len(c.Ranges)-1, 0))
	switch {
	case c.Prefix == "":
		return c, errors.New("mr: no prefix for the output databases given")
	case c.Prefix == "admin" || c.Prefix == "config" || c.Prefix == "local":
		return c, fmt.Errorf("mr: output database %s belongs to the server: use another prefix", c.Prefix)
	case strings.ContainsAny(c.Prefix, "/\\. \"$*<>:|?\x00"):
		return c, fmt.Errorf("mr: output prefix %q: a database name has letters, digits, _ and - only", c.Prefix)
	case len(longest) > maxDatabaseName:
		return c, fmt.Errorf("mr: output database %s is longer than %d bytes: use a shorter prefix", longest, maxDatabaseName)
	case c.OutDB == "admin" || c.OutDB == "config" || c.OutDB == "local":
		return c, fmt.Errorf("mr: output database %s belongs to the server: use another", c.OutDB)
	case c.OutDB == "" && c.database(0) == c.DB:
		return c, fmt.Errorf("mr: output database %s is the source's own: use another prefix", c.DB)
	}
	if !c.WriteConcern.Acknowledged() {
		return c, errors.New("mr: write concern 0: outputs are read again and have to be there: use 1 or more")
	}
	if err := c.checkInto(); err != nil {
		return c, err
	}
	if c.Job.Limit < 0 {
		return c, fmt.Errorf("mr: limit %d: it must not be negative", c.Job.Limit)
	}
	if c.Job.Limit > 0 && len(c.Ranges) > 1 {
		return c, errors.New("mr: a job with a limit can not run in ranges: the limit would hold for each range")
	}
	for _, r := range c.Ranges {
		if r.Key != c.Ranges[0].Key {
			return c, fmt.Errorf("mr: ranges of two fields, %s and %s: they overlap", c.Ranges[0].Key, r.Key)
		}
	}
	return c, nil
}

// Names within the output databases.
const (
	answerName = "answer"
	gatherName = "gathered" // all parts' results, before they are reduced again
)

func partName(i int) string { return fmt.Sprintf("part_%d", i) }

// collName is the name of an output collection, which a database that is not the run's own needs to be unique.
func (c Config) collName(name string) string {
	if c.OutDB != "" {
		return c.Prefix + "_" + name
	}
	return name
}

// writes are the names that Created gets: of databases, or of collections in OutDB.
func (c Config) writes() []string {
	if c.OutDB == "" {
		return c.databases()
	}
	names := []string{c.collName(answerName), c.collName(gatherName)}
	for i := range c.pieces() {
		names = append(names, c.collName(partName(i)))
	}
	return names
}

// database is where part i is written.
func (c Config) database(i int) string {
	if c.OutDB != "" {
		return c.OutDB
	}
	if c.Layout == SeparateDatabases {
		return fmt.Sprintf("%s_%d", c.Prefix, i)
	}
	return c.Prefix
}

// pieces is how many commands the run has.
func (c Config) pieces() int { return max(len(c.Ranges), 1) }

// part is the range of part i.
func (c Config) part(i int) splitter.Range {
	if len(c.Ranges) == 0 {
		return splitter.Range{Key: c.Job.EmitKey}
	}
	return c.Ranges[i]
}

// databases are all that the run writes to, each once.
func (c Config) databases() []string {
	if c.Layout == OneDatabase || c.OutDB != "" {
		return []string{c.database(0)}
	}
	names := make([]string, c.pieces())
	for i := range names {
		names[i] = c.database(i)
	}
	return names
}

// disjoint says that no key can come out of two parts.
func (c Config) disjoint() bool {
	return len(c.Ranges) <= 1 || (c.Job.EmitKey != "" && c.Ranges[0].Key == c.Job.EmitKey)
}
