// Package study holds published experiments: their numbers, and what those say of how to load and to count.
//
// A [Result] sets published and measured steps side by side. Absolute times belong to the machine they were measured
// on, so steps are compared by the ratio of their rate to the first step's, and [Result.Paragraph] says, from the
// measured numbers alone, which of the published findings hold and which do not. Nothing here measures: the command
// does. A test checks the published numbers, and the paragraph is tested on made-up measurements that agree and that do not.
package study
