// Package torture holds no code, only tests that treat mrbench badly: the real program is killed while it is
// written to, the disk fails and lies, connections and documents come in numbers and sizes at the limit and one beyond.
//
// What is promised, and the figures that these tests gave, are in docs/reliability.md. Every random choice comes from a
// seed that is logged; MRBENCH_TORTURE_SEED repeats it, MRBENCH_TORTURE_ROUNDS sets how often the program is killed.
// What only the engine's insides show (a crash in the middle of a sync, one failing file after the other) is tested where the
// insides are, in internal/embedded/store.
package torture
