package seed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/seed"
	"mrbench/seed/source"
)

// keeper is a server with one collection whose _ids are unique. fault may make it
// misbehave: it is asked about each insert and says how many of its documents
// are looked at (below 0: all), and what is answered instead of the truth.
type keeper struct {
	mu    sync.Mutex
	docs  map[string]bson.Raw // by _id
	fault func(n int) (look int, reply bson.D)
}

func (k *keeper) handle(_ context.Context, c mongofake.Command) bson.D {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch c.Name {
	case "insert":
		return k.insert(c)
	case "find":
		var found []any
		if in, err := c.Body.LookupErr("filter", "_id", "$in"); err == nil {
			ids, _ := in.Array().Values()
			for _, id := range ids {
				if d, ok := k.docs[id.Type.String()+string(id.Value)]; ok {
					found = append(found, d)
				}
			}
		} else {
			for _, d := range k.docs {
				return mongofake.Cursor("test.c", d)
			}
		}
		return mongofake.Cursor("test.c", found...)
	case "count":
		return bson.D{{Key: "n", Value: len(k.docs)}, {Key: "ok", Value: 1.0}}
	case "aggregate":
		return mongofake.Cursor("test.c", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: len(k.docs)}})
	case "listCollections":
		return mongofake.Cursor("test.c")
	}
	return nil
}

func (k *keeper) insert(c mongofake.Command) bson.D {
	list := c.Sequences["documents"]
	if a, ok := c.Body.Lookup("documents").ArrayOK(); ok {
		values, _ := a.Values()
		for _, v := range values {
			list = append(list, v.Document())
		}
	}
	look, reply := -1, bson.D(nil)
	if k.fault != nil {
		look, reply = k.fault(len(list))
	}
	if k.docs == nil {
		k.docs = map[string]bson.Raw{}
	}
	ordered, _ := c.Body.Lookup("ordered").BooleanOK()
	n, failed := 0, bson.A{}
	for i, d := range list {
		if i == look {
			break
		}
		id := d.Lookup("_id")
		key := id.Type.String() + string(id.Value)
		if _, there := k.docs[key]; there || id.Type == 0 {
			failed = append(failed, bson.D{{Key: "index", Value: i}, {Key: "code", Value: 11000}, {Key: "errmsg", Value: "E11000 dup key: " + id.String()}})
			if ordered {
				break
			}
			continue
		}
		k.docs[key] = slices.Clone(d)
		n++
	}
	if reply != nil {
		return reply
	}
	r := bson.D{{Key: "n", Value: n}, {Key: "ok", Value: 1.0}}
	if len(failed) > 0 {
		r = append(r, bson.E{Key: "writeErrors", Value: failed})
	}
	return r
}

func (k *keeper) config(t *testing.T) seed.Config {
	server := &mongofake.Server{Handle: k.handle}
	return seed.Config{Collection: server.Client(t).Database("test").Collection("c")}
}

// content is the collection, each document without the _id when it is an ObjectId.
func (k *keeper) content() []string {
	var all []string
	for _, d := range k.docs {
		all = append(all, withoutMadeID(d))
	}
	slices.Sort(all)
	return all
}

func withoutMadeID(d bson.Raw) string {
	var m bson.D
	if err := bson.Unmarshal(d, &m); err != nil {
		return err.Error()
	}
	if _, ok := d.Lookup("_id").ObjectIDOK(); ok {
		m = slices.DeleteFunc(m, func(e bson.E) bool { return e.Key == "_id" })
	}
	return fmt.Sprint(m)
}

// materials are the same kind of data in each format: some records with an _id, some
// without, some broken. They are big enough for several chunks.
func materials(t *testing.T, rng *rand.Rand) map[string]*source.Config {
	dir := t.TempDir()
	record := func(i int) string {
		id := ""
		if rng.IntN(2) == 0 {
			id = fmt.Sprintf(`"_id":%d,`, i)
		}
		return fmt.Sprintf(`{%s"i":%d,"s":"%s"}`, id, i, strings.Repeat("x", rng.IntN(40)))
	}
	const n = 400
	var list []string
	var dump []byte
	rows := "_id,i,s\n"
	for i := range n {
		list = append(list, record(i))
		d := bson.D{{Key: "i", Value: i}}
		if i%2 == 0 {
			d = append(d, bson.E{Key: "_id", Value: i})
		}
		raw, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		dump = append(dump, raw...)
		rows += fmt.Sprintf("%s,%d,\"a\nb\"\n", []string{"", fmt.Sprint(i)}[i%2], i)
	}
	lines := "\xef\xbb\xbf" + strings.Join(list, "\n")
	broken := strings.Join(slices.Insert(slices.Clone(list), n/2, "{broken", `{"a":`), "\n")
	array := "[" + strings.Join(list, ",\n") + "]"
	selected := `{"k":"` + strings.Repeat("y", 3000) + `","reviews":` + array + `,"z":1}`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(array))
	_ = z.Close()
	zw, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	all := map[string]*source.Config{
		"ndjson": {Paths: []string{write("a.ndjson", []byte(lines))}},
		"broken": {Paths: []string{write("b.ndjson", []byte(broken))}},
		"array":  {Paths: []string{write("c.json", []byte(array))}},
		"select": {Paths: []string{write("d.json", []byte(selected))}, Select: "reviews"},
		"csv":    {Paths: []string{write("e.csv", []byte(rows))}},
		"bson":   {Paths: []string{write("f.bson", dump)}},
		"gzip":   {Paths: []string{write("g.json.gz", packed.Bytes())}},
		"zstd":   {Paths: []string{write("h.ndjson.zst", zw.EncodeAll([]byte(lines), nil))}},
		"cut":    {Paths: []string{write("i.json.gz", packed.Bytes()[:packed.Len()*2/3])}},
	}
	tree := &source.Config{Paths: []string{filepath.Join(dir, "tree")}}
	for i := range 20 {
		part := list[i*20 : (i+1)*20]
		write(fmt.Sprintf("tree/%02d/x.ndjson", i), []byte(strings.Join(part, "\n")))
	}
	write("tree/99/empty.ndjson", nil)
	all["tree"] = tree
	return all
}

