package seed_test

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/seed"
	"mrbench/seed/source"
)

// endless is an array of documents, as text, of a size.
type endless struct {
	left int64
	g    seed.Generator
	next int64
	buf  []byte
	text strings.Builder
	done bool
}

func (e *endless) Read(b []byte) (int, error) {
	for len(e.buf) == 0 {
		if e.done {
			return 0, io.EOF
		}
		e.text.Reset()
		if e.next == 0 {
			e.text.WriteString("[")
		} else {
			e.text.WriteString(",")
		}
		// Emit's array, without its brackets.
		var one strings.Builder
		if _, _, err := seed.Emit(context.Background(), &one, e.g, e.next, 1000, source.JSON); err != nil {
			return 0, err
		}
		e.text.WriteString(one.String()[1 : one.Len()-2])
		e.next += 1000
		if e.done = int64(e.text.Len()) >= e.left; e.done {
			e.text.WriteString("]")
		}
		e.left -= int64(e.text.Len())
		e.buf = []byte(e.text.String())
	}
	n := copy(b, e.buf)
	e.buf = e.buf[n:]
	return n, nil
}

// peak watches how much memory the process has from the system.
func peak(work func()) (bytes uint64) {
	debug.FreeOSMemory()
	stop := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for {
			metrics.Read(sample)
			bytes = max(bytes, sample[0].Value.Uint64()-sample[1].Value.Uint64())
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	work()
	close(stop)
	ended.Wait()
	return bytes
}

// What a load takes of memory does not depend on the size of the array that it reads. With
// MRBENCH_ARRAY_MB the larger one has another size.
func TestMemoryDoesNotDependOnSize(t *testing.T) {
	large := int64(300)
	if testing.Short() {
		large = 60
	}
	if n, err := strconv.ParseInt(os.Getenv("MRBENCH_ARRAY_MB"), 10, 64); err == nil {
		large = n
	}
	server := &mongofake.Server{Handle: func(_ context.Context, c mongofake.Command) bson.D {
		switch c.Name {
		case "find", "listCollections":
			return mongofake.Cursor("test.c")
		case "aggregate":
			return mongofake.Cursor("test.c", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 1}})
		}
		return bson.D{{Key: "n", Value: 0}, {Key: "ok", Value: 1.0}}
	}, Hello: bson.D{{Key: "maxWriteBatchSize", Value: 100_000}, {Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48000000}}}
	coll := server.Client(t).Database("test").Collection("c")
	load := func(mb int64) uint64 {
		return peak(func() {
			r, err := seed.Run(t.Context(), seed.Config{
				Collection: coll, Source: &source.Config{Paths: []string{"-"}, Stdin: &endless{left: mb << 20, g: seed.Reviews(1)}},
			})
			var count *seed.CountError // the server keeps nothing
			if !errors.As(err, &count) || r.Documents < mb*1000 {
				t.Error(r, err)
			}
		})
	}
	load(20) // the runtime's own memory grows at first
	small, big := load(30), load(large)
	t.Logf("30 MiB: %d MiB of memory, %d MiB: %d MiB", small>>20, large, big>>20)
	if big > small+small/2+16<<20 || big > 300<<20 {
		t.Errorf("%d MiB of memory for an array of %d MiB, %d MiB for one of 30 MiB", big>>20, large, small>>20)
	}
}
