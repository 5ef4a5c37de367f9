package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/throwaway"
)

// privateFlags say which server to start for this command alone.
type privateFlags struct {
	mongod   string
	topology throwaway.Topology
}

// topologies are offered when a shell completes --topology; other numbers are taken too.
var topologies = []string{throwaway.Standalone, throwaway.ReplSet, throwaway.ReplSet + ":3", throwaway.Sharded + ":2"}

func (a *app) privateFlags(root *cobra.Command) {
	p := &a.common.private
	p.topology = throwaway.Topology{Kind: throwaway.Standalone, N: 1}
	f := root.PersistentFlags()
	f.StringVar(&p.mongod, "mongod", "", "start a server for this command alone, removed in the end: `path` of a mongod, or auto for the one on PATH")
	f.Var(&value[throwaway.Topology]{&p.topology, "word", throwaway.ParseTopology, throwaway.Topology.String}, "topology",
		"what --mongod starts, with the number of members or shards: "+strings.Join(topologies, ", "))
	complete(root, "topology", topologies)
}

// withoutServer are commands that a server of their own is of no use to, and why.
var withoutServer = map[string]string{
	"clean":      "what is made on a throw-away server is removed with it",
	"serve":      "serve is for the embedded engine; a MongoDB server serves itself",
	"compare":    "compare reads saved results and asks no server",
	"report":     "report reads saved results and asks no server",
	"version":    "version asks no server",
	"completion": "completion asks no server",
}

// checkPrivate refuses flags that contradict --mongod. A connection string from the settings gives way to it.
func (a *app) checkPrivate(cmd *cobra.Command) error {
	p := a.common.private
	if p.mongod == "" {
		if cmd.Flags().Changed("mongod") {
			return usageError("--mongod needs the path of a mongod, or auto for the one on PATH")
		}
		if cmd.Flags().Changed("topology") {
			return usageError("--topology %s: it is what --mongod starts; a server at --uri is what it is", p.topology)
		}
		return nil
	}
	if why, refused := withoutServer[cmd.Name()]; refused {
		return usageError("--mongod: %s", why)
	}
	if cmd.Flags().Changed("uri") {
		return usageError("--mongod starts a server and --uri names one that runs; use one of them")
	}
	a.common.uri = ""
	if sweep := cmd.Flags().Lookup("sweep"); cmd.Name() == "seed" && (sweep == nil || !sweep.Changed) {
		a.tell("the documents are removed with the server: mrbench run --docs N --mongod … fills and measures one server")
	}
	return nil
}

// startPrivate starts the server of --mongod, once, and gives its connection string and its name. Without the flag they are --uri
// and no name.
func (a *app) startPrivate(ctx context.Context, dataDir string) (uri, name string, err error) {
	p := a.common.private
	if p.mongod == "" {
		return a.common.uri, "", nil
	}
	if a.private == nil {
		path := p.mongod
		if path != throwaway.Auto {
			path = a.env.path(path)
		}
		var host bench.Context
		host.DescribeHost()
		a.private, err = throwaway.Start(ctx, throwaway.Config{
			Mongod: path, Topology: p.topology, StateDir: filepath.Join(dataDir, "throwaway"), Memory: host.MemoryBytes, Tell: a.tell,
			Died: func(died *throwaway.DiedError) { a.fail(died) },
		})
	}
	if _, ok := errors.AsType[*throwaway.BinaryError](err); ok {
		return "", "", usageError("--mongod: %w", err)
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", "", err
		}
		return "", "", withCode(exitUnreachable, "--mongod: %w", err)
	}
	return a.private.URI, a.private.Name(), nil
}

// diedMeanwhile makes the end of the server of --mongod the reason, where what it was used for failed of it.
func (a *app) diedMeanwhile(ctx context.Context, err error) error {
	if died, ok := errors.AsType[*throwaway.DiedError](context.Cause(ctx)); ok && err != nil {
		return withCode(exitFailed, "the server of --mongod died: %w", died)
	}
	return err
}

// stopPrivate stops and removes the server of --mongod.
func (a *app) stopPrivate() {
	if a.private == nil {
		return
	}
	if err := a.private.Stop(); err != nil {
		a.insist("%v; the next mrbench with --mongod tries again", err)
	}
}