// However often a load is killed, and whatever the server had done by then: after enough
// resumptions the collection holds exactly what the files do.
func TestResumeLosesAndDoublesNothing(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		rng := rand.New(rand.NewPCG(uint64(round), 7))
		all := materials(t, rng)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			src := all[name]
			t.Run(fmt.Sprint(name, round), func(t *testing.T) {
				var want []string
				bad := 0
				for d, err := range source.Documents(t.Context(), *src) {
					if err != nil {
						bad++
						continue
					}
					want = append(want, withoutMadeID(d.Raw))
				}
				slices.Sort(want)
				resumeUntilDone(t, rng, src, want, bad)
			})
		}
	}
}

func resumeUntilDone(t *testing.T, rng *rand.Rand, src *source.Config, want []string, bad int) {
	k := &keeper{}
	other := rng.IntN(3) // documents of somebody else
	k.docs = map[string]bson.Raw{}
	for i := range other {
		raw, _ := bson.Marshal(bson.D{{Key: "_id", Value: fmt.Sprint("other", i)}})
		k.docs[fmt.Sprint("other", i)] = raw
	}
	var kept []byte // the checkpoint file
	kills := 0
	base := k.config(t)
	for {
		ctx, cancel := context.WithCancel(t.Context())
		dies := 1 + rng.IntN(12) // at which insert
		if kills > 40 {
			dies = 1 << 30
		}
		var mu sync.Mutex
		dead, inserts := false, 0
		k.fault = func(n int) (int, bson.D) {
			mu.Lock()
			defer mu.Unlock()
			inserts++
			if dead || inserts >= dies { // nobody hears the answers any more
				dead = true
				cancel()
				return rng.IntN(n + 1), mongofake.Error(8000, "killed")
			}
			return -1, nil
		}
		c := base
		again := *src
		again.ChunkSize = 4096 + rng.IntN(6000) // how the text was cut must not matter
		c.Source, c.Batch, c.Writers, c.Decoders = &again, 1+rng.IntN(30), 1+rng.IntN(4), 1+rng.IntN(3)
		c.Append, c.Ordered, c.Retries = kept == nil, rng.IntN(2) == 0, -1
		rejects := 0
		c.Bad = func(*source.RecordError) error { rejects++; return nil }
		c.Save = func(p *seed.Checkpoint) error {
			mu.Lock()
			defer mu.Unlock()
			if dead && rng.IntN(3) == 0 { // the process died before it kept this one
				return nil
			}
			var err error
			kept, err = json.Marshal(p)
			return err
		}
		if kept != nil {
			if err := json.Unmarshal(kept, &c.Checkpoint); err != nil {
				t.Fatal(err)
			}
		}
		r, err := seed.Run(ctx, c)
		cancel()
		mu.Lock()
		killed := dead
		mu.Unlock()
		if killed {
			kills++
			continue
		}
		if err != nil {
			t.Fatalf("after %d kills: %v", kills, err)
		}
		if got := k.content(); !slices.Equal(got[:len(want)], want) && !sameButOthers(got, want, other) {
			t.Fatalf("after %d kills: %d documents, want %d and %d others", kills, len(got), len(want), other)
		}
		if n := r.Earlier + r.Documents; n != int64(len(want)) || r.Counted != int64(len(want)+other) {
			t.Errorf("after %d kills: %d earlier and %d now, want %d: %+v", kills, r.Earlier, r.Documents, len(want), r)
		}
		var last seed.Checkpoint
		if err := json.Unmarshal(kept, &last); err != nil {
			t.Fatal(err)
		}
		if last.Documents != int64(len(want)) || last.Rejects != int64(bad) || last.Before != int64(other) {
			t.Errorf("after %d kills: %+v", kills, last)
		}
		for _, f := range last.Files {
			if !f.Complete {
				t.Errorf("after %d kills: %+v", kills, f)
			}
		}
		return
	}
}

