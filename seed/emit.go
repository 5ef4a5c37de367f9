package seed

import (
	"context"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/seed/extjson"
	"mrbench/seed/source"
)

// Emit writes documents [first, first+n) of a generator: as relaxed Extended JSON, a
// line each (source.NDJSON) or in one array (source.JSON), or as a dump (source.BSON). It
// returns the documents and bytes written, also beside an error.
func Emit(ctx context.Context, w io.Writer, g Generator, first, n int64, format source.Format) (docs, bytes int64, err error) {
	e := emitter{w: w, g: g}
	switch format {
	case source.NDJSON:
		e.end = "\n"
	case source.JSON:
		e.begin, e.between, e.close = "[\n", ",\n", "\n]\n"
	case source.BSON:
		e.raw = true
	default:
		return 0, 0, fmt.Errorf("seed: documents can not be written as %q: use ndjson, json or bson", format)
	}
	return e.run(ctx, first, n)
}

// WriteNDJSON writes documents [first, first+n) of a generator, a line each, as
// relaxed Extended JSON; canonical keeps the type of every number. It returns
// the documents and bytes written, also beside an error.
func WriteNDJSON(ctx context.Context, w io.Writer, g Generator, first, n int64, canonical bool) (docs, bytes int64, err error) {
	e := emitter{w: w, g: g, end: "\n", canonical: canonical}
	return e.run(ctx, first, n)
}

type emitter struct {
	w              io.Writer
	g              Generator
	canonical, raw bool
	begin, between string
	end, close     string // of a document; of all
}

func (e *emitter) run(ctx context.Context, first, n int64) (docs, bytes int64, err error) {
	const atOnce = 64 << 10
	var doc []byte
	out := []byte(e.begin)
	pending := int64(0)
	flush := func() error {
		k, err := e.w.Write(out)
		bytes += int64(k)
		if err != nil {
			return fmt.Errorf("seed: write document %d: %w", first+docs, err)
		}
		docs += pending
		out, pending = out[:0], 0
		return ctx.Err()
	}
	for i := range n {
		if i > 0 {
			out = append(out, e.between...)
		}
		if e.raw {
			out = e.g.Append(out, first+i)
		} else {
			doc = e.g.Append(doc[:0], first+i)
			if out, err = extjson.AppendJSON(out, bson.Raw(doc), e.canonical); err != nil {
				return docs, bytes, fmt.Errorf("seed: document %d: %w", first+i, err)
			}
		}
		out = append(out, e.end...)
		if pending++; len(out) >= atOnce {
			if err := flush(); err != nil {
				return docs, bytes, err
			}
		}
	}
	out = append(out, e.close...)
	return docs, bytes, flush()
}
