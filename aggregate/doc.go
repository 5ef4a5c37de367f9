// Package aggregate runs an aggregation pipeline, whole or in ranges, as the
// equivalent of a MapReduce job.
//
// The results stream to the client: each batch of a cursor is handed to
// Config.Sink as the raw documents it came as. Ranges run through a bounded pool and each
// starts with the range's $match. With Config.Covered the pipeline is told to
// read an index in key order, and explain says whether the index alone answers.
//
// Pieces are not merged: results of ranges are only complete where the ranges
// are of the field that the pipeline groups by. The package writes nothing, unless
// Config.Into says where.
package aggregate
