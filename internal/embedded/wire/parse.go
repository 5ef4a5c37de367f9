package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// parse fills m from one whole message, which is not compressed. m keeps its
// Sequences' memory. What it has read so far stays in m on an error.
func (m *Message) parse(b []byte) error {
	*m = Message{Header: parseHeader(b), Sequences: m.Sequences[:0], Compressed: m.Compressed, Compressor: m.Compressor}
	var err error
	switch m.OpCode {
	case OpMsg:
		err = m.parseMsg(b)
	case OpQuery:
		err = m.parseQuery(b[headerSize:])
	default:
		err = fmt.Errorf("%v is not supported; use a driver that speaks OP_MSG (MongoDB 3.6 or newer)", m.OpCode)
	}
	if err == nil {
		return nil
	}
	var command *mongoerr.Error
	if errors.As(err, &command) {
		return err
	}
	return &ProtocolError{m.Header, err.Error()}
}

const sectionBody, sectionSequence = 0, 1

func (m *Message) parseMsg(b []byte) error {
	if len(b) < headerSize+4 {
		return errors.New("too short for its flags")
	}
	m.Flags = binary.LittleEndian.Uint32(b[headerSize:])
	if unknown := m.Flags & 0xffff &^ (ChecksumPresent | MoreToCome); unknown != 0 {
		return fmt.Errorf("unknown required flag bits %#x", unknown)
	}
	if m.Flags&ChecksumPresent != 0 {
		n := len(b) - 4
		if n < headerSize+4 {
			return errors.New("too short for its checksum")
		}
		if got, want := binary.LittleEndian.Uint32(b[n:]), checksum(b[:n]); got != want {
			return fmt.Errorf("checksum %08x does not match the content's %08x", got, want)
		}
		b = b[:n]
	}
	for rest := b[headerSize+4:]; len(rest) > 0; {
		kind := rest[0]
		rest = rest[1:]
		n, err := sizeOf(rest)
		if err != nil {
			return err
		}
		section := rest[:n]
		rest = rest[n:]
		switch kind {
		case sectionBody:
			if m.Body != nil {
				return errors.New("two body sections")
			}
			if err := validate(section); err != nil {
				return err
			}
			m.Body = bsonx.Doc(section)
		case sectionSequence:
			if err := m.parseSequence(section[4:]); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown section kind %d", kind)
		}
	}
	if m.Body == nil {
		return errors.New("no body section")
	}
	return nil
}

// sizeOf reads the length that b begins with, which counts itself, and checks that b has so much.
func sizeOf(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, errors.New("ends inside a section's length")
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < 5 || n > len(b) {
		return 0, fmt.Errorf("section length %d with %d bytes left", n, len(b))
	}
	return n, nil
}

func (m *Message) parseSequence(b []byte) error {
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return errors.New("name of a document sequence does not end")
	}
	s := Sequence{ID: sequenceName(b[:n]), Raw: b[n+1:]}
	if slices.ContainsFunc(m.Sequences, func(o Sequence) bool { return o.ID == s.ID }) {
		return fmt.Errorf("two document sequences %q", s.ID)
	}
	for rest := s.Raw; len(rest) > 0; s.Len++ {
		n, err := sizeOf(rest)
		if err != nil {
			return fmt.Errorf("document %d of sequence %q: %w", s.Len, s.ID, err)
		}
		if err := validate(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	m.Sequences = append(m.Sequences, s)
	return nil
}

// sequenceName saves the allocation for the names in use.
func sequenceName(b []byte) string {
	switch string(b) {
	case "documents":
		return "documents"
	case "updates":
		return "updates"
	case "deletes":
		return "deletes"
	}
	return string(b)
}

func validate(b []byte) error {
	if len(b) > MaxBSONSize {
		return mongoerr.New(mongoerr.BSONObjectTooLarge, "document of %d bytes exceeds the limit of %d", len(b), MaxBSONSize)
	}
	return bsonx.Validate(b, MaxDepth)
}

func (m *Message) parseQuery(b []byte) error {
	if len(b) < 4 {
		return errors.New("too short for its flags")
	}
	m.Flags = binary.LittleEndian.Uint32(b)
	b = b[4:]
	n := bytes.IndexByte(b, 0)
	if n < 0 || len(b) < n+1+8 {
		return errors.New("too short for its namespace")
	}
	m.DB, m.Collection, _ = strings.Cut(string(b[:n]), ".")
	b = b[n+1+8:] // the numbers to skip and return mean nothing to a command
	size, err := sizeOf(b)
	if err != nil {
		return err
	}
	if err := validate(b[:size]); err != nil {
		return err
	}
	m.Body = bsonx.Doc(b[:size])
	// A projection may follow; no command has one.
	if it := m.Body.Iter(); it.Next() && it.Value().Type == bsonx.TypeEmbeddedDocument {
		if name := string(it.Name()); name == "$query" || name == "query" {
			m.Body = it.Value().Doc()
		}
	}
	return nil
}

// checksum is CRC-32C.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
