package store

import (
	"testing"
)

// Compactions wait while writers are fast and nobody reads, and only then.
func TestRoomHolds(t *testing.T) {
	r := newRoom()
	rounds := func(n int, write, read bool) {
		for range n {
			if write {
				r.memTables.Add(1)
			}
			if read {
				r.reads.Add(1)
			}
			r.round()
		}
	}
	want := func(what string, holds bool) {
		t.Helper()
		if r.holds() != holds {
			t.Errorf("%s: holds %v", what, !holds)
		}
	}
	rounds(1, true, false)
	want("the first memtable", false)
	rounds(5, true, false)
	want("fast writers", true)
	r.sublevels.Store(heldSublevels)
	want("much is held back", false)
	r.sublevels.Store(heldSublevels - 1)
	want("less is held back", true)
	rounds(1, true, true)
	want("a reader", false)
	rounds(calmRounds-1, true, false)
	want("a reader not long ago", false)
	rounds(1, true, false)
	want("a reader long ago", true)
	rounds(calmRounds, false, false)
	want("writers at rest", false)
	rounds(1, true, false)
	want("fast writers again", true)
	r.settling.Store(true)
	rounds(1, true, false)
	want("closing", false)
}

// A database that held compactions back has few tables to merge at a read after Close, and every document.
func TestCloseSettlesWhatWasHeld(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(Options{Dir: dir, memTableBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.CreateIndex(ctx, testNS, jdoc(t, `{"key":{"x":1},"name":"x_1"}`)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; db.p.Metrics().Levels[0].Sublevels <= 2*settledSublevels; n++ {
		if n > 100_000 {
			t.Fatal("nothing is held back")
		}
		mustInsert(t, db, testNS, jdoc(t, `{"_id":%d,"x":%d}`, n, n*7919%100_003))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if got := db.p.Metrics().Levels[0].Sublevels; got > settledSublevels+2 {
		t.Errorf("%d sublevels are left", got)
	}
	if got := mustValidate(t, db, testNS).Documents; got != int64(n) {
		t.Errorf("%d documents, %d were inserted", got, n)
	}
}