func sameButOthers(got, want []string, other int) bool {
	return len(got) == len(want)+other && slices.Equal(slices.DeleteFunc(got, func(s string) bool { return strings.Contains(s, "{_id other") }), want)
}

// What has changed since is refused, and nothing is written.
func TestResumeRefusals(t *testing.T) {
	path := file(t, "a.ndjson", "{\"a\":1}\n{\"a\":2}\n")
	k := &keeper{}
	c := k.config(t)
	c.Source = &source.Config{Paths: []string{path}}
	var kept *seed.Checkpoint
	c.Save = func(p *seed.Checkpoint) error { kept = p; return nil }
	if _, err := seed.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	copyOf := func() *seed.Checkpoint {
		b, _ := json.Marshal(kept)
		var p seed.Checkpoint
		if err := json.Unmarshal(b, &p); err != nil {
			t.Fatal(err)
		}
		return &p
	}
	other := file(t, "b.ndjson", "{}\n")
	for want, edit := range map[string]func(*seed.Config){
		"was dropped or replaced":                 func(c *seed.Config) { c.Checkpoint.UUID = "77" },
		"holds 2 documents, and 3 were":           func(c *seed.Config) { c.Checkpoint.Documents = 3 },
		"its checkpoint is not of test.c":         func(c *seed.Config) { c.Checkpoint.NS = "test.d" },
		"of another version":                      func(c *seed.Config) { c.Checkpoint.Schema = 0 },
		"there were 1 files and now there are 2":  func(c *seed.Config) { c.Source = &source.Config{Paths: []string{path, other}} },
		"in its place was":                        func(c *seed.Config) { c.Source = &source.Config{Paths: []string{other}} },
		`not with format="json"`:                  func(c *seed.Config) { c.Source = &source.Config{Paths: []string{path}, Format: source.JSON} },
		"it had 9 bytes and has 16":               func(c *seed.Config) { c.Checkpoint.Files[0].Fingerprint.Size = 9 },
		"its first bytes are others":              func(c *seed.Config) { c.Checkpoint.Files[0].Fingerprint.Head = "00" },
		"it was written to at":                    func(c *seed.Config) { c.Checkpoint.Files[0].Fingerprint.Modified = kept.Started.AddDate(-1, 0, 0) },
		"write concern 0 can not be resumed":      func(c *seed.Config) { c.WriteConcern = "0" },
		"a checkpoint is of a load from files":    func(c *seed.Config) { c.Source, c.Generator, c.Documents = nil, seed.GUID(1), 1 },
		"a load from files into a collection tha": func(c *seed.Config) { c.Drop = true },
	} {
		c := c
		c.Checkpoint = copyOf()
		edit(&c)
		if _, err := seed.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if len(k.docs) != 2 {
		t.Errorf("%d documents", len(k.docs))
	}
	// A finished load has nothing left to do.
	c.Checkpoint = copyOf()
	if r, err := seed.Run(t.Context(), c); err != nil || r.Documents != 0 || r.Earlier != 2 || r.Counted != 2 {
		t.Errorf("%+v %v", r, err)
	}
	// One that can't be kept stops the load before the first insert.
	c.Checkpoint, c.Append, k.docs = nil, true, nil
	full := errors.New("disk full")
	c.Save = func(*seed.Checkpoint) error { return full }
	if _, err := seed.Run(t.Context(), c); !errors.Is(err, full) || len(k.docs) != 0 {
		t.Errorf("%v, %d documents", err, len(k.docs))
	}
}

// A real duplicate stops a resumed load as it would stop any other.
func TestResumeStillSeesDuplicates(t *testing.T) {
	path := file(t, "a.ndjson", "{\"_id\":1}\n{\"_id\":2,\"x\":1}\n{\"_id\":1}\n")
	raw, _ := bson.Marshal(bson.D{{Key: "_id", Value: int32(2)}, {Key: "x", Value: int32(5)}})
	for want, docs := range map[string]map[string]bson.Raw{
		"line 2": {"x": raw}, // another's document, with other content
		"line 3": {},         // twice in the file, in one batch
	} {
		for _, ordered := range []bool{false, true} {
			k := &keeper{docs: map[string]bson.Raw{}}
			for _, d := range docs {
				id := d.Lookup("_id")
				k.docs[id.Type.String()+string(id.Value)] = d
			}
			c := k.config(t)
			c.Source, c.Writers, c.Ordered, c.Append = &source.Config{Paths: []string{path}}, 1, ordered, true
			var first *seed.Checkpoint
			c.Save = func(p *seed.Checkpoint) error {
				if first == nil {
					first = p
				}
				return nil
			}
			before := maps.Clone(k.docs)
			if _, err := seed.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("first: %v, want %s", err, want)
			}
			k.docs = before
			c.Checkpoint, c.Append = first, false
			if _, err := seed.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("resumed, ordered %v: %v, want %s", ordered, err, want)
			}
		}
	}
}
