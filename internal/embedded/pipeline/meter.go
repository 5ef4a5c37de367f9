package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
)

// meter refuses more bytes of documents than a stage may keep when it may not spill.
type meter struct {
	query.Source
	left  int64
	stage string
	on    bool
}

func (m *meter) Next(ctx context.Context) ([]bsonx.Doc, error) {
	docs, err := m.Source.Next(ctx)
	if m.on {
		for _, d := range docs {
			m.left -= int64(len(d))
		}
		if m.left < 0 {
			return nil, errMemory(m.stage)
		}
	}
	return docs, err
}
