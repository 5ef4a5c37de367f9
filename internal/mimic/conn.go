package mimic

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
)

// accept serves connections until ctx ends, and waits for them.
func (s *Server) accept(ctx context.Context, l net.Listener) {
	var work sync.WaitGroup
	defer work.Wait()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		work.Go(func() { s.serve(ctx, c) })
	}
}

// serve is one connection: as many to the engine, so that logins and cursors are the connection's own.
func (s *Server) serve(ctx context.Context, client net.Conn) {
	s.open.Add(1)
	defer s.open.Add(-1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	engine, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.engine)
	if err != nil {
		_ = client.Close()
		return
	}
	stop := context.AfterFunc(ctx, func() { _, _ = client.Close(), engine.Close() })
	defer stop()
	defer engine.Close()
	defer client.Close()
	in := make(chan []byte)
	go func() { // a closed connection is seen while a command runs
		defer cancel()
		defer close(in)
		for {
			m, err := mongofake.ReadMessage(client)
			if err != nil {
				return
			}
			select {
			case in <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	for m := range in {
		if !s.answer(ctx, client, engine, m) {
			return
		}
	}
}

// answer answers one message; false ends the connection.
func (s *Server) answer(ctx context.Context, client, engine net.Conn, m []byte) bool {
	cmd, err := mongofake.ParseMessage(m)
	if err != nil {
		return false
	}
	if !slices.Contains([]string{"hello", "isMaster", "ismaster", "endSessions", "saslStart", "saslContinue"}, cmd.Name) {
		s.mu.Lock()
		s.log = append(s.log, cmd)
		s.mu.Unlock()
	}
	f := s.fault(cmd)
	if f != nil && f.Delay > 0 {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(f.Delay):
		}
	}
	if f != nil && f.StepDown > 0 {
		s.StepDown(f.StepDown)
	}
	var reply any
	if f == nil || f.After || f.Code == 0 && !f.HangUp && f.Reply == nil {
		if reply, err = s.reply(ctx, engine, cmd, m); err != nil {
			return false
		}
	}
	switch {
	case f != nil && f.HangUp:
		return false
	case f != nil && f.Code != 0:
		reply = f.reply()
	case f != nil && f.Reply != nil:
		reply = f.Reply
	case f != nil && f.Unconfirmed != 0:
		reply = unconfirmed(reply, f.Unconfirmed)
	}
	if cmd.NoReply {
		return true
	}
	doc, err := bson.Marshal(reply)
	if err != nil {
		return false
	}
	_, err = client.Write(cmd.Reply(doc))
	return err == nil
}

// reply is the mimic's own answer, or the engine's with the changes of the version and topology.
func (s *Server) reply(ctx context.Context, engine net.Conn, cmd mongofake.Command, m []byte) (any, error) {
	if s.c.Own != nil {
		if d := s.c.Own(ctx, cmd); d != nil {
			return d, nil
		}
	}
	if no := s.notPrimary(cmd); no != nil {
		return no, nil
	}
	if no := s.unknownUser(cmd); no != nil {
		return no, nil
	}
	own, body, err := s.own(ctx, cmd)
	if err != nil {
		return refuse(2, err.Error()), nil //nolint:nilerr // it is the reply
	}
	if own != nil {
		return own, nil
	}
	if body != nil {
		raw, err := bson.Marshal(body)
		if err != nil {
			return nil, err
		}
		m = cmd.Message(raw)
	}
	if _, err := engine.Write(m); err != nil || cmd.NoReply {
		return nil, err
	}
	answer, err := mongofake.ReadMessage(engine)
	if err != nil {
		return nil, err
	}
	raw, err := mongofake.ParseReply(answer)
	if err != nil {
		return nil, err
	}
	var d bson.D
	if !changed(cmd.Name) {
		return raw, nil
	}
	if err := bson.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	return s.change(ctx, cmd, d)
}
