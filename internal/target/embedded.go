package target

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/embedded"
)

// engineURI stands for the engine in this process; its host is never looked up because connections come from a dialer.
const engineURI = "mongodb://embedded/?directConnection=true"

// InUseError means that another process holds the data directory and can't be joined.
type InUseError struct {
	Dir string
	PID int
	Err error // why joining failed; nil when it does not serve
}

func (e *InUseError) Error() string {
	who := "another mrbench"
	if e.PID > 0 {
		who = fmt.Sprintf("mrbench process %d", e.PID)
	}
	text := fmt.Sprintf("data directory %s is in use by %s", e.Dir, who)
	if e.Err != nil {
		return fmt.Sprintf("%s, which serves but can't be joined: %v", text, e.Err)
	}
	return text + "; wait for it, stop it, or name another directory with --data-dir (a process started as mrbench serve can be joined)"
}

func (e *InUseError) Unwrap() error { return e.Err }

func openEmbedded(ctx context.Context, c Config) (*Target, error) {
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", c.DataDir, err)
	}
	t := &Target{Address: dir, Identity: "embedded:" + dir}
	engine, err := embedded.Open(embedded.Config{Dir: dir, Version: c.Version})
	if locked, ok := errors.AsType[*embedded.LockedError](err); ok {
		return join(ctx, c, t, locked)
	}
	if err != nil {
		return nil, fmt.Errorf("embedded engine: %w", err)
	}
	c.Notice("embedded engine, data in " + dir)
	o := options.Client().ApplyURI(engineURI).SetDialer(engine)
	t.nameApp(c, o)
	if err := t.dial(ctx, c, o); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	t.close = engine.Close
	return t, nil
}

// join connects to the process that serves the data directory.
func join(ctx context.Context, c Config, t *Target, locked *embedded.LockedError) (*Target, error) {
	if locked.Address == "" {
		return nil, &InUseError{Dir: t.Address, PID: locked.PID}
	}
	c.Notice(fmt.Sprintf("embedded engine, data in %s, served by process %d at %s", t.Address, locked.PID, locked.Address))
	o := options.Client().ApplyURI(locked.Address)
	t.nameApp(c, o)
	token, err := embedded.Token(t.Address)
	if err != nil {
		return nil, &InUseError{Dir: t.Address, PID: locked.PID, Err: err}
	}
	if token != "" {
		// Who may read the directory may have its data. The token itself is never sent.
		o.SetAuth(options.Credential{
			AuthMechanism: "SCRAM-SHA-256", AuthSource: embedded.TokenSource, Username: embedded.TokenUser, Password: token,
		})
	}
	if err := t.dial(ctx, c, o); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &InUseError{Dir: t.Address, PID: locked.PID, Err: err}
	}
	return t, nil
}
