package translate

import (
	"fmt"

	"mrbench/mr/jobfile"
)

// Refusal says what in a job has no equivalent without JavaScript, where, and why.
type Refusal struct {
	ID string // one of Refusals
	jobfile.Position
	Message string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %s [%s]", r.Position, r.Message, r.ID)
}

// Caveat is where the pipeline's meaning rests on something that the job alone does not say.
type Caveat struct {
	ID string `json:"id"` // one of Caveats
	jobfile.Position
	Message string `json:"message"`
}

func (c Caveat) String() string { return fmt.Sprintf("%s: %s [%s]", c.Position, c.Message, c.ID) }

// The refusals.
const (
	RefuseSyntax       = "syntax"
	RefuseCall         = "call"
	RefuseName         = "name"
	RefuseRandom       = "random"
	RefuseNow          = "now"
	RefuseThis         = "this-changed"
	RefuseDynamicField = "dynamic-field"
	RefuseFieldName    = "field-name"
	RefuseLoop         = "loop"
	RefuseCarried      = "loop-carried"
	RefuseRegex        = "regex"
	RefuseDate         = "date"
	RefuseNoEmit       = "no-emit"
	RefuseShape        = "reduce-shape"
	RefuseLength       = "reduce-counts-values"
	RefuseOrder        = "reduce-order"
	RefuseFold         = "reduce-not-a-fold"
	RefuseArray        = "reduce-array"
	RefuseFinalize     = "finalize"
	RefuseQuery        = "query"
	RefuseOut          = "out"
)

// Refusals explains each refusal's ID.
func Refusals() map[string]string {
	return map[string]string{
		RefuseSyntax:       "a statement or operator with no equivalent",
		RefuseCall:         "a function or method with no exact equivalent",
		RefuseName:         "a name that neither the function nor the scope defines",
		RefuseRandom:       "Math.random: the job gives another answer each time",
		RefuseNow:          "new Date() or Date.now(): the job gives another answer each time",
		RefuseThis:         "the function changes the document",
		RefuseDynamicField: "a field whose name is computed",
		RefuseFieldName:    "a field name that expressions can't have, with a dot or beginning with $",
		RefuseLoop:         "a loop that does not go once through an array or an object",
		RefuseCarried:      "a value carried from one round of an emitting loop to the next",
		RefuseRegex:        "a regular expression that the server reads differently",
		RefuseDate:         "a date computation with no exact equivalent",
		RefuseNoEmit:       "map never emits",
		RefuseShape:        "reduce reads fields that map does not emit, or returns others",
		RefuseLength:       "reduce counts its values, which differ from the emits once results are reduced again",
		RefuseOrder:        "the answer depends on the order of values, which nothing defines",
		RefuseFold:         "reduce computes something that is no sum, minimum, maximum, concatenation or union",
		RefuseArray:        "reduce returns an array, which servers refuse",
		RefuseFinalize:     "finalize computes something with no equivalent",
		RefuseQuery:        "a query operator that $match does not take",
		RefuseOut:          "an out option with no equivalent",
	}
}

// The caveats.
const (
	CaveatTimeZone     = "time-zone"
	CaveatOrder        = "order"
	CaveatSetOrder     = "set-order"
	CaveatRounding     = "rounding"
	CaveatInt          = "int"
	CaveatZero         = "zero"
	CaveatCharacters   = "characters"
	CaveatSpaces       = "spaces"
	CaveatNumberText   = "number-text"
	CaveatArrayKey     = "array-key"
	CaveatUndefinedKey = "undefined-key"
	CaveatGuard        = "guard"
	CaveatNumber       = "taken-for-number"
	CaveatString       = "taken-for-string"
	CaveatParent       = "taken-for-object"
	CaveatArray        = "taken-for-array"
	CaveatType         = "taken-for-type"
	CaveatSingle       = "single-value"
	CaveatScript       = "script"
	CaveatMemory       = "memory"
	CaveatMerge        = "merge"
)

// Caveats explains each caveat's ID.
func Caveats() map[string]string {
	return map[string]string{
		CaveatTimeZone:     "local time is taken to be UTC",
		CaveatOrder:        "the order of elements, or which one is first, is the order of arrival",
		CaveatSetOrder:     "the order of a set's elements or of an object's fields is not kept",
		CaveatRounding:     "fractions are added in another order, or more exactly: the last digits may differ",
		CaveatInt:          "whole numbers come back as integers, not doubles, and stay exact above 2^53",
		CaveatZero:         "a division by -0 gives what one by 0 gives",
		CaveatCharacters:   "characters above U+FFFF count once, not twice",
		CaveatSpaces:       "\\s, \\w, \\b and upper and lower case know ASCII only in the server",
		CaveatNumberText:   "fractions as text are written by the server",
		CaveatArrayKey:     "an array as key fails in a mapReduce that writes to a collection, and is grouped here",
		CaveatUndefinedKey: "a missing field of the key and one that is null are one key here; mapReduce keeps undefined and null apart within a key",
		CaveatGuard:        "the pipeline fails with a message, instead of giving another answer, on values named there",
		CaveatNumber:       "without guards: a field is taken to hold numbers",
		CaveatString:       "without guards: a field is taken to hold strings",
		CaveatParent:       "without guards: a parent field is taken to be a document",
		CaveatArray:        "without guards: a field is taken to hold an array",
		CaveatType:         "without guards: a field is taken to hold one type",
		CaveatSingle:       "without guards: a key with one value is treated like any other",
		CaveatScript:       "JavaScript is left in the pipeline",
		CaveatMemory:       "all values of a key are gathered in one array",
		CaveatMerge:        "$merge needs a server of 4.2, and combines as the job's reduce does for the values it makes",
	}
}
