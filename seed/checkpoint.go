package seed

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/seed/source"
)

// Checkpoint is how far a load from files came. Run hands one to Config.Save
// again and again; the last one that was kept, given back as Config.Checkpoint with the
// same source and collection, makes another Run go on there. What is in no done
// extent was perhaps sent all the same; such a document meets its own key, and
// counts as loaded when the collection has it exactly as the file does.
type Checkpoint struct {
	Schema     int         `json:"schema"` // CheckpointSchema
	NS         string      `json:"ns"`
	UUID       string      `json:"uuid,omitempty"` // of the collection, of servers that give one
	Started    time.Time   `json:"started"`
	Tag        uint32      `json:"tag"`    // of the _ids that this load makes
	Before     int64       `json:"before"` // documents that were there before the load
	Documents  int64       `json:"documents"`
	Rejects    int64       `json:"rejects"`
	Duplicates int64       `json:"duplicates"`
	Source     string      `json:"source"` // how the files are read
	Files      []FileState `json:"files"`
}

// CheckpointSchema is the version of Checkpoint's form.
const CheckpointSchema = 1

// FileState is a file and how much of it is loaded. The fingerprint is that of its opening.
type FileState struct {
	Path string `json:"path"`
	source.Done
	Fingerprint *source.Fingerprint `json:"fingerprint,omitempty"`
}

// CheckpointError says why a load can't go on where it stopped.
type CheckpointError struct {
	NS     string
	Path   string // the file that it is about, if any
	Reason string
}

func (e *CheckpointError) Error() string {
	what := e.Reason
	if e.Path != "" {
		what = e.Path + ": " + e.Reason
	}
	return fmt.Sprintf("seed: the load of %s can not be resumed: %s: drop the collection and load it from the beginning", e.NS, what)
}

// newCheckpoint begins a load.
func newCheckpoint(c Config, files []source.File, before int64, uuid string) *Checkpoint {
	p := &Checkpoint{
		Schema: CheckpointSchema, NS: namespace(c.Collection), UUID: uuid, Started: time.Now().UTC().Truncate(time.Second),
		Before: before, Source: reading(c.Source), Files: make([]FileState, len(files)),
	}
	var tag [4]byte
	_, _ = rand.Read(tag[:]) // it never fails
	p.Tag = binary.BigEndian.Uint32(tag[:])
	for i, f := range files {
		p.Files[i].Path = f.Path
	}
	return p
}

// reading says how files are read, as far as it decides which records they hold.
func reading(c *source.Config) string {
	return fmt.Sprintf("format=%q select=%q columns=%q", c.Format, c.Select, c.Columns)
}

// check finds what has changed since the checkpoint was kept.
func (p *Checkpoint) check(c Config, files []source.File, uuid string) error {
	refuse := func(path, format string, args ...any) error {
		return &CheckpointError{NS: p.NS, Path: path, Reason: fmt.Sprintf(format, args...)}
	}
	switch ns := namespace(c.Collection); {
	case p.Schema != CheckpointSchema:
		return refuse("", "its checkpoint is of another version of this program")
	case p.NS != ns:
		return refuse("", "its checkpoint is not of %s", ns)
	case p.UUID != "" && uuid != p.UUID:
		return refuse("", "the collection was dropped or replaced since")
	case p.Source != reading(c.Source):
		return refuse("", "the files were read with %s, not with %s", p.Source, reading(c.Source))
	case len(p.Files) != len(files):
		return refuse("", "there were %d files and now there are %d", len(p.Files), len(files))
	}
	for i, f := range files {
		was := p.Files[i]
		if was.Path != f.Path {
			return refuse(f.Path, "in its place was %s", was.Path)
		}
		if was.Fingerprint == nil {
			continue
		}
		now, err := f.Fingerprint()
		if err != nil {
			return err
		}
		if text := now.Changed(*was.Fingerprint); text != "" {
			return refuse(f.Path, "the file has changed: %s", text)
		}
	}
	return nil
}

// checkCount makes sure that what was acknowledged is still there: a server that lost
// power, or somebody who deleted documents, would leave a gap.
func (p *Checkpoint) checkCount(ctx context.Context, c *mongo.Collection, quick int64) (int64, error) {
	want := p.Before + p.Documents
	n := quick
	if n < want { // the quick count can be wrong after a crash
		var err error
		if n, err = c.CountDocuments(ctx, bson.D{}); err != nil {
			return n, fmt.Errorf("seed: %s: aggregate: %w", p.NS, err)
		}
	}
	if n < want {
		return n, &CheckpointError{NS: p.NS, Reason: fmt.Sprintf("the collection holds %d documents, and %d were acknowledged", n, want)}
	}
	return n, nil
}

// clone is a copy that later changes leave alone.
func (p *Checkpoint) clone() *Checkpoint {
	c := *p
	c.Files = slices.Clone(p.Files)
	for i := range c.Files {
		c.Files[i].Extents = slices.Clone(c.Files[i].Extents)
	}
	return &c
}
