// Package libm has the elementary functions as the C library under a MongoDB server computes them: exp, log and pow
// rounded to the nearest double, log10 by its own formula. Go's are often one unit in the last place off, and an
// answer is compared bit by bit.
//
// They work on sums of two doubles, some 100 bits, with the real line cut where series are short. The tests hold
// them against results of 60 digits.
package libm
