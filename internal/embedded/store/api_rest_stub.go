package store

import (
	"context"

	"mrbench/internal/embedded/bsonx"
)

func (s *Snap) Fetch(c *Collection, idKeys [][]byte, fn func(i int, doc bsonx.Doc) error) error {
	panic("todo")
}
func (db *DB) CreateIndex(ctx context.Context, ns NS, spec bsonx.Doc) (existed bool, err error) {
	panic("todo")
}

type ValidateReport struct {
	Documents    int64
	InvalidDocs  int64
	KeysPerIndex map[string]int64
	Errors       []string
}

func (db *DB) Validate(ctx context.Context, ns NS) (*ValidateReport, error) { panic("todo") }

type Builder struct{}

func (db *DB) NewBuilder(ctx context.Context, ns NS, keepIndexes bool) (*Builder, error) {
	panic("todo")
}
func (b *Builder) Add(doc bsonx.Doc) error           { panic("todo") }
func (b *Builder) Publish(ctx context.Context) error { panic("todo") }
func (b *Builder) Abort() error                      { panic("todo") }
