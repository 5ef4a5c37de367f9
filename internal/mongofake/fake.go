// Package mongofake is a scripted server for tests: it speaks enough of the wire
// protocol for a driver client, and answers each command with what a function
// says. Tests use it to be a server that they don't have: a router, an old
// version, one that refuses or fails.
package mongofake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/x/mongo/driver/wiremessage"
)

// Command is what a client sent. Documents of a sequence are in Sequences by name.
type Command struct {
	DB        string
	Name      string
	Body      bson.Raw
	Sequences map[string][]bson.Raw
	NoReply   bool // the client does not wait

	op wiremessage.OpCode
	id int32
}

// Server is a scripted server.
type Server struct {
	// WireVersion is the maxWireVersion it claims, default 7 (MongoDB 4.0).
	WireVersion int32
	// Mongos makes it a router.
	Mongos bool
	// Hello has more fields for the reply to hello.
	Hello bson.D
	// NoHello has it refuse the name hello, as versions before 4.4 do.
	NoHello bool
	// Handle answers a command; ctx ends with the connection. nil stands for {ok: 1}.
	Handle func(ctx context.Context, c Command) bson.D

	mu    sync.Mutex
	names []string
}

// Error is a reply that refuses.
func Error(code int32, message string) bson.D {
	d := bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: message}}
	if code != 0 {
		d = append(d, bson.E{Key: "code", Value: code})
	}
	return d
}

// HangUp is a reply that is none: the connection is closed instead.
func HangUp() bson.D { return bson.D{{Key: hangUp, Value: true}} }

const hangUp = "$hangUp"

// Cursor is a reply with a first and only batch.
func Cursor(ns string, docs ...any) bson.D {
	if docs == nil {
		docs = []any{}
	}
	return bson.D{{Key: "cursor", Value: bson.D{
		{Key: "firstBatch", Value: bson.A(docs)}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: ns},
	}}, {Key: "ok", Value: 1.0}}
}

// Client connects a driver client to the server, until the test ends.
func (s *Server) Client(t testing.TB) *mongo.Client {
	t.Helper()
	c, err := mongo.Connect(context.Background(), options.Client().ApplyURI("mongodb://fake/?directConnection=true").SetDialer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

// Commands lists the names of the commands handled so far, hello apart.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.names...)
}

// DialContext makes a connection; it satisfies options.ContextDialer.
func (s *Server) DialContext(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go s.serve(server) // ends with the connection, which the client owns
	return client, nil
}

func (s *Server) serve(c net.Conn) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer c.Close()
	in := make(chan []byte)
	go func() { // a closed connection is seen while a command runs
		defer cancel()
		defer close(in)
		for {
			m, err := ReadMessage(c)
			if err != nil {
				return
			}
			in <- m
		}
	}()
	for m := range in {
		if err := s.answer(ctx, c, m); err != nil {
			_ = c.Close()
		}
	}
}

// ReadMessage reads one message of the wire protocol, header included.
func ReadMessage(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n < 16 || n > 50<<20 {
		return nil, errors.New("bad length")
	}
	m := make([]byte, n)
	copy(m, size[:])
	_, err := io.ReadFull(r, m[4:])
	return m, err
}

func (s *Server) answer(ctx context.Context, w io.Writer, m []byte) error {
	cmd, err := ParseMessage(m)
	if err != nil {
		return err
	}
	d := s.reply(ctx, cmd)
	if len(d) > 0 && d[0].Key == hangUp {
		return errors.New("told to hang up")
	}
	reply, err := bson.Marshal(d)
	if err != nil {
		return err
	}
	if cmd.NoReply {
		return nil
	}
	_, err = w.Write(cmd.Reply(reply))
	return err
}

// ParseMessage reads a command from a message, or from a legacy query.
func ParseMessage(m []byte) (Command, error) {
	_, id, _, op, rest, ok := wiremessage.ReadHeader(m)
	if !ok {
		return Command{}, errors.New("bad header")
	}
	var cmd Command
	switch op {
	case opQuery:
		body, err := queryBody(rest)
		if err != nil {
			return cmd, err
		}
		cmd = Command{DB: "admin", Body: body}
	case wiremessage.OpMsg:
		var err error
		if cmd, err = parse(rest); err != nil {
			return cmd, err
		}
	default:
		return cmd, fmt.Errorf("opcode %v", op)
	}
	cmd.op, cmd.id = op, id
	first, err := cmd.Body.IndexErr(0)
	if err != nil {
		return cmd, err
	}
	cmd.Name = first.Key()
	return cmd, nil
}

