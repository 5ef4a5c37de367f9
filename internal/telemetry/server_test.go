package telemetry_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/bench"
	"mrbench/internal/target"
	"mrbench/internal/telemetry"
)

// observeOnce opens a sampler on a server, works a little, and returns what was observed.
func observeOnce(t *testing.T, c target.Config) (*bench.Telemetry, *bench.Usage, *bench.Series) {
	t.Helper()
	server, err := target.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	observer, err := server.Observer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Disconnect(context.Background())
	s := telemetry.Open(t.Context(), telemetry.Config{Client: observer, Bytes: server.Bytes})
	span := s.Start(t.Context())
	for i := range 10 {
		if _, err := server.Client.Database("test").Collection("c").InsertOne(t.Context(), bson.D{{Key: "i", Value: i}, {Key: "x", Value: strings.Repeat("x", 10_000)}}); err != nil {
			t.Fatal(err)
		}
	}
	usage, series := span.End()
	if s.Trouble() != "" {
		t.Error(s.Trouble())
	}
	return s.Telemetry(), usage, series
}

// The embedded engine says what is needed, and is known to be this process.
func TestEmbeddedEngine(t *testing.T) {
	head, usage, series := observeOnce(t, target.Config{DataDir: t.TempDir()})
	if head.Server != bench.SameProcess {
		t.Errorf("the engine is thought to be %s: %q", head.Server, head.Notes)
	}
	if usage.SentBytes == nil || *usage.SentBytes < 100_000 || usage.ServerCPUSeconds != nil || usage.ServerPeakBytes != nil {
		t.Errorf("%+v", usage)
	}
	sum := func(rates []float64) (n float64) {
		before := 0.0
		for i, r := range rates {
			n += r * (series.At[i] - before)
			before = series.At[i]
		}
		return n
	}
	// Times are rounded to milliseconds, and so are amounts made of them.
	if n := sum(series.Inserts); len(series.Inserts) != len(series.At) || n < 5 || n > 20 {
		t.Errorf("10 inserts were counted as %.1f: %+v", n, series)
	}
}

// A user who may not ask serverStatus still gets what this host and the connections say, and the reason.
func TestUserWithoutTheRight(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	root := target.Login{User: "root", Password: "secret"}
	go func() {
		done <- target.Serve(ctx, target.ServeConfig{
			DataDir: t.TempDir(), Network: "tcp", Address: "127.0.0.1:0", Auth: true, Login: root,
			Ready: func(s target.Serving) { ready <- s.URI },
		})
	}()
	defer func() { cancel(); <-done }()
	var uri string
	select {
	case uri = <-ready:
	case err := <-done:
		done <- err
		t.Fatal(err)
	case <-time.After(time.Minute):
		t.Fatal("the server does not start")
	}
	as := func(user, password string) string {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		u.User, u.Path = url.UserPassword(user, password), "/"
		return u.String()
	}
	admin, err := target.Open(t.Context(), target.Config{URI: as(root.User, root.Password)})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if err := admin.Client.Database("admin").RunCommand(t.Context(), bson.D{
		{Key: "createUser", Value: "app"}, {Key: "pwd", Value: "app"}, {Key: "roles", Value: bson.A{"readWriteAnyDatabase"}},
	}).Err(); err != nil {
		t.Fatal(err)
	}
	head, usage, series := observeOnce(t, target.Config{URI: as("app", "app")})
	if notes := strings.Join(head.Notes, "; "); !strings.Contains(notes, "refuses serverStatus") || !strings.Contains(notes, "code 13") || head.Server != bench.Unknown {
		t.Errorf("%+v", head)
	}
	if usage.SentBytes == nil || *usage.SentBytes < 100_000 || usage.ServerCPUSeconds != nil || series.Inserts != nil || series.SentBytes == nil {
		t.Errorf("%+v %+v", usage, series)
	}
	// One who may sees the process that serves; here it is the same as the test's.
	if head, _, series := observeOnce(t, target.Config{URI: as(root.User, root.Password)}); head.Server != bench.SameProcess || series.Inserts == nil {
		t.Errorf("%+v", head)
	}
}
