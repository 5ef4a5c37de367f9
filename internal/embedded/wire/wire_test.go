package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/x/mongo/driver/wiremessage"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

func doc(elems ...[]byte) bsonx.Doc {
	return bsonx.Doc(bsoncore.BuildDocumentFromElements(nil, elems...))
}

func intDoc(name string, n int32) bsonx.Doc { return doc(bsoncore.AppendInt32Element(nil, name, n)) }

// read parses one message and checks that all of src was read.
func read(t *testing.T, src []byte) (*Message, error) {
	t.Helper()
	r := NewReader(iotest.OneByteReader(bytes.NewReader(src)))
	defer r.Close()
	m, err := r.Next()
	if err == nil {
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("after the message: %v, want EOF", err)
		}
	}
	return m, err
}

func TestDriverFramedRequest(t *testing.T) {
	body := intDoc("insert", 1)
	d1, d2 := intDoc("_id", 1), intDoc("_id", 2)
	start, b := wiremessage.AppendHeaderStart(nil, 7, 0, wiremessage.OpMsg)
	b = wiremessage.AppendMsgFlags(b, wiremessage.MoreToCome)
	b = wiremessage.AppendMsgSectionType(b, wiremessage.SingleDocument)
	b = append(b, body...)
	b = wiremessage.AppendMsgSectionType(b, wiremessage.DocumentSequence)
	seq, b := bsoncore.ReserveLength(b)
	b = append(append(append(append(b, "documents"...), 0), d1...), d2...)
	b = bsoncore.UpdateLength(b, seq, int32(len(b[seq:])))
	b = bsoncore.UpdateLength(b, start, int32(len(b)))

	m, err := read(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if m.RequestID != 7 || m.OpCode != OpMsg || !m.MoreToCome() || m.ExhaustAllowed() || !bytes.Equal(m.Body, body) {
		t.Errorf("got %+v", m)
	}
	s, ok := m.Sequence("documents")
	if docs := s.AppendDocs(nil); !ok || s.Len != 2 || len(docs) != 2 || !bytes.Equal(docs[0], d1) || !bytes.Equal(docs[1], d2) {
		t.Errorf("sequence %v %+v", ok, s)
	}
	if again := AppendRequest(nil, 7, MoreToCome, body, NewSequence("documents", d1, d2)); !bytes.Equal(again, b) {
		t.Errorf("AppendRequest\n%x, the driver\n%x", again, b)
	}
	if _, ok := m.Sequence("updates"); ok {
		t.Error("found a sequence that is not there")
	}
}

func TestLegacyHandshake(t *testing.T) {
	hello := intDoc("isMaster", 1)
	wrapped := doc(bsoncore.AppendDocumentElement(nil, "$query", bsoncore.Document(hello)))
	for name, query := range map[string]bsonx.Doc{"plain": hello, "wrapped": wrapped} {
		start, b := wiremessage.AppendHeaderStart(nil, 9, 0, wiremessage.OpCode(OpQuery))
		b = wiremessage.AppendQueryFlags(b, wiremessage.SecondaryOK)
		b = wiremessage.AppendQueryFullCollectionName(b, "admin.$cmd")
		b = wiremessage.AppendQueryNumberToSkip(b, 0)
		b = wiremessage.AppendQueryNumberToReturn(b, -1)
		b = append(b, query...)
		b = bsoncore.UpdateLength(b, start, int32(len(b)))
		m, err := read(t, b)
		if err != nil {
			t.Fatal(name, err)
		}
		if m.DB != "admin" || m.Collection != "$cmd" || !bytes.Equal(m.Body, hello) || m.MoreToCome() {
			t.Errorf("%s: got %+v", name, m)
		}
		reply, err := AppendReply(nil, m, 33, 0, intDoc("ok", 1))
		if err != nil {
			t.Fatal(name, err)
		}
		length, _, to, op, rest, _ := wiremessage.ReadHeader(reply)
		if int(length) != len(reply) || to != 9 || op != wiremessage.OpReply {
			t.Errorf("%s: reply header %d %d %v", name, length, to, op)
		}
		_, rest, _ = wiremessage.ReadReplyFlags(rest)
		_, rest, _ = wiremessage.ReadReplyCursorID(rest)
		_, rest, _ = wiremessage.ReadReplyStartingFrom(rest)
		n, rest, _ := wiremessage.ReadReplyNumberReturned(rest)
		docs, _, ok := wiremessage.ReadReplyDocuments(rest)
		if n != 1 || !ok || len(docs) != 1 || !bytes.Equal(docs[0], intDoc("ok", 1)) {
			t.Errorf("%s: reply %d documents %v", name, n, docs)
		}
	}
}

func TestReplyIsReadByTheDriver(t *testing.T) {
	m, err := read(t, AppendRequest(nil, 5, ExhaustAllowed, intDoc("ping", 1)))
	if err != nil || !m.ExhaustAllowed() {
		t.Fatal(m, err)
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	for i := range int32(3) {
		out.Reset()
		if err := w.Reply(m, intDoc("ok", i), MoreToCome); err != nil {
			t.Fatal(err)
		}
		length, id, to, op, rest, ok := wiremessage.ReadHeader(out.Bytes())
		if !ok || int(length) != out.Len() || id != w.LastID() || to != 5 || op != wiremessage.OpMsg {
			t.Fatalf("header %d %d %d %v", length, id, to, op)
		}
		flags, rest, _ := wiremessage.ReadMsgFlags(rest)
		kind, rest, _ := wiremessage.ReadMsgSectionType(rest)
		body, rest, ok := wiremessage.ReadMsgSectionSingleDocument(rest)
		if !ok || flags != wiremessage.MoreToCome || kind != wiremessage.SingleDocument || !bytes.Equal(body, intDoc("ok", i)) || len(rest) != 0 {
			t.Errorf("reply %d: flags %v, kind %v, %v, %d bytes left", i, flags, kind, body, len(rest))
		}
	}
}

func TestChecksum(t *testing.T) {
	req := AppendRequest(nil, 5, ChecksumPresent, intDoc("ping", 1), NewSequence("documents", intDoc("a", 1)))
	m, err := read(t, req)
	if err != nil || m.Sequences[0].Len != 1 {
		t.Fatal(m, err)
	}
	// CRC-32C of the check input of the standard.
	if got := checksum([]byte("123456789")); got != 0xe3069283 {
		t.Errorf("checksum %x", got)
	}
	reply, err := AppendReply(nil, m, 1, 0, intDoc("ok", 1))
	if err != nil {
		t.Fatal(err)
	}
	if m, err = read(t, reply); err != nil || m.Flags != ChecksumPresent || !bytes.Equal(m.Body, intDoc("ok", 1)) {
		t.Errorf("reply: %+v, %v", m, err)
	}
	for i := headerSize + 4; i < len(req); i++ {
		bad := bytes.Clone(req)
		bad[i] ^= 4
		var broken *ProtocolError
		if _, err := read(t, bad); !errors.As(err, &broken) || !strings.Contains(err.Error(), "checksum") {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}

func TestCompression(t *testing.T) {
	big := doc(bsoncore.AppendStringElement(nil, "s", strings.Repeat("mrbench ", 10_000)))
	for _, c := range []Compressor{Noop, Snappy, Zlib, Zstd} {
		t.Run(c.String(), func(t *testing.T) {
			var stream []byte
			for i := range int32(3) {
				start := len(stream)
				flags := uint32(0)
				if i == 2 {
					flags = ChecksumPresent
				}
				stream = AppendRequest(stream, i, flags, big, NewSequence("documents", intDoc("_id", i)))
				var err error
				if stream, err = Compress(stream, start, c); err != nil {
					t.Fatal(err)
				}
			}
			if c != Noop && len(stream) > len(big) {
				t.Errorf("%d bytes for three times %d", len(stream), len(big))
			}
			r := NewReader(bytes.NewReader(stream))
			defer r.Close()
			var out bytes.Buffer
			w := NewWriter(&out)
			for i := range int32(3) {
				m, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				s, _ := m.Sequence("documents")
				if m.RequestID != i || !m.Compressed || m.Compressor != c || m.OpCode != OpMsg ||
					!bytes.Equal(m.Body, big) || !bytes.Equal(s.Raw, intDoc("_id", i)) {
					t.Fatalf("message %d: %v %v %v", i, m.Header, m.Compressed, m.Compressor)
				}
				if err := w.Reply(m, big, 0); err != nil {
					t.Fatal(err)
				}
			}
			back := NewReader(&out)
			defer back.Close()
			for range 3 {
				m, err := back.Next()
				if err != nil || m.Compressor != c || !m.Compressed || !bytes.Equal(m.Body, big) {
					t.Fatalf("reply: %v", err)
				}
			}
		})
	}
}

// packed is an OP_COMPRESSED with anything in it.
func packed(op OpCode, size int32, by byte, content []byte) []byte {
	b := appendHeader(nil, Header{Length: int32(headerSize + 9 + len(content)), RequestID: 3, OpCode: OpCompressed})
	b = binary.LittleEndian.AppendUint32(b, uint32(op))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return append(append(b, by), content...)
}

func framed(op OpCode, content []byte) []byte {
	return append(appendHeader(nil, Header{Length: int32(headerSize + len(content)), RequestID: 3, OpCode: op}), content...)
}

func TestBrokenMessages(t *testing.T) {
	msg := func(flags uint32, sections ...[]byte) []byte {
		return framed(OpMsg, append(binary.LittleEndian.AppendUint32(nil, flags), bytes.Join(sections, nil)...))
	}
	body := append([]byte{0}, intDoc("a", 1)...)
	seq := AppendRequest(nil, 0, 0, intDoc("a", 1), NewSequence("documents", intDoc("a", 1)))[headerSize+4+len(body):]
	cut := bytes.Clone(seq)
	cut[len(cut)-len(intDoc("a", 1))]++ // the document's length
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"length too small":     {appendHeader(nil, Header{Length: 15, OpCode: OpMsg}), "length must be"},
		"length too large":     {appendHeader(nil, Header{Length: MaxMessageSize + 1, OpCode: OpMsg}), "length must be"},
		"negative length":      {appendHeader(nil, Header{Length: -5, OpCode: OpMsg}), "length must be"},
		"legacy insert":        {framed(2002, nil), "OP_INSERT is not supported"},
		"unknown opcode":       {framed(77, nil), "opcode 77 is not supported"},
		"no flags":             {framed(OpMsg, []byte{0}), "flags"},
		"unknown flag":         {msg(1<<5, body), "flag bits"},
		"no room for checksum": {msg(ChecksumPresent), "checksum"},
		"no body":              {msg(0), "no body"},
		"only a sequence":      {msg(0, seq), "no body"},
		"two bodies":           {msg(0, body, body), "two body"},
		"two equal sequences":  {msg(0, body, seq, seq), "two document sequences"},
		"unknown section":      {msg(0, append([]byte{2}, body[1:]...)), "section kind 2"},
		"section too long":     {msg(0, body[:len(body)-1]), "section length"},
		"cut in a sequence":    {msg(0, body, cut), "document 0 of sequence"},
		"unnamed sequence":     {msg(0, body, []byte{1, 6, 0, 0, 0, 'x', 'y'}), "does not end"},
		"query without name":   {framed(OpQuery, []byte{0, 0, 0, 0, 'a'}), "namespace"},
		"compressed twice":     {packed(OpCompressed, 10, 0, make([]byte, 10)), "compressed twice"},
		"unknown compressor":   {packed(OpMsg, 10, 9, make([]byte, 10)), "compressor 9"},
		"noop, wrong size":     {packed(OpMsg, 10, 0, make([]byte, 9)), "size"},
		"snappy, garbage":      {packed(OpMsg, 10, 1, []byte{10, 255, 255}), "snappy"},
		"zlib, garbage":        {packed(OpMsg, 10, 2, []byte{1, 2, 3}), "zlib"},
		"zstd, garbage":        {packed(OpMsg, 10, 3, []byte{1, 2, 3}), "zstd"},
		"size beyond limit":    {packed(OpMsg, MaxMessageSize, 1, []byte{1, 2, 3}), "uncompressed size"},
		"negative size":        {packed(OpMsg, -1, 1, []byte{1, 2, 3}), "uncompressed size"},
	} {
		var broken *ProtocolError
		if m, err := read(t, c.b); m != nil || !errors.As(err, &broken) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want an error with %q", name, m, err, c.want)
		}
	}
	whole := AppendRequest(nil, 1, 0, intDoc("a", 1))
	for n := 1; n < len(whole); n++ {
		if _, err := read(t, whole[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestSizeThatCompressedContentDoesNotHave(t *testing.T) {
	inner := AppendRequest(nil, 1, 0, intDoc("a", 1))
	for _, c := range []Compressor{Snappy, Zlib, Zstd} {
		b, err := Compress(bytes.Clone(inner), 0, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range []byte{1, 0xff} {
			bad := bytes.Clone(b)
			bad[headerSize+4] += by
			var broken *ProtocolError
			if _, err := read(t, bad); !errors.As(err, &broken) {
				t.Errorf("%v: size off by %d: %v", c, int8(by), err)
			}
		}
	}
}

func TestBadDocumentKeepsTheConnection(t *testing.T) {
	bad := doc(bsoncore.AppendBooleanElement(nil, "b", true))
	bad[len(bad)-2] = 7
	deep := bsonx.Empty
	for range MaxDepth {
		deep = doc(bsoncore.AppendDocumentElement(nil, "d", bsoncore.Document(deep)))
	}
	for name, c := range map[string]struct {
		body bsonx.Doc
		seq  bsonx.Doc
		code mongoerr.Code
	}{
		"body":     {bad, bsonx.Empty, mongoerr.InvalidBSON},
		"sequence": {bsonx.Empty, bad, mongoerr.InvalidBSON},
		"deep":     {deep, bsonx.Empty, mongoerr.Overflow},
	} {
		stream := AppendRequest(nil, 1, 0, c.body, NewSequence("documents", c.seq))
		stream = AppendRequest(stream, 2, 0, intDoc("ping", 1))
		r := NewReader(bytes.NewReader(stream))
		m, err := r.Next()
		if m == nil || m.RequestID != 1 || mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v, %v, want code %d", name, m, err, c.code)
		}
		if m, err = r.Next(); err != nil || m.RequestID != 2 {
			t.Errorf("%s: the next message: %v", name, err)
		}
	}
}

// A header that promises much must not cost much before the bytes come.
func TestMemoryFollowsTheBytesThatCome(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		_, _, err := ReadMessage(bytes.NewReader(appendHeader(nil, Header{Length: MaxMessageSize, OpCode: OpMsg})), nil)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / 20; n > 1<<20 {
		t.Errorf("%d bytes allocated for a header alone", n)
	}
}

func TestReaderKeepsItsBuffers(t *testing.T) {
	req := AppendRequest(nil, 1, 0, intDoc("insert", 1), NewSequence("documents", intDoc("a", 1), intDoc("a", 2)))
	src := bytes.NewReader(nil)
	r := NewReader(src)
	w := NewWriter(io.Discard)
	body := intDoc("ok", 1)
	n := testing.AllocsPerRun(100, func() {
		src.Reset(req)
		m, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Reply(m, body, 0); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations a message and reply", n)
	}
}

func TestLargeMessageThenSmall(t *testing.T) {
	big := doc(bsoncore.AppendBinaryElement(nil, "b", 0, make([]byte, 15<<20)))
	stream := AppendRequest(nil, 1, 0, intDoc("insert", 1), NewSequence("documents", big, big))
	stream = AppendRequest(stream, 2, 0, intDoc("ping", 1))
	r := NewReader(bytes.NewReader(stream))
	m, err := r.Next()
	if err != nil || m.Sequences[0].Len != 2 {
		t.Fatal(m, err)
	}
	if m, err = r.Next(); err != nil || m.RequestID != 2 || !bytes.Equal(m.Body, intDoc("ping", 1)) {
		t.Fatal(m, err)
	}
	if cap(r.buf) > keepBuffer {
		t.Errorf("keeps %d bytes", cap(r.buf))
	}
}

func TestNegotiate(t *testing.T) {
	got := Negotiate([]string{"lz4", "zstd", "snappy", "zstd", "noop"})
	if strings.Join(got, " ") != "zstd snappy" {
		t.Errorf("got %q", got)
	}
}

func FuzzReader(f *testing.F) {
	plain := AppendRequest(nil, 1, 0, intDoc("insert", 1), NewSequence("documents", intDoc("a", 1), intDoc("a", 2)))
	f.Add(plain)
	f.Add(AppendRequest(nil, 1, ChecksumPresent, intDoc("ping", 1)))
	for _, c := range []Compressor{Noop, Snappy, Zlib, Zstd} {
		b, err := Compress(bytes.Clone(plain), 0, c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(framed(OpQuery, append([]byte("\x04\x00\x00\x00admin.$cmd\x00\x00\x00\x00\x00\xff\xff\xff\xff"), intDoc("isMaster", 1)...)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 8 && parseHeader(append(b[:len(b):len(b)], make([]byte, headerSize)...)).OpCode == OpCompressed && len(b) > 24 {
			// Keep the fuzzer from spending its time on clearing large buffers.
			b = bytes.Clone(b)
			b[22], b[23] = 0, 0
		}
		r := NewReader(bytes.NewReader(b))
		defer r.Close()
		for {
			m, err := r.Next()
			if m == nil {
				if err == nil {
					t.Fatal("neither message nor error")
				}
				return
			}
			if err != nil {
				continue
			}
			if bsonx.Validate(m.Body, MaxDepth) != nil {
				t.Fatal("invalid body came through")
			}
			for _, s := range m.Sequences {
				n := 0
				for d := range s.Docs {
					if bsonx.Validate(d, MaxDepth) != nil {
						t.Fatal("invalid document came through")
					}
					n++
				}
				if n != s.Len {
					t.Fatalf("%d documents, said %d", n, s.Len)
				}
			}
			if _, err := AppendReply(nil, m, 1, 0, bsonx.Empty); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkReadInsert(b *testing.B) {
	docs := make([]bsonx.Doc, 1000)
	for i := range docs {
		docs[i] = doc(bsoncore.AppendObjectIDElement(nil, "_id", [12]byte{byte(i)}), bsoncore.AppendInt32Element(nil, "dim0", int32(i)))
	}
	req := AppendRequest(nil, 1, 0, intDoc("insert", 1), NewSequence("documents", docs...))
	src := bytes.NewReader(nil)
	r := NewReader(src)
	b.SetBytes(int64(len(req)))
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(req)
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompressedReply(b *testing.B) {
	body := doc(bsoncore.AppendStringElement(nil, "s", strings.Repeat("mrbench ", 1000)))
	for _, c := range []Compressor{Snappy, Zlib, Zstd} {
		b.Run(c.String(), func(b *testing.B) {
			req := &Message{Header: Header{OpCode: OpMsg}, Compressed: true, Compressor: c}
			w := NewWriter(io.Discard)
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Reply(req, body, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
