package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestServeOnSocket: the socket is its owner's alone, and so is the directory, also one that was open to others.
func TestServeOnSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "mrb") // paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err = Serve(ctx, ServeConfig{DataDir: data, Network: "unix", Address: socket, Auth: true, Ready: func(s Serving) {
		for path, want := range map[string]os.FileMode{data: 0o700, socket: 0o600} {
			if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
				t.Errorf("%s: %v (%v)", path, st.Mode(), err)
			}
		}
		if s.Made == nil || s.Made.User != "admin" {
			t.Errorf("%+v", s)
		}
		cancel()
	}})
	if err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err = Serve(t.Context(), ServeConfig{DataDir: data, Network: "unix", Address: socket})
	if _, ok := errors.AsType[*ListenError](err); !ok {
		t.Errorf("a file that is no socket: %v", err)
	}
}