// ParseReply reads the document of a reply, in either form.
func ParseReply(m []byte) (bson.Raw, error) {
	_, _, _, op, rest, ok := wiremessage.ReadHeader(m)
	switch {
	case !ok:
		return nil, errors.New("bad header")
	case op == opReply && len(rest) > 20:
		return bson.Raw(rest[20:]), nil
	case op != wiremessage.OpMsg:
		return nil, fmt.Errorf("opcode %v", op)
	}
	c, err := parse(rest)
	return c.Body, err
}

// The legacy opcodes of a driver's first handshake.
const (
	opQuery wiremessage.OpCode = 2004
	opReply wiremessage.OpCode = 1
)

// queryBody reads a legacy query: flags, a name, two numbers, the document.
func queryBody(rest []byte) (bson.Raw, error) {
	end := bytes.IndexByte(rest[min(4, len(rest)):], 0)
	at := 4 + end + 1 + 8
	if end < 0 || at > len(rest) {
		return nil, errors.New("bad query")
	}
	q := bson.Raw(rest[at:])
	return q, q.Validate()
}

func parse(rest []byte) (Command, error) {
	cmd := Command{Sequences: map[string][]bson.Raw{}}
	flags, rest, ok := wiremessage.ReadMsgFlags(rest)
	if !ok {
		return cmd, errors.New("bad flags")
	}
	cmd.NoReply = flags&wiremessage.MoreToCome != 0
	for len(rest) > 0 {
		kind, after, ok := wiremessage.ReadMsgSectionType(rest)
		if !ok {
			return cmd, errors.New("bad section")
		}
		rest = after
		if kind == wiremessage.SingleDocument {
			d, after, ok := wiremessage.ReadMsgSectionSingleDocument(rest)
			if !ok {
				return cmd, errors.New("bad body")
			}
			cmd.Body, rest = bson.Raw(d), after
			continue
		}
		name, docs, after, ok := wiremessage.ReadMsgSectionDocumentSequence(rest)
		if !ok {
			return cmd, errors.New("bad sequence")
		}
		for _, d := range docs {
			cmd.Sequences[name] = append(cmd.Sequences[name], bson.Raw(d))
		}
		rest = after
	}
	cmd.DB, _ = cmd.Body.Lookup("$db").StringValueOK()
	return cmd, nil
}

func (s *Server) reply(ctx context.Context, cmd Command) bson.D {
	switch cmd.Name {
	case "hello":
		if s.NoHello {
			return Error(59, "no such command: 'hello'")
		}
		return s.hello()
	case "isMaster", "ismaster":
		return s.hello()
	case "endSessions":
		return bson.D{{Key: "ok", Value: 1.0}}
	}
	s.mu.Lock()
	s.names = append(s.names, cmd.Name)
	s.mu.Unlock()
	if s.Handle != nil {
		if d := s.Handle(ctx, cmd); d != nil {
			return d
		}
	}
	return bson.D{{Key: "ok", Value: 1.0}}
}

func (s *Server) hello() bson.D {
	wire := s.WireVersion
	if wire == 0 {
		wire = 7
	}
	d := bson.D{{Key: "ismaster", Value: true}, {Key: "maxWireVersion", Value: wire}, {Key: "minWireVersion", Value: int32(0)}}
	if s.Mongos {
		d = append(d, bson.E{Key: "msg", Value: "isdbgrid"})
	}
	return append(append(d, s.Hello...), bson.E{Key: "ok", Value: 1.0})
}

// Reply frames a document as the answer to the command, in the form that the command came in.
func (c Command) Reply(doc []byte) []byte {
	const id = 1 // nobody reads the numbers of replies
	var start int32
	var b []byte
	if c.op == opQuery {
		start, b = wiremessage.AppendHeaderStart(nil, id, c.id, opReply)
		b = append(b, make([]byte, 4+8+4)...) // flags, cursor, starting from
		b = binary.LittleEndian.AppendUint32(b, 1)
	} else {
		start, b = appendMsg(id, c.id)
	}
	b = append(b, doc...)
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)))
	return b
}

// Message frames the command with another body and no sequences.
func (c Command) Message(body []byte) []byte {
	start, b := appendMsg(c.id, 0)
	b = append(b, body...)
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)))
	return b
}

func appendMsg(id, to int32) (int32, []byte) {
	start, b := wiremessage.AppendHeaderStart(nil, id, to, wiremessage.OpMsg)
	b = wiremessage.AppendMsgFlags(b, 0)
	return start, wiremessage.AppendMsgSectionType(b, wiremessage.SingleDocument)
}
