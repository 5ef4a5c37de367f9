package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/mongo/readconcern"
	"go.mongodb.org/mongo-driver/mongo/readpref"
	"go.mongodb.org/mongo-driver/mongo/writeconcern"

	"mrbench/internal/target"
)

// concernOptions are the flags of where rows read and how outputs are confirmed; "" what the connection string says.
type concernOptions struct {
	readPreference string
	readConcern    string
	writeConcern   string
}

func (o *concernOptions) concernFlags(c *cobra.Command) {
	enumFlag(c, &o.readPreference, "read-preference", "", []string{"primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"},
		"members that pipelines read from; else what the connection string says")
	enumFlag(c, &o.readConcern, "read-concern", "", []string{"local", "available", "majority", "snapshot"}, "read concern of pipelines; else what the connection string says")
	c.Flags().Var(&value[string]{&o.writeConcern, "concern", parseConcern, same}, "write-concern",
		"of outputs: 1, a number of members, majority, j, or majority,j; else what the connection string says, or majority where there are members")
	complete(c, "write-concern", []string{"1", "2", "3", "majority", "j", "majority,j"})
}

// concerns are where rows read and how outputs are confirmed.
type concerns struct {
	read  *readpref.ReadPref         // of pipelines; nil: the primary
	level *readconcern.ReadConcern   // of pipelines; nil: the server's own
	write *writeconcern.WriteConcern // of outputs; nil: the server's own
	notes []string                   // what was asked for and has no effect here
}

// concernsOf decides by flags, connection string and server. What only flags can have asked for is an error where the server does
// not have it; the connection string's is left out with a note.
//
// Without a word from anybody outputs wait for a majority: each row pays for its own replication then, instead of the row after
// it, and no part of an answer is lost by a fail-over.
func concernsOf(f *target.Facts, w target.Wishes, o concernOptions) (c concerns, err error) {
	if err := c.reads(f, w, o.readPreference); err != nil {
		return c, err
	}
	if err := c.levels(f, w, o.readConcern); err != nil {
		return c, err
	}
	return c, c.writes(f, w, o.writeConcern)
}

func replicated(f *target.Facts) bool { return f.Set != nil || f.Mongos }

func (c *concerns) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

func (c *concerns) reads(f *target.Facts, w target.Wishes, flag string) error {
	c.read = w.ReadPreference
	if flag != "" {
		mode, err := readpref.ModeFromString(flag)
		if err != nil {
			return usageError("--read-preference: %w", err)
		}
		var more []readpref.Option
		if old := w.ReadPreference; old != nil && mode != readpref.PrimaryMode { // tags and staleness come from the connection string
			if tags := old.TagSets(); len(tags) > 0 {
				more = append(more, readpref.WithTagSets(tags...))
			}
			if age, ok := old.MaxStaleness(); ok {
				more = append(more, readpref.WithMaxStaleness(age))
			}
		}
		if c.read, err = readpref.New(mode, more...); err != nil {
			return usageError("--read-preference: %w", err)
		}
	}
	if c.read == nil || c.read.Mode() == readpref.PrimaryMode {
		c.read = nil
		return nil
	}
	switch {
	case !replicated(f):
		c.note("read preference %s has no effect: this is a single server", c.read.Mode())
		c.read = nil
	case f.Set != nil && f.Set.Members == 1 && c.read.Mode() == readpref.SecondaryMode:
		return withCode(exitFailed, "read preference secondary: the set %s has one member with data, and no secondary; secondaryPreferred reads from the primary where there is no other", f.Set.Name)
	}
	return nil
}

func (c *concerns) levels(f *target.Facts, w target.Wishes, flag string) error {
	known := f.ReadConcerns()
	switch {
	case flag != "" && !slices.Contains(known, flag):
		return withCode(exitFailed, "--read-concern %s: this server (%s, %s) takes %s", flag, f.Version, topologyText(f), strings.Join(known, ", "))
	case flag != "":
		c.level = &readconcern.ReadConcern{Level: flag}
	case w.ReadConcern == nil || w.ReadConcern.Level == "":
	case slices.Contains(known, w.ReadConcern.Level):
		c.level = w.ReadConcern
	default:
		c.note("read concern %s is not sent: this server (%s, %s) takes %s for pipelines", w.ReadConcern.Level, f.Version, topologyText(f), strings.Join(known, ", "))
	}
	if c.level != nil && c.level.Level == "available" && f.Mongos {
		c.note("with read concern available a sharded cluster may count orphaned documents")
	}
	return nil
}

