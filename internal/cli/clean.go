package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/report"
	"mrbench/internal/target"
)

type cleanOptions struct {
	dryRun     bool
	data       bool
	otherHosts bool
	outDB      string
}

func (a *app) newClean() *cobra.Command {
	var o cleanOptions
	c := &cobra.Command{
		Use:   "clean [flags]",
		Short: "Drops exactly what mrbench created",
		Long: `clean drops output databases that earlier runs left behind (kept on purpose, or because they were
killed). A database is dropped only if its name is one that mrbench gives (mrbench_<run>_…) and it
also carries the mark of that run or is recorded in the data directory. Databases of a run that
still goes on are left alone. The same holds for collections that run --out-db left in a database.

Results of run --into are their owner's and stay. What lies beside them (RESULT.mrbench_…) is dropped when it is
recorded in the data directory and the result is complete; --data drops it in any case.

With --data, collections that mrbench seed or run --docs created are dropped as well, when they are
recorded in the data directory and still are the same collection (the same UUID).

A cluster's balancer that --stop-balancer stopped, and that a killed command did not start again, is started.`,
		Example: `  mrbench clean --dry-run
  mrbench clean --data`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runClean(cmd.Context(), o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "only show what would be dropped")
	f.BoolVar(&o.data, "data", false, "drop seeded collections too")
	f.BoolVar(&o.otherHosts, "other-hosts", false, "drop databases of runs on other machines too")
	f.StringVar(&o.outDB, "out-db", "", "look into this `database` for outputs of run --out-db, besides those that are recorded")
	return c
}

// cleaned is what became of one thing.
type cleaned struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Dropped bool   `json:"dropped"` // or would be, with --dry-run
	Reason  string `json:"reason"`
}

type cleanResult struct {
	DryRun bool      `json:"dry_run"`
	Items  []cleaned `json:"items"`
}

// cleaner looks at everything that could be mrbench's.
type cleaner struct {
	app    *app
	o      cleanOptions
	t      *target.Target
	record created
	known  []creation
	host   string
	items  []cleaned
}

func (a *app) runClean(ctx context.Context, o cleanOptions) (err error) {
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	t, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer finish(&err, t)
	c := &cleaner{app: a, o: o, t: t, record: createdIn(dir), items: []cleaned{}}
	if c.known, err = c.record.list(t.Identity); err != nil {
		return err
	}
	if c.host, err = os.Hostname(); err != nil {
		c.host = ""
	}
	err = c.databases(ctx)
	if err == nil {
		err = c.outputs(ctx)
	}
	if err == nil {
		err = c.balancer(ctx)
	}
	if err == nil {
		err = c.companions(ctx)
	}
	if err == nil && o.data {
		err = c.collections(ctx)
	}
	if perr := a.print(cleanResult{o.dryRun, c.items}, cleanTable(c.items, o.dryRun)); err == nil {
		err = perr
	}
	return err
}

