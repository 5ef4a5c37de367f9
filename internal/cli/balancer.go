package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/cluster"
	"mrbench/internal/target"
)

// kindBalancer is a line of the record: mrbench stopped a cluster's balancer. Run is who did, host and process.
const kindBalancer = "balancer"

// startTime bounds how long the balancer is tried to be started again after a command.
const startTime = 30 * time.Second

// stopBalancer stops the cluster's balancer when wanted and it is on. What it returns starts it again, also after an interrupt, and is to
// be called in any case. That it was stopped is recorded first, so that clean can start it after a crash.
func (a *app) stopBalancer(ctx context.Context, t *target.Target, wanted bool) (restore func(), err error) {
	nothing := func() {}
	if !wanted {
		return nothing, nil
	}
	b, err := cluster.BalancerOf(ctx, t.Client)
	switch {
	case err != nil:
		return nothing, err
	case b == nil:
		return nothing, usageError("--stop-balancer: %s is no mongos: only a sharded cluster has a balancer", where(t))
	case !b.Known:
		return nothing, withCode(exitFailed, "--stop-balancer: the user can't see the balancer; it needs the role clusterManager")
	case !b.Moves():
		a.tell("balancer is %s already; it stays so", b)
		return nothing, nil
	}
	dir, err := a.dataDir()
	if err != nil {
		return nothing, err
	}
	note := creation{Kind: kindBalancer, Name: kindBalancer, Server: t.Identity, Run: thisProcess(), Time: a.env.Now()}
	if err := createdIn(dir).add(note); err != nil {
		return nothing, err
	}
	restore = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
		defer cancel()
		if err := cluster.StartBalancer(ctx, t.Client); err != nil {
			a.insist("warning: the balancer is still stopped: %v; start it with mrbench clean, or sh.startBalancer() in mongosh", err)
			return
		}
		note.Dropped, note.Time = true, a.env.Now()
		if err := createdIn(dir).add(note); err != nil {
			a.insist("warning: %v", err)
		}
		a.tell("balancer is on again")
	}
	a.tell("balancer is stopped until this command ends")
	if err := cluster.StopBalancer(ctx, t.Client); err != nil {
		restore() // the server may have heard it
		if cluster.Refused(err) {
			return nothing, withCode(exitFailed, "--stop-balancer: %w; it needs the role clusterManager", err)
		}
		return nothing, fmt.Errorf("--stop-balancer: %w", err)
	}
	return restore, nil
}

func thisProcess() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return fmt.Sprintf("%s %d", host, os.Getpid())
}

// balancer starts the balancer again that a command which was killed had stopped.
func (c *cleaner) balancer(ctx context.Context) error {
	for _, k := range c.known {
		if k.Kind != kindBalancer {
			continue
		}
		var pid int
		host, number, _ := strings.Cut(k.Run, " ")
		_, _ = fmt.Sscan(number, &pid)
		if host == c.host && pid != os.Getpid() && alive(pid) {
			if err := c.done(kindBalancer, k.Name, false, fmt.Sprintf("stopped for process %d, which still goes on", pid)); err != nil {
				return err
			}
			continue
		}
		if !c.o.dryRun {
			if err := cluster.StartBalancer(ctx, c.t.Client); err != nil {
				return err
			}
		}
		if err := c.done(kindBalancer, k.Name, true, "stopped by mrbench, which was killed before it could start it again"); err != nil {
			return err
		}
	}
	return nil
}

// planBalancer adds to a dry run that the balancer is stopped first; starts says whether it is on, and started at the end.
func (a *app) planBalancer(ctx context.Context, t *target.Target, d *dryRun, wanted bool) (starts bool, err error) {
	if !wanted {
		return false, nil
	}
	b, err := cluster.BalancerOf(ctx, t.Client)
	if err != nil || b == nil {
		return false, firstError(err, usageError("--stop-balancer: %s is no mongos: only a sharded cluster has a balancer", where(t)))
	}
	if b.Moves() {
		d.command("admin", bson.D{{Key: "balancerStop", Value: 1}}, true, "")
	}
	return b.Moves(), nil
}

func (d *dryRun) startBalancer(starts bool) {
	if starts {
		d.command("admin", bson.D{{Key: "balancerStart", Value: 1}}, true, "also after a failure or Ctrl-C")
	}
}
