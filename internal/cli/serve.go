package cli

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"mrbench/internal/target"
)

type serveOptions struct {
	port   int
	bind   string
	socket string
}

func (a *app) newServe() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve [--port N] [--bind ADDRESS] [--socket PATH]",
		Short: "Serves the embedded engine to mongosh and drivers",
		Long: `serve opens the embedded engine's data and accepts connections until it is interrupted, then closes
the data properly. It prints the connection string for mongosh and drivers. Other mrbench commands
on the same data directory join it.

Everybody who can connect can read and change the data, so it listens on this machine only:
addresses other than loopback ones are refused. A socket file is open to its owner alone.`,
		Example: `  mrbench serve --port 27018
  mongosh mongodb://127.0.0.1:27018/test
  mrbench serve --socket /tmp/mrbench.sock`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runServe(cmd.Context(), o) },
	}
	intFlag(c, &o.port, "port", 27018, 0, 65535, "port to listen on; 0 takes a free one")
	c.Flags().StringVar(&o.bind, "bind", "127.0.0.1", "loopback address to listen on")
	c.Flags().StringVar(&o.socket, "socket", "", "listen on a unix socket at this path instead")
	return c
}

func (a *app) runServe(ctx context.Context, o serveOptions) error {
	if err := a.formats("serve", formatTable, formatJSON); err != nil {
		return err
	}
	if a.common.uri != "" {
		return usageError("--uri: serve is for the embedded engine; a MongoDB server serves itself")
	}
	c := target.ServeConfig{Version: Version(), Network: "tcp", Address: net.JoinHostPort(o.bind, strconv.Itoa(o.port))}
	if o.socket != "" {
		c.Network, c.Address = "unix", a.env.path(o.socket)
	} else if !loopback(o.bind) {
		return usageError("--bind %q: only loopback addresses (127.0.0.1, ::1, localhost) are allowed, because there is no authentication yet and anyone who can connect could change the data", o.bind)
	}
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	c.DataDir = engineDir(dir)
	c.Ready = func(uri string) {
		if a.common.output == formatJSON {
			fmt.Fprintf(a.env.Stdout, "{\"uri\":%q}\n", uri)
		} else {
			fmt.Fprintf(a.env.Stdout, "%s\n", uri)
		}
		a.tell("embedded engine, data in %s; interrupt to stop", c.DataDir)
	}
	return target.Serve(ctx, c)
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
