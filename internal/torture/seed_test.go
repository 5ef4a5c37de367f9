package torture

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/seed"
)

const (
	seedDocs = 5_000_000 // more than any round comes to
	seedKeys = 1000
)

// generated is what seed's generator makes, in its order.
func generated() seed.Generator { return seed.Uniques(1, "dim0", seedDocs, seedKeys) }

// seeded reads back what a killed seed left and compares each document with the generator's; gapless also
// wants them to be the first so many. It returns their _ids, or nil when the collection does not exist yet.
func seeded(ctx context.Context, t testing.TB, c *mongo.Client, gapless bool) map[string]bool {
	t.Helper()
	validateAll(ctx, t, c, []string{"test.uniques"})
	coll := c.Database("test").Collection("uniques")
	cur, err := coll.Find(ctx, bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	defer cur.Close(ctx)
	gen := generated()
	ids := map[string]bool{}
	var want []byte
	next := int64(0)
	for cur.Next(ctx) {
		id := cur.Current.Lookup("_id").Value
		if len(id) != 12 {
			t.Fatalf("%v was not made by the generator", cur.Current)
		}
		at := int64(binary.BigEndian.Uint64(id[4:]) & (1<<40 - 1)) // the document's number is in its _id
		if want = gen.Append(want[:0], at); !bytes.Equal(want, cur.Current) {
			t.Fatalf("%v is not document %d", cur.Current, at)
		}
		if gapless && at != next {
			t.Fatalf("document %d follows number %d: what came between was acknowledged before it was sent", at, next-1)
		}
		next = at + 1
		ids[string(id)] = true
	}
	if err := cur.Err(); err != nil {
		t.Fatal(err)
	}
	if len(ids) == 0 {
		return ids
	}
	// Through the index there are as many, if it is there; validate has compared them one by one.
	specs, err := coll.Indexes().ListSpecifications(ctx)
	if err != nil || len(specs) != 2 {
		t.Errorf("indexes %v, %v; it is made before the documents", specs, err)
	}
	return ids
}

// TestKillSeed kills `mrbench seed`, with the engine in its own process. One writer sends a batch when the one before it is
// acknowledged, so what is there must be a beginning of the data, without a gap, and in the index.
func TestKillSeed(t *testing.T) {
	ctx := context.Background()
	dir := newDir(t)
	rng := newRand(seedOf(t), 0)
	most := 0
	wait := 200 * time.Millisecond
	for round, rounds := 0, roundsOf(t, 1, 2); round < rounds || most == 0 && round < rounds+5; round++ {
		for _, concern := range []string{"1", "j"} {
			cmd := command(t, "seed", "--data-dir", dir, "--docs", "5000000", "--keys", "1000", "--writers", "1", "--batch", "200", "--index", "before", "--write-concern", concern, "--drop")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait + time.Duration(rng.IntN(600))*time.Millisecond)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			s := serve(t, dir, "")
			c := dial(t, s.uri)
			n := len(seeded(ctx, t, c, true))
			hangUp(c)
			s.stopped(t)
			if n > 0 {
				strays(t, dir)
			} else {
				wait *= 2 // a busy machine takes longer to come to the first document
			}
			most = max(most, n)
		}
	}
	if most == 0 {
		t.Error("no seed came to its first document before it was killed")
	}
	t.Logf("up to %d documents", most)
}

// TestKillServerOfSeed kills the server that `mrbench seed --uri` fills through a proxy that writes down what was
// acknowledged, by several writers at once.
func TestKillServerOfSeed(t *testing.T) {
	ctx := context.Background()
	rng := newRand(seedOf(t), 0)
	total := 0
	for range roundsOf(t, 1, 2) {
		dir := newDir(t)
		s := serve(t, dir, "")
		p := newProxy(t, strings.TrimPrefix(s.uri, "mongodb://"))
		var stderr bytes.Buffer
		cmd := command(t, "seed", "--uri", "mongodb://"+p.listener.Addr().String()+"/?directConnection=true", "--data-dir", dir,
			"--docs", "5000000", "--keys", "1000", "--writers", "4", "--batch", "300", "--index", "before")
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < 1000 && p.count() == 0; i++ { // until it is under way
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
		s.killed(t)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		acked := p.close()
		s = serve(t, dir, "")
		c := dial(t, s.uri)
		got := seeded(ctx, t, c, false)
		hangUp(c)
		s.stopped(t)
		lost := 0
		for id := range acked {
			if !got[id] {
				lost++
			}
		}
		if lost > 0 || len(acked) == 0 {
			t.Errorf("of %d acknowledged documents %d are lost\n%s", len(acked), lost, &stderr)
		}
		total += len(acked)
	}
	t.Logf("%d documents acknowledged", total)
}

// proxy passes bytes on and remembers the _ids of acknowledged inserts.
type proxy struct {
	t        testing.TB
	listener net.Listener
	to       string
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	acked map[string]bool
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, listener: l, to: to, acked: map[string]bool{}}
	p.wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", p.to)
			if err != nil { // the server is dead
				_ = in.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, in, out)
			p.mu.Unlock()
			p.wg.Go(func() { p.pass(in, out) })
		}
	})
	return p
}

// pass serves one connection: a request, its answer, and so on, as drivers do.
func (p *proxy) pass(in, out net.Conn) {
	defer in.Close()
	defer out.Close()
	for {
		request, err := message(in)
		if err != nil {
			return
		}
		if _, err := out.Write(request); err != nil {
			return
		}
		reply, err := message(out)
		if err != nil {
			return
		}
		if ids := insertedIDs(request); len(ids) > 0 {
			body := bson.Raw(reply[16+4+1:])
			if number(body.Lookup("n")) != int64(len(ids)) {
				p.t.Errorf("reply to an insert of %d documents: %v", len(ids), body)
				return
			}
			p.mu.Lock()
			for _, id := range ids {
				p.acked[id] = true
			}
			p.mu.Unlock()
		}
		if _, err := in.Write(reply); err != nil {
			return
		}
	}
}

// message reads one message whole.
func message(r io.Reader) ([]byte, error) {
	b := make([]byte, 4)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	b = append(b, make([]byte, binary.LittleEndian.Uint32(b)-4)...)
	_, err := io.ReadFull(r, b[4:])
	return b, err
}

// insertedIDs gives the ObjectIds of the documents of an insert, from its document sequence or its body.
func insertedIDs(m []byte) (ids []string) {
	const opMsg = 2013
	if binary.LittleEndian.Uint32(m[12:]) != opMsg {
		return nil
	}
	add := func(d bson.Raw) { ids = append(ids, string(d.Lookup("_id").Value)) }
	for rest := m[20:]; len(rest) > 4; {
		size := binary.LittleEndian.Uint32(rest[1:])
		kind, part := rest[0], rest[1:1+size]
		rest = rest[1+size:]
		if kind == 0 {
			if _, err := bson.Raw(part).LookupErr("insert"); err != nil {
				return nil
			}
			if list, ok := bson.Raw(part).Lookup("documents").ArrayOK(); ok {
				docs, _ := list.Values()
				for _, d := range docs {
					add(d.Document())
				}
			}
			continue
		}
		_, docs, _ := bytes.Cut(part[4:], []byte{0})
		for len(docs) > 4 {
			n := binary.LittleEndian.Uint32(docs)
			add(bson.Raw(docs[:n]))
			docs = docs[n:]
		}
	}
	return ids
}

func (p *proxy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.acked)
}

// close ends all connections and gives the _ids.
func (p *proxy) close() map[string]bool {
	_ = p.listener.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
	return p.acked
}
