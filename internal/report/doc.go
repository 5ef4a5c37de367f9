// Package report renders tables for people and for programs: aligned text that
// fits a given width, Markdown, CSV and JSON.
//
// It is the one place that knows the table library and how numbers are
// written. A [Table] holds cells with two faces: the text people read
// ("10,000,000") and the raw value programs read ("10000000"). Text tables
// never grow beyond the width they are given: the columns that matter least
// go first, and a line under the table names them.
//
// HTML pages are made by its sub-package page.
//
// It computes nothing and knows no command. Golden files under testdata hold
// the exact output.
package report
