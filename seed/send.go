package seed

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/seed/source"
)

// outcome is what became of a batch. Places count a batch's documents from 0.
type outcome struct {
	docs, bytes int64 // in the collection through this load
	again       int64 // of docs: an attempt that failed had written them
	already     int64 // the load that is resumed had written these
	duplicates  []int // places of documents that were left out, ascending
}

// send sends the batch and starts a new one. A command that failed for a reason that
// passes is sent again; a document that is then there, just as it was sent, was
// written by the attempt before. The outcome counts beside an error too. ctx ends
// waiting, sendCtx a command on its way.
func (s *sender) send(ctx, sendCtx context.Context) (o outcome, err error) {
	defer func() { s.n, s.bytes = 0, 0 }()
	tries := newAttempts(s.retries)
	var todo []int // places; nil: all
	retried := false
	for {
		err := s.command(sendCtx, todo)
		if err == nil {
			s.tally(&o, todo)
			return o, nil
		}
		if retryable(err) && ctx.Err() == nil && tries.left > 0 {
			s.onRetry(err)
			if err := tries.again(ctx, err); err != nil {
				return o, err
			}
			retried = true
			continue
		}
		if todo, err = s.sort(sendCtx, &o, err, todo, retried); err != nil || len(todo) == 0 {
			return o, err
		}
	}
}

// command inserts the documents at some places, or all.
func (s *sender) command(ctx context.Context, todo []int) error {
	if s.wc.unacknowledged {
		o := options.InsertMany().SetOrdered(s.ordered)
		if s.comment != "" {
			o.SetComment(s.comment)
		}
		_, err := s.coll.InsertMany(ctx, s.docs, o)
		if err == nil || errors.Is(err, mongo.ErrUnacknowledgedWrite) {
			clear(s.docs)
			s.docs = s.docs[:0]
			return nil
		}
		return err
	}
	end := len(s.buf)
	cmd := append(s.buf, 0, 0)
	if todo != nil {
		cmd = slices.Clone(s.buf[:s.head+4])
		next := 0
		for k, doc := range s.documents() {
			if next < len(todo) && todo[next] == k {
				cmd = bsoncore.AppendDocumentElement(cmd, strconv.Itoa(next), bsoncore.Document(doc))
				next++
			}
		}
		cmd = append(cmd, 0, 0)
	} else {
		s.buf = cmd[:end]
	}
	binary.LittleEndian.PutUint32(cmd[s.head:], uint32(len(cmd)-1-s.head))
	binary.LittleEndian.PutUint32(cmd, uint32(len(cmd)))
	return s.coll.Database().RunCommand(ctx, bson.Raw(cmd)).Err()
}

// documents walks the batch.
func (s *sender) documents() iter.Seq2[int, bson.Raw] {
	return func(yield func(int, bson.Raw) bool) {
		at := s.head + 4
		for k := range s.n {
			at += 1 + bytes.IndexByte(s.buf[at+1:], 0) + 1
			n := int(binary.LittleEndian.Uint32(s.buf[at:]))
			if !yield(k, bson.Raw(s.buf[at:at+n])) {
				return
			}
			at += n
		}
	}
}

// tally adds the documents at some places, or all, to the inserted ones.
func (s *sender) tally(o *outcome, places []int) {
	if places == nil {
		o.docs += int64(s.n)
		o.bytes += s.bytes
		return
	}
	for k, doc := range s.documents() {
		if _, ok := slices.BinarySearch(places, k); ok {
			o.docs++
			o.bytes += int64(len(doc))
		}
	}
}

// at is where the batch's document k begins, of a source.
func (s *sender) at(k int) (p source.Pos) {
	if k >= 0 && k < len(s.pos) {
		p = s.pos[k]
	}
	return p
}

// name names the whole batch.
func (s *sender) name() string {
	return batchName(s.first, s.first+int64(s.n)-1, s.at(0), s.at(s.n-1))
}

// sort finds out what became of each document of a command that failed. It
// returns the places of those that the server has not seen.
func (s *sender) sort(ctx context.Context, o *outcome, err error, todo []int, retried bool) (unseen []int, _ error) {
	list, unmet, ok := writeErrors(err)
	if !ok || len(list) == 0 && unmet == nil {
		return nil, fmt.Errorf("seed: %s: insert of %s: %w", s.ns, s.name(), err)
	}
	if todo == nil {
		todo = make([]int, s.n)
		for k := range todo {
			todo[k] = k
		}
	}
	failed := make([]int, len(list))
	for i := range list {
		if failed[i] = -1; list[i].Index >= 0 && list[i].Index < len(todo) {
			failed[i] = todo[list[i].Index]
		}
		list[i].Index = failed[i] // in the batch from here on
	}
	inserted, suspects := todo, failed
	if s.ordered && len(failed) > 0 {
		i, _ := slices.BinarySearch(todo, failed[0])
		inserted, suspects = todo[:i], todo[i:]
	} else if len(failed) > 0 {
		inserted = without(todo, failed)
	}
	s.tally(o, inserted)
	if (retried || s.resumed) && slices.ContainsFunc(list, isDuplicate) {
		there, err := s.lookup(ctx, suspects, inserted)
		if err != nil {
			return nil, err
		}
		if retried {
			before := o.docs
			s.tally(o, there)
			o.again += o.docs - before
		} else {
			o.already += int64(len(there))
		}
		list = slices.DeleteFunc(list, func(e mongo.WriteError) bool {
			_, ok := slices.BinarySearch(there, e.Index)
			return ok
		})
		if s.ordered && len(list) == 0 {
			unseen = without(suspects, there)
		}
	}
	if s.dups != nil {
		others := s.dups.take(list)
		for _, e := range list {
			if isDuplicate(e) {
				o.duplicates = append(o.duplicates, e.Index)
			}
		}
		slices.Sort(o.duplicates)
		list = others
	}
	if len(list) > 0 {
		e := list[0]
		return nil, &DocumentError{
			NS: s.ns, Index: s.first + int64(e.Index), At: s.at(e.Index), Code: e.Code, Message: e.Message, Failed: len(list),
		}
	}
	if unmet != nil {
		return nil, &WriteConcernError{
			NS: s.ns, WriteConcern: s.wc.text, First: s.first, Last: s.first + int64(s.n) - 1,
			From: s.at(0), To: s.at(s.n - 1), Code: unmet.Code, Message: unmet.Message,
		}
	}
	return unseen, nil
}

// writeErrors takes an error apart, whichever way the driver gave it; ok is
// false when it is not about single documents or the write concern.
func writeErrors(err error) (list []mongo.WriteError, unmet *mongo.WriteConcernError, ok bool) {
	var we mongo.WriteException
	var be mongo.BulkWriteException
	switch {
	case errors.As(err, &we):
		list, unmet = slices.Clone(we.WriteErrors), we.WriteConcernError
	case errors.As(err, &be):
		unmet = be.WriteConcernError
		for _, e := range be.WriteErrors {
			list = append(list, e.WriteError)
		}
	default:
		return nil, nil, false
	}
	slices.SortFunc(list, func(a, b mongo.WriteError) int { return cmp.Compare(a.Index, b.Index) })
	return list, unmet, true
}

// without is the elements of a that are not in b; both ascend.
func without(a, b []int) []int {
	rest := []int{}
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); !ok {
			rest = append(rest, x)
		}
	}
	return rest
}
