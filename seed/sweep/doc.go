// Package sweep finds the fastest way to load a collection: it loads the same documents at every point of a grid of
// batch sizes, numbers of writers, write concerns, orders, index moments and prefilled sizes, and compares.
//
// What holds: every point is measured in a collection that nothing else was loaded into, made for it and dropped after
// it. The exception is a point into a prefilled collection, because filling one anew each time would take most of the
// time: such a collection is loaded once, points append to it, and it is replaced when it has grown by a tenth. Points
// are measured round by round, in another order each round, so that whatever drifts on the machine meets all of them.
// A point that fails is out of the later rounds and the others go on. When the context ends, what is finished comes back.
//
// Costs compares matched points alone: two that differ in one setting and in nothing else.
//
// It loads by package seed, writes to the database it is given and to no other, prints nothing and reads no
// environment. It is tested against a server that the tests start in the process, and on made-up measurements.
package sweep
