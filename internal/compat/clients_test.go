package compat

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write mongosh/repl.golden anew")

// A client that hangs is stopped, so that its output is seen.
const clientTimeout = 5 * time.Minute

func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: clients are not run")
	}
}

// needs skips a test whose client is not there.
func needs(t *testing.T, found bool, what string) {
	t.Helper()
	skipShort(t)
	if !found {
		t.Skipf("%s is not installed: run internal/compat/install, or look there for what it needs", what)
	}
}

// exists gives the path if a file is there.
func exists(elem ...string) string {
	path, err := filepath.Abs(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// client is a command that is given up after a while, with a home directory of its own.
func client(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "NODE_NO_WARNINGS=1", "TZ=UTC")
	return cmd
}

// steps runs a script that prints "ok NAME" or "FAIL NAME: reason" for each of its steps and their numbers at the end.
func steps(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	passed, failed := 0, 0
	for line := range strings.Lines(out.String()) {
		verdict, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verdict {
		case "ok":
			passed++
			t.Run(rest, func(*testing.T) {})
		case "FAIL":
			failed++
			name, reason, _ := strings.Cut(rest, ": ")
			t.Run(name, func(t *testing.T) { t.Error(reason) })
		}
	}
	end := fmt.Sprintf("everyday: %d passed, %d failed", passed, failed)
	if passed == 0 || !strings.Contains(out.String(), end) || (err != nil) != (failed > 0) {
		t.Errorf("the script did not end as it should (%v, want %q at its end):\n%s", err, end, out.String())
	}
}

// withCompressors runs a client plainly and with each of the compressors that it may ask for in its connection string.
func withCompressors(t *testing.T, uri string, run func(t *testing.T, uri string), names ...string) {
	t.Helper()
	t.Run("plain", func(t *testing.T) { run(t, uri+"/?retryWrites=true") })
	for _, name := range names {
		t.Run(name, func(t *testing.T) { run(t, uri+"/?retryWrites=true&compressors="+name) })
	}
}

func goDriver2(t *testing.T, uri string) {
	t.Helper()
	offline := client(t, "go", "list", "-deps", "-test", "./...")
	offline.Dir = "driverv2"
	offline.Env = append(offline.Env, "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	needs(t, offline.Run() == nil, "the Go driver's version 2")
	cmd := client(t, "go", "test", "-count=1", "./...")
	cmd.Dir = "driverv2"
	cmd.Env = append(cmd.Env, "MRBENCH_COMPAT_URI="+uri, "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^ok\s`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

func nodeDriver(t *testing.T, uri string) {
	t.Helper()
	node, err := exec.LookPath("node")
	needs(t, err == nil && exists("node", "node_modules", "mongodb") != "", "the Node driver")
	steps(t, client(t, node, "node/everyday.mjs", uri))
}

func TestGoDriver2(t *testing.T) {
	skipShort(t)
	withCompressors(t, serve(t), goDriver2, "snappy", "zlib", "zstd")
}

func TestNodeDriver(t *testing.T) {
	skipShort(t)
	withCompressors(t, serve(t), nodeDriver, "snappy", "zlib")
}

// mongosh is the shell that MRBENCH_MONGOSH names, or the one that install fetched.
func mongosh(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path := os.Getenv("MRBENCH_MONGOSH")
	if path == "" {
		if _, err := exec.LookPath("node"); err == nil {
			path = exists("mongosh", "node_modules", ".bin", "mongosh")
		}
	}
	needs(t, path != "", "mongosh")
	home := t.TempDir()
	config := filepath.Join(home, ".mongodb", "mongosh")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	// It is to talk to nobody but the server.
	if err := os.WriteFile(filepath.Join(config, "config"), []byte(`{"enableTelemetry": false, "updateURL": ""}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := client(t, path, append([]string{"--quiet", "--norc"}, args...)...)
	cmd.Env = append(cmd.Env, "HOME="+home)
	return cmd
}

func TestMongosh(t *testing.T) {
	cmd := mongosh(t)
	uri := serve(t)
	cmd.Args = append(cmd.Args, uri+"/?retryWrites=true", "mongosh/everyday.js")
	steps(t, cmd)
}

// TestLogins does everyday work on a server that asks for a password, with each client.
func TestLogins(t *testing.T) {
	skipShort(t)
	uri := serveLogins(t)
	t.Run("mongosh", func(t *testing.T) {
		cmd := mongosh(t)
		cmd.Args = append(cmd.Args, uri+"/", "mongosh/users.js")
		steps(t, cmd)
	})
	t.Run("go", func(t *testing.T) { goDriver2(t, uri+"/?authMechanism=SCRAM-SHA-256") })
	t.Run("node", func(t *testing.T) { nodeDriver(t, uri+"/?authMechanism=SCRAM-SHA-1") })
}

// TestMongoshSession types repl.txt into the shell, which then shows what is in repl.golden.
func TestMongoshSession(t *testing.T) {
	cmd := mongosh(t)
	in, err := os.Open("mongosh/repl.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	cmd.Args = append(cmd.Args, serve(t)+"/?compressors=zlib")
	cmd.Stdin = in
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	got = regexp.MustCompile(` +[0-9.]+ [KM]?i?B\n`).ReplaceAll(got, []byte(" (size)\n")) // of show dbs
	const golden = "mongosh/repl.golden"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the session shows\n%s\nnot (after a change that is meant to be, run the test with -update)\n%s", got, want)
	}
}
