package sweep

import (
	"context"
	"fmt"

	"mrbench/seed"
	"mrbench/seed/source"
)

// maxMemory is how many bytes of documents FromFiles keeps.
const maxMemory = 1 << 30

// memory is a generator that gives what was read.
type memory struct{ docs [][]byte }

func (*memory) Name() string { return "files" }

func (m *memory) Append(dst []byte, i int64) []byte { return append(dst, m.docs[i]...) }

// FromFiles reads the first documents of files into memory, so that a sweep measures loading and not reading. There
// may be fewer than most; more than 1 GiB is an error.
func FromFiles(ctx context.Context, c source.Config, most int64) (g seed.Generator, documents int64, err error) {
	m := &memory{}
	size := 0
	for d, err := range source.Documents(ctx, c) {
		if err != nil {
			return nil, 0, err
		}
		if size += len(d.Raw); size > maxMemory {
			return nil, 0, fmt.Errorf("sweep: the first %d documents are more than 1 GiB, which would be kept in memory: take fewer", len(m.docs)+1)
		}
		m.docs = append(m.docs, append([]byte(nil), d.Raw...))
		if int64(len(m.docs)) == most {
			break
		}
	}
	return m, int64(len(m.docs)), nil
}
