package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"mrbench/internal/embedded/bsonx"
)

var bulkNS = NS{"d", "bulk"}

// TestKillChild is the process that TestKill kills; alone it does nothing. It writes
// in many ways at once and says on its standard output what was acknowledged.
func TestKillChild(t *testing.T) {
	dir := os.Getenv("STORE_KILL_DIR")
	if dir == "" {
		t.Skip("only as a child of TestKill")
	}
	round := os.Getenv("STORE_KILL_ROUND")
	db, err := Open(Options{Dir: dir, memTableBytes: 1 << 20})
	if err != nil {
		fmt.Println("open:", err)
		return
	}
	var out sync.Mutex
	say := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	if _, err := db.CreateIndex(ctx, testNS, jdoc(t, `{"key":{"a":1},"name":"a"}`)); err != nil {
		say("index: %v", err)
		return
	}
	say("ready")
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; ; i++ {
				n := 1 + i%50
				docs := make([]bsonx.Doc, n)
				for j := range docs {
					docs[j] = jdoc(t, `{"_id":"%s-%d-%06d-%03d","a":[%d,%d]}`, round, w, i, j, i*7%1000, j)
				}
				if _, errs, err := db.InsertMany(ctx, testNS, docs, true, WriteOptions{Sync: i%10 == 0}); err != nil || errs != nil {
					say("insert: %v %v", err, errs)
					return
				}
				say("ack %s-%d-%06d %d", round, w, i, n)
			}
		}()
	}
	wg.Add(3)
	go func() { // through the log, then as tables
		defer wg.Done()
		for i := 0; ; i++ {
			docs := make([]bsonx.Doc, 1+i%2*200)
			for j := range docs {
				docs[j] = jdoc(t, `{"_id":"%s-bulk-%06d-%03d"}`, round, i, j)
			}
			insert := db.InsertMany
			if len(docs) > 1 {
				insert = func(_ context.Context, ns NS, docs []bsonx.Doc, _ bool, _ WriteOptions) (int, map[int]error, error) {
					n, _, errs, err := insertBulk(db, ns, docs)
					return n, errs, err
				}
			}
			if _, errs, err := insert(ctx, bulkNS, docs, true, WriteOptions{Create: true}); err != nil || errs != nil {
				say("bulk insert: %v %v", err, errs)
				return
			}
			say("bulk %s-bulk-%06d %d", round, i, len(docs))
		}
	}()
	go func() { // indexes and built collections come and go
		defer wg.Done()
		for i := 0; ; i++ {
			if _, err := db.CreateIndex(ctx, testNS, jdoc(t, `{"key":{"b":1},"name":"b"}`)); err != nil {
				say("index: %v", err)
				return
			}
			if err := db.DropIndex(ctx, testNS, "b"); err != nil {
				say("drop index: %v", err)
				return
			}
		}
	}()
	go func() {
		defer wg.Done()
		for i := 0; ; i++ {
			b, err := db.NewBuilder(ctx, NS{"d", "built"}, true)
			if err != nil {
				say("builder: %v", err)
				return
			}
			for j := range 200 {
				if err := b.Add(jdoc(t, `{"_id":%d,"run":"%s-%d"}`, j*7919%200, round, i)); err != nil {
					say("builder: %v", err)
					return
				}
			}
			if err := b.Publish(ctx); err != nil {
				say("publish: %v", err)
				return
			}
			say("built %s-%d", round, i)
		}
	}()
	wg.Wait()
}

// A process that is killed loses nothing that it acknowledged, leaves nothing half made, and its indexes agree
// with its documents.
func TestKill(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	dir := t.TempDir()
	acked := map[NS]map[string]int{testNS: {}, bulkNS: {}} // beginnings of _ids, and how many there are of each
	built := ""
	for round := range rounds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$", "-test.v")
		cmd.Env = append(os.Environ(), "STORE_KILL_DIR="+dir, fmt.Sprint("STORE_KILL_ROUND=", round))
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewScanner(pipe)
		for r.Scan() && r.Text() != "ready" {
			if strings.Contains(r.Text(), "open:") || strings.Contains(r.Text(), "index:") {
				t.Error(r.Text())
			}
		}
		kill := time.AfterFunc(time.Duration(20+rand.IntN(300))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		for r.Scan() {
			// The last line may be cut off; then it does not end in what it should.
			var name string
			var n int
			switch f := strings.Fields(r.Text()); {
			case len(f) == 3 && (f[0] == "ack" || f[0] == "bulk"):
				name = f[1]
				of := acked[testNS]
				if f[0] == "bulk" {
					of = acked[bulkNS]
				}
				if _, err := fmt.Sscan(f[2], &n); err == nil {
					of[name] = max(of[name], n)
				}
			case len(f) == 2 && f[0] == "built":
				built = f[1]
			default:
				t.Error("child:", r.Text())
			}
		}
		_, _ = io.Copy(io.Discard, pipe)
		kill.Stop()
		_ = cmd.Wait()
		checkAfterKill(t, dir, acked, built)
		if t.Failed() {
			return
		}
	}
	if len(acked[testNS]) == 0 || len(acked[bulkNS]) == 0 {
		t.Error("nothing was acknowledged in any round")
	}
	t.Logf("%d and %d batches acknowledged, last build %s", len(acked[testNS]), len(acked[bulkNS]), built)
}

func checkAfterKill(t *testing.T, dir string, acked map[NS]map[string]int, built string) {
	t.Helper()
	db, err := Open(Options{Dir: dir, Log: t.Logf, memTableBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := db.Snapshot()
	defer s.Close()
	for ns, batches := range acked {
		checkAcked(t, db, s, ns, batches)
	}
	if built != "" {
		if n := mustValidate(t, db, NS{"d", "built"}).Documents; n != 200 {
			t.Errorf("the built collection has %d documents", n)
		}
	}
	for _, c := range s.Collections("d") {
		if c.NS != testNS && c.NS != bulkNS && c.NS != (NS{"d", "built"}) {
			t.Errorf("unexpected collection %s", c.NS)
		}
	}
	checkNoStrays(t, db)
}

func checkAcked(t *testing.T, db *DB, s *Snap, ns NS, batches map[string]int) {
	t.Helper()
	c := s.Collection(ns)
	if c == nil {
		if len(batches) > 0 {
			t.Errorf("%s is lost", ns)
		}
		return
	}
	for name, n := range batches {
		for j := range n {
			id := fmt.Sprintf("%s-%03d", name, j)
			d, err := s.Get(c, bsonx.AppendKey(nil, bsonx.String(id), false))
			if err != nil || d == nil {
				t.Errorf("acknowledged document %s is lost: %v", id, err)
				return
			}
		}
	}
	mustValidate(t, db, ns)
}

// checkNoStrays makes sure that every key belongs to something in the catalog, and that there are no temporary files.
func checkNoStrays(t fataler, db *DB) {
	t.Helper()
	known := map[uint64]bool{}
	for _, colls := range db.cat.Load().dbs {
		for _, c := range colls {
			known[c.id] = true
			for _, ix := range c.Indexes[1:] {
				known[ix.id] = true
			}
		}
	}
	for _, space := range []byte{spaceCounter, spacePending, spaceRecord, spaceEntry} {
		stray := map[uint64]int{}
		if err := db.eachKey([]byte{space}, func(k, _ []byte) error {
			if id, _ := readID(k[1:]); !known[id] || space == spacePending {
				stray[id]++
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if len(stray) > 0 {
			t.Errorf("space %#x has keys of unknown ids: %v", space, stray)
		}
	}
	if left, err := db.fs.List(db.tmp); err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v %v", left, err)
	}
}
