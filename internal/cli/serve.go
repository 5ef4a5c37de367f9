package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrbench/internal/target"
)

type serveOptions struct {
	port   int
	bind   string
	socket string

	auth         bool
	user         string
	passwordFile string
}

func (a *app) newServe() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve [--port N] [--bind ADDRESS] [--socket PATH] [--auth [--user NAME] [--password-file FILE]]",
		Short: "Serves the embedded engine to mongosh and drivers",
		Long: `serve opens the embedded engine's data and accepts connections until it is interrupted, then closes
the data properly. It prints the connection string for mongosh and drivers. Other mrbench commands
on the same data directory join it.

Without --auth everybody who can connect can read and change the data, so it listens on this machine
only: addresses other than loopback ones are refused. A socket file is open to its owner alone.

With --auth clients have to log in, and may do what their roles allow; users are made with
createUser. There is always one: the user that --user names, with the password in --password-file,
or the first one, admin, with a password that is made up and shown once. Nothing is encrypted on the
way: over a network that others use, put it behind a tunnel. mrbench itself needs no password on a
data directory of one's own.`,
		Example: `  mrbench serve --port 27018
  mongosh mongodb://127.0.0.1:27018/test
  mrbench serve --socket /tmp/mrbench.sock
  mrbench serve --auth --bind 0.0.0.0 --user ann --password-file secret.txt`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runServe(cmd.Context(), cmd.Flags(), o) },
	}
	intFlag(c, &o.port, "port", 27018, 0, 65535, "port to listen on; 0 takes a free one")
	c.Flags().StringVar(&o.bind, "bind", "127.0.0.1", "`address` to listen on; with --auth other than loopback ones, too")
	c.Flags().StringVar(&o.socket, "socket", "", "listen on a unix socket at this `path` instead")
	c.Flags().BoolVar(&o.auth, "auth", false, "clients have to log in")
	c.Flags().StringVar(&o.user, "user", "", "with --auth: `name` of the user that there is to be, with the role root when it has to be made")
	c.Flags().StringVar(&o.passwordFile, "password-file", "", "`file` with the password of --user, which gets it if it has another one; - is the standard input")
	return c
}

func (a *app) runServe(ctx context.Context, flags *pflag.FlagSet, o serveOptions) error {
	if a.common.uri != "" {
		return usageError("--uri: serve is for the embedded engine; a MongoDB server serves itself")
	}
	c := target.ServeConfig{Version: Version(), Network: "tcp", Address: net.JoinHostPort(o.bind, strconv.Itoa(o.port))}
	if o.socket != "" {
		for _, other := range []string{"port", "bind"} {
			if flags.Changed(other) {
				return usageError("--socket and --%s exclude each other: it listens on one of them", other)
			}
		}
		c.Network, c.Address = "unix", a.env.path(o.socket)
	} else if !loopback(o.bind) && !o.auth {
		return usageError("--bind %q: only loopback addresses (127.0.0.1, ::1, localhost) are allowed without --auth, because anyone who can connect could change the data", o.bind)
	}
	var err error
	if c.Auth, c.Login, err = a.serveLogin(o); err != nil {
		return err
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	c.DataDir = engineDir(dir)
	var mu sync.Mutex
	c.Log = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		a.tell("%s "+format, append([]any{a.env.Now().UTC().Format(time.RFC3339)}, args...)...)
	}
	c.Ready = func(s target.Serving) {
		// Before the address, which is what a caller waits for.
		if o.auth && o.socket == "" && !loopback(o.bind) {
			a.tell("what goes over the network is not encrypted")
		}
		a.tell("embedded engine, data in %s; interrupt to stop", c.DataDir)
		a.tellServing(s)
	}
	return target.Serve(ctx, c)
}

// serveLogin reads what clients have to log in with.
func (a *app) serveLogin(o serveOptions) (on bool, l target.Login, err error) {
	switch {
	case !o.auth && o.user != "":
		return false, l, usageError("--user: nobody has to log in without --auth")
	case !o.auth && o.passwordFile != "":
		return false, l, usageError("--password-file: nobody has to log in without --auth")
	case o.user == "" && o.passwordFile != "":
		return false, l, usageError("--password-file: whose password? Say it with --user")
	}
	l.User = o.user
	if o.passwordFile == "" {
		return o.auth, l, nil
	}
	var b []byte
	if o.passwordFile == "-" {
		b, err = io.ReadAll(io.LimitReader(a.env.Stdin, maxPasswordFile+1))
	} else {
		b, err = os.ReadFile(a.env.path(o.passwordFile))
	}
	if err != nil {
		return false, l, usageError("--password-file: %w", err)
	}
	l.Password, _, _ = strings.Cut(string(b), "\n")
	l.Password = strings.TrimSuffix(l.Password, "\r")
	if l.Password == "" || len(b) > maxPasswordFile {
		return false, l, usageError("--password-file %s: the first line is the password, and the file has at most %d bytes", o.passwordFile, maxPasswordFile)
	}
	return true, l, nil
}

// maxPasswordFile keeps a file named by mistake from becoming a password.
const maxPasswordFile = 4096

// tellServing prints the connection string, and once the login of a user that was made.
func (a *app) tellServing(s target.Serving) {
	if a.common.output == formatJSON {
		v := struct {
			URI      string `json:"uri"`
			User     string `json:"user,omitempty"`
			Password string `json:"password,omitempty"`
		}{URI: s.URI}
		if s.Made != nil {
			v.User, v.Password = s.Made.User, s.Made.Password
		}
		b, err := json.Marshal(v)
		if err != nil { // texts alone
			b = []byte(err.Error())
		}
		fmt.Fprintf(a.env.Stdout, "%s\n", b)
		return
	}
	fmt.Fprintf(a.env.Stdout, "%s\n", s.URI)
	if s.Made != nil {
		a.insist("made the user %q (authentication database admin) with the password %s, which is not shown again", s.Made.User, s.Made.Password)
	}
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