func (c *cleaner) databases(ctx context.Context) error {
	names, err := c.t.Client.ListDatabaseNames(ctx, bson.D{})
	if refused := lackingRight(err); refused != "" {
		c.app.tell("databases of earlier runs can't be looked for: %s", refused)
		return nil
	}
	if err != nil {
		return fmt.Errorf("list databases: %w", err)
	}
	for _, name := range names {
		m := outputName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		drop, reason, err := c.judge(ctx, name, m[1])
		if err != nil {
			return err
		}
		if drop && !c.o.dryRun {
			if err := c.t.Client.Database(name).Drop(ctx); err != nil {
				return fmt.Errorf("drop database %s: %w", name, err)
			}
		}
		if err := c.done(kindDatabase, name, drop, reason); err != nil {
			return err
		}
	}
	// What is recorded and gone needs no record any more.
	for _, k := range c.known {
		if k.Kind == kindDatabase && !slices.Contains(names, k.Name) && !c.o.dryRun {
			k.Dropped, k.Time = true, c.app.env.Now()
			if err := c.record.add(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// judge says whether a database with a name of the run is ours to drop, and why.
func (c *cleaner) judge(ctx context.Context, name, run string) (drop bool, reason string, err error) {
	recorded := slices.ContainsFunc(c.known, func(k creation) bool { return k.Kind == kindDatabase && k.Name == name })
	o, err := readOwner(ctx, c.t.Client.Database(name))
	if err != nil {
		return false, "", err
	}
	drop, reason = c.verdict(o, recorded, run)
	return drop, reason, nil
}

// verdict is what an owner's mark and the record say together.
func (c *cleaner) verdict(o *owner, recorded bool, run string) (drop bool, reason string) {
	switch {
	case o == nil && recorded:
		return true, "recorded in the data directory"
	case o == nil:
		return false, "no mark of mrbench in it, and not recorded"
	case o.Run != run && !recorded:
		return false, "it carries another run's mark"
	case o.Host == c.host && o.PID != os.Getpid() && alive(o.PID):
		return false, fmt.Sprintf("its run still goes on: process %d", o.PID)
	case o.Host != c.host && !recorded && !c.o.otherHosts:
		return false, fmt.Sprintf("made on %s: --other-hosts drops it", o.Host)
	}
	return true, "made by mrbench, " + o.Created.Local().Format("2006-01-02 15:04")
}

// alive says whether a process of this machine exists.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}

// collections drops seeded collections that are still the ones that were recorded.
func (c *cleaner) collections(ctx context.Context) error {
	for _, k := range c.known {
		if k.Kind != kindCollection {
			continue
		}
		dbName, collName, ok := strings.Cut(k.Name, ".")
		if !ok {
			continue
		}
		db := c.t.Client.Database(dbName)
		uuid, exists, err := collectionUUID(ctx, db, collName)
		if err != nil {
			return err
		}
		drop, reason := false, ""
		switch {
		case !exists:
			if !c.o.dryRun {
				k.Dropped, k.Time = true, c.app.env.Now()
				if err := c.record.add(k); err != nil {
					return err
				}
			}
			continue
		case k.UUID == "" || uuid == "":
			reason = "no UUID proves that it is the seeded one"
		case uuid != k.UUID:
			reason = "not the seeded one: it has another UUID"
		default:
			drop, reason = true, "seeded by mrbench, "+k.Time.Local().Format("2006-01-02 15:04")
		}
		if drop && !c.o.dryRun {
			if err := db.Collection(collName).Drop(ctx); err != nil {
				return fmt.Errorf("drop %s: %w", k.Name, err)
			}
		}
		if err := c.done(kindCollection, k.Name, drop, reason); err != nil {
			return err
		}
	}
	return nil
}

// done notes what became of something, in the record too.
func (c *cleaner) done(kind, name string, dropped bool, reason string) error {
	c.items = append(c.items, cleaned{kind, name, dropped, reason})
	if !dropped || c.o.dryRun {
		return nil
	}
	return c.record.add(creation{Kind: kind, Name: name, Server: c.t.Identity, Time: c.app.env.Now(), Dropped: true})
}

func cleanTable(items []cleaned, dryRun bool) *report.Table {
	t := &report.Table{Columns: []report.Column{
		{Title: "what", Left: true, Drop: 1}, {Title: "name", Left: true}, {Title: "action", Left: true}, {Title: "why", Left: true},
	}}
	n := 0
	for _, i := range items {
		action := "kept"
		if i.Dropped {
			n++
			action = "dropped"
			if dryRun {
				action = "to drop"
			}
			if i.Kind == kindBalancer {
				action = "started"
				if dryRun {
					action = "would be started"
				}
			}
		}
		t.Add(report.Str(i.Kind), report.Str(i.Name), report.Str(action), report.Str(i.Reason))
	}
	switch {
	case len(items) == 0:
		t.Title = "nothing of mrbench's is left"
	case dryRun:
		t.Title = fmt.Sprintf("%d of %d would be dropped", n, len(items))
	default:
		t.Title = fmt.Sprintf("%d of %d dropped", n, len(items))
	}
	return t
}
