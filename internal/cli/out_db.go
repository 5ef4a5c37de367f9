package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/target"
)

func outDBFlag(c *cobra.Command, p *string) {
	c.Flags().StringVar(p, "out-db", "", "write outputs to collections of this `database`, mrbench_<run>_…, instead of databases of the run's own")
}

// checkOutDB refuses what is no name of a database that may be written to.
func checkOutDB(db string) error {
	switch {
	case db == "":
	case db == "admin" || db == "config" || db == "local":
		return usageError("--out-db %s: it belongs to the server", db)
	case strings.ContainsAny(db, "/\\. \"$*<>:|?\x00") || len(db) > 63:
		return usageError("--out-db %q: it is the name of a database", db)
	}
	return nil
}

// tuneCapabilities are the server's, with what one database for all outputs changes.
func tuneCapabilities(f *target.Facts, ns target.Namespace, outDB string) []target.Capability {
	caps := f.Capabilities(ns)
	for i := range caps {
		switch c := &caps[i]; {
		case c.Name == target.CapOutput:
			if why := lacksOutput(f, outDB); why != "" {
				c.State, c.Reason = target.Refused, why
			} else if outDB != "" {
				c.State, c.Reason = target.Works, "collections of "+outDB
			}
		case c.Name == target.CapDatabases && outDB != "":
			c.State, c.Reason = target.NoEffect, "--out-db keeps all outputs in one database"
		}
	}
	return caps
}
