// Package seed fills a collection, as fast as the server takes documents.
//
// A Generator makes documents; each depends on the generator's seed and its
// own index alone, so the content is the same for any number of writers, any
// batch size and any order of arrival. Run hands out index ranges to writers,
// which build batches of raw BSON bounded by count and by bytes (the server's
// own limits, asked for once) and send them with the insert command.
//
// A source is loaded from files instead: package source cuts them into chunks,
// decoders turn those into batches and writers send them, with a fixed number
// of chunks and batches between them, so that memory depends neither on the
// files' size nor on the server's speed. Broken records and duplicate keys stop the load
// unless Config says what becomes of them; both are counted.
//
// What holds: nothing is dropped unless Config.Drop asks for it; a collection
// that holds documents is refused unless Config.Append is set; admin, config, local, system collections and
// views are never written to; no document is stored twice, though a batch is sent
// again after a failure that passes, and a load from files goes on from a Checkpoint after the
// end of its process; afterwards the documents
// are counted and a difference is an error. A cancelled context stops the
// writers between batches, and the report says what was acknowledged by then.
//
// The package prints nothing and reads no environment. The law "content does
// not depend on writers" and every refusal are tested against a server that
// the tests start in the process.
package seed