func topologyText(f *target.Facts) string {
	switch {
	case f.Mongos:
		return "mongos"
	case f.Set != nil:
		return "replica set"
	}
	return "a single server"
}

func (c *concerns) writes(f *target.Facts, w target.Wishes, flag string) error {
	asked := "the connection string"
	if flag != "" {
		asked = "--write-concern " + flag
		c.write = concernOfText(flag)
	} else if c.write = w.WriteConcern; c.write != nil && !c.write.Acknowledged() {
		c.note("write concern 0 of the connection string is not used: outputs are read again, so they have to be there")
		c.write = nil
	}
	if !c.write.Acknowledged() {
		return usageError("--write-concern 0: outputs are read again and compared, so they have to be there; use 1 or more")
	}
	switch {
	case !replicated(f):
		if c.write == nil {
			return nil
		}
		if n, ok := c.write.W.(int); ok && n > 1 {
			return withCode(exitFailed, "%s asks %d members to confirm: this is a single server", asked, n)
		}
		if _, tag := c.write.W.(string); tag {
			c.note("write concern %v has no effect: this is a single server", c.write.W)
		}
		if c.write = (&writeconcern.WriteConcern{Journal: c.write.Journal}); c.write.Journal == nil {
			c.write = nil
		}
	case c.write == nil || c.write.W == nil && c.write.Journal == nil:
		c.write = writeconcern.Majority()
		if w.WriteConcern != nil {
			c.write.WTimeout = w.WriteConcern.WTimeout
		}
	case f.Set != nil:
		if n, ok := c.write.W.(int); ok && n > f.Set.Members {
			return withCode(exitFailed, "%s asks %d members to confirm: the set %s has %d with data", asked, n, f.Set.Name, f.Set.Members)
		}
	}
	return nil
}

// concernOfText reads what parseConcern takes.
func concernOfText(text string) *writeconcern.WriteConcern {
	c := &writeconcern.WriteConcern{}
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		switch {
		case word == "j":
			journal := true
			c.Journal = &journal
		case err == nil:
			c.W = n
		default:
			c.W = word
		}
	}
	return c
}

// concernText is a write concern as flags have it; "" none.
func concernText(w *writeconcern.WriteConcern) string {
	if w == nil {
		return ""
	}
	var words []string
	if w.W != nil {
		words = append(words, fmt.Sprint(w.W))
	}
	if w.Journal != nil && *w.Journal {
		words = append(words, "j")
	}
	return strings.Join(words, ",")
}

// texts are the concerns as results keep them, "" for a default of the server.
func (c concerns) texts() (read, level, write string) {
	if c.read != nil {
		read = c.read.String()
	}
	if c.level != nil {
		level = c.level.Level
	}
	return read, level, concernText(c.write)
}

// of is the collection that pipelines read.
func (c concerns) of(coll *mongo.Collection) *mongo.Collection {
	o := options.Collection()
	if c.read != nil {
		o.SetReadPreference(c.read)
	}
	if c.level != nil {
		o.SetReadConcern(c.level)
	}
	copied, err := coll.Clone(o)
	if err != nil { // it never is one
		return coll
	}
	return copied
}

// settleConcerns decides for a run and says what is not the usual.
func (m *measurement) settleConcerns(f *target.Facts, o concernOptions) error {
	var err error
	if m.concerns, err = concernsOf(f, m.t.Wishes, o); err != nil {
		return err
	}
	c := &m.result.Context
	c.ReadPreference, c.ReadConcern, c.WriteConcern = m.concerns.texts()
	m.out.write = m.concerns.write
	for _, n := range m.concerns.notes {
		m.app.tell("%s", n)
	}
	var said []string
	if c.ReadPreference != "" {
		said = append(said, "pipelines read by preference "+c.ReadPreference)
	}
	if c.ReadConcern != "" {
		said = append(said, "pipelines read with concern "+c.ReadConcern)
	}
	if c.WriteConcern != "" {
		said = append(said, "outputs are written to the primary with write concern "+c.WriteConcern)
	}
	if len(said) > 0 {
		m.app.tell("%s", strings.Join(said, "; "))
	}
	return nil
}
