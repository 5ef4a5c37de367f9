// Package jobfile reads mapReduce jobs from the forms in which people have them: YAML or JSON, a
// folder of functions, or the text of a shell call in a .js file. Nothing of a job is ever run here.
//
// Values are BSON: YAML and JSON files hold Extended JSON, shell text holds the shell's constructors.
// The order of fields is kept. Errors are *Error and name file, line and column.
//
// Tested by tables of each form, of each error, and by a fuzz target.
package jobfile
