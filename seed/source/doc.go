// Package source reads documents from files: streams of any size, in memory
// that does not depend on it.
//
// Formats: NDJSON (a document a line), JSON (documents one after another, or in an
// array, or with Select in an array inside an object), CSV and TSV with a
// header, and BSON dumps; JSON may be Extended JSON. Each may be compressed by
// gzip or zstd, which its first bytes tell. Files come by name, by pattern,
// as folders that are walked in sorted order (names that begin with a dot are left
// out), or as "-", standard input.
//
// Reading has two steps, so that the costly one can run on several
// processors: a Reader cuts the stream into Chunks of whole records, and a
// Decoder turns a chunk's records into BSON. Documents joins them for those who
// need no such thing. A broken record is a *RecordError with file, line and byte
// offset, and reading goes on after it. Nothing is left out silently. What an
// earlier reading dealt with (Config.Done) is passed over.
package source
