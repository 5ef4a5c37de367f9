package source

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// Format is how a file's text is to be read.
type Format string

// The formats. The zero value lets each file's name and first bytes tell.
const (
	NDJSON Format = "ndjson" // one document a line
	JSON   Format = "json"   // documents, or arrays of documents
	CSV    Format = "csv"
	TSV    Format = "tsv"
	BSON   Format = "bson" // documents back to back, as mongodump writes them
)

// Formats lists the formats.
func Formats() []Format { return []Format{NDJSON, JSON, CSV, TSV, BSON} }

// Config of a Reader. Paths is required.
type Config struct {
	Paths     []string  // files, folders, patterns, and "-" for Stdin
	Stdin     io.Reader // what "-" reads
	Format    Format    // of all files; default: recognised
	Select    string    // field of the documents, dotted when nested, whose array's elements are the records
	Columns   string    // header of CSV and TSV files that have none, separated by commas
	From, To  int       // take the top-level folders [From, To) in sorted order; To 0 means all
	MaxRecord int       // bytes of text of one record, default 64 MiB
	ChunkSize int       // bytes of text handed on at a time, default 256 KiB
	Done      []Done    // of each of Files, what an earlier reading dealt with; may be nil
	// Bad takes a file's broken end while Count counts, and counting goes on with the next file; nil: it stops there.
	Bad func(*RecordError) error
}

// Defaults of a zero Config.
const (
	DefaultMaxRecord = 64 << 20
	DefaultChunkSize = 256 << 10
)

func (c Config) withDefaults() (Config, error) {
	switch c.Format {
	case "", NDJSON, JSON, CSV, TSV, BSON:
	default:
		return c, fmt.Errorf("source: format %q: use one of %v", c.Format, Formats())
	}
	if c.Select != "" && c.Format != "" && c.Format != JSON {
		return c, fmt.Errorf("source: an array is selected from json documents only, not from %s", c.Format)
	}
	if c.Columns != "" && c.Format != "" && c.Format != CSV && c.Format != TSV {
		return c, fmt.Errorf("source: columns are of csv and tsv files, not of %s", c.Format)
	}
	if len(c.Paths) == 0 {
		return c, fmt.Errorf("source: no files given")
	}
	if c.From < 0 || c.To < 0 || (c.To > 0 && c.To <= c.From) {
		return c, fmt.Errorf("source: folders %d:%d: the first must be before the last, counted from 0", c.From, c.To)
	}
	if c.MaxRecord <= 0 {
		c.MaxRecord = DefaultMaxRecord
	}
	if c.ChunkSize <= 0 {
		c.ChunkSize = DefaultChunkSize
	}
	return c, nil
}

// recognise tells the format of a file from its name and its first bytes.
func recognise(name string, head []byte) (Format, error) {
	base := strings.ToLower(filepath.Base(name))
	for _, s := range []string{".gz", ".zst", ".zstd"} {
		base = strings.TrimSuffix(base, s)
	}
	switch filepath.Ext(base) {
	case ".ndjson", ".jsonl":
		return NDJSON, nil
	case ".csv":
		return CSV, nil
	case ".tsv", ".tab":
		return TSV, nil
	case ".bson":
		return BSON, nil
	}
	for i, c := range head {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '[':
			return JSON, nil
		case '{':
			if manyLines(head[i:]) {
				return NDJSON, nil
			}
			return JSON, nil
		}
		break
	}
	if len(head) >= 5 && plausibleBSON(head) {
		return BSON, nil
	}
	var words []string
	for _, f := range Formats() {
		words = append(words, string(f))
	}
	return "", fmt.Errorf("the format is not recognised: name it (%s)", strings.Join(words, ", "))
}

// manyLines says whether the first line is a whole object and another follows.
// Documents over several lines are read as JSON, which takes any layout.
func manyLines(b []byte) bool {
	end, ok := skipValue(b, 0, false)
	if !ok {
		return false
	}
	for i, c := range b[:end] {
		if c == '\n' {
			return false
		}
		_ = i
	}
	newline := false
	for _, c := range b[end:] {
		switch c {
		case '\n':
			newline = true
		case ' ', '\t', '\r':
		default:
			return newline && c == '{'
		}
	}
	return newline
}
