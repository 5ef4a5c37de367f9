package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/aggregate/translate"
	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/target"
	"mrbench/mr/jobfile"
	"mrbench/mr/jobfile/lint"
)

func (a *app) newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [flags] [JOB]",
		Short: "Says what the server is and which options have an effect on it",
		Long: `doctor asks a server what it is, and says for each option of mrbench whether it works there, is
refused, or is taken without an effect, with the reason; which split strategies can be used; and what newer
versions of MongoDB change for mapReduce jobs. Of a sharded cluster it shows shards, chunks, the balancer,
running migrations and, by an estimate, orphans.

It changes nothing on the server. What depends on a collection is asked for that of --ns, or of the job.
With a job, in a file or folder as run --job takes it, doctor says what newer versions change for this
job, whether a pipeline can replace it, and what is wrong with the job itself.`,
		Example: `  mrbench doctor
  mrbench doctor --uri mongodb://localhost --ns shop.orders
  mrbench doctor --uri mongodb://localhost totals.js
  mrbench doctor --uri mongodb://localhost -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("doctor takes one job; %q is one too many", args[1])
			}
			return nil
		},
		RunE: a.runDoctor,
	}
}

// diagnosis is what -o json prints.
type diagnosis struct {
	Server       bench.Server        `json:"server"`
	NS           string              `json:"ns"`
	Storage      string              `json:"storage_engine,omitempty"`
	User         string              `json:"user,omitempty"`
	Limits       diagnosisLimits     `json:"limits"`
	Capabilities []target.Capability `json:"capabilities"`
	Outlook      []target.Change     `json:"outlook"`
	Cluster      *clusterView        `json:"cluster,omitempty"`
	Job          *jobDiagnosis       `json:"job,omitempty"`
}

// jobDiagnosis is what is to be said of a job.
type jobDiagnosis struct {
	File     string   `json:"file"`
	Pipeline bool     `json:"pipeline"` // one can replace it
	Needs    string   `json:"needs,omitempty"`
	Caveats  int      `json:"caveats,omitempty"`
	Refusal  string   `json:"refusal,omitempty"`
	Lint     []string `json:"lint,omitempty"`
}

type diagnosisLimits struct {
	Document int64 `json:"document_bytes"`
	Message  int64 `json:"message_bytes"`
	Batch    int64 `json:"batch_documents"`
}

func (a *app) runDoctor(cmd *cobra.Command, args []string) (err error) {
	ctx := cmd.Context()
	var job *jobfile.Job
	if len(args) > 0 {
		if job, err = a.readJob(args[0]); err != nil {
			return usageError("%w", err)
		}
		if a.common.ns, err = a.jobNamespace(cmd, job); err != nil {
			return usageError("%w", err)
		}
	}
	t, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer finish(&err, t)
	f, err := t.Ask(ctx, a.common.ns)
	if err != nil {
		return a.explain(err, t)
	}
	d := diagnosis{
		Server: serverOf(t), NS: a.common.ns.String(), Storage: f.Storage, User: f.User,
		Limits:       diagnosisLimits{f.Document, f.Message, f.Batch},
		Capabilities: f.Capabilities(a.common.ns), Outlook: f.Outlook(),
	}
	tables := []*report.Table{capabilityTable(d)}
	if d.Cluster, err = a.viewCluster(ctx, t, countLimited); err != nil {
		return a.explain(err, t)
	}
	if d.Cluster != nil {
		d.Cluster.settleChunks(d.Capabilities, a.common.key)
		tables = append(tables, d.Cluster.table())
	}
	if job != nil {
		d.Outlook = slices.DeleteFunc(d.Outlook, func(c target.Change) bool {
			return c.JSMode && !job.JSMode || c.Sharded && !job.Out.Sharded || c.Atomic && (job.Out.NonAtomic || job.Out.Mode != jobfile.Merge && job.Out.Mode != jobfile.Reduce)
		})
		if d.Job, err = diagnose(ctx, job); err != nil {
			return err
		}
	}
	tables = append(tables, outlookTable(d))
	if d.Job != nil {
		tables = append(tables, jobTable(d.Job))
	}
	return a.print(d, tables...)
}

// settleChunks says what the cluster's metadata tell of splitting by chunks of a key.
func (v *clusterView) settleChunks(list []target.Capability, key string) {
	i := slices.IndexFunc(list, func(c target.Capability) bool { return c.Name == target.CapChunks })
	switch {
	case i < 0:
	case v.Unseen != "" && v.ShardKey == "":
		list[i].State, list[i].Reason = target.Uncertain, "it is not known "+v.Unseen
	case v.ShardKey == "":
		list[i].State, list[i].Reason = target.Refused, v.NS+" is not sharded"
	case strings.HasPrefix(v.ShardKey, "{"+key+`: "`):
		list[i].State, list[i].Reason = target.Refused, "the shard key "+v.ShardKey+" is hashed: chunks are ranges of hashes, not of values"
	case !strings.HasPrefix(v.ShardKey, "{"+key+": "):
		list[i].State, list[i].Reason = target.Refused, "the shard key "+v.ShardKey+" does not start with "+key
	default:
		list[i].Reason = "by the shard key " + v.ShardKey
	}
}

// diagnose finds out whether a pipeline can replace a job, and what is wrong with it.
func diagnose(ctx context.Context, j *jobfile.Job) (*jobDiagnosis, error) {
	d := &jobDiagnosis{File: j.File}
	r, err := translate.Translate(j, translate.Options{})
	if refusal, refused := errors.AsType[*translate.Refusal](err); refused {
		d.Refusal = refusal.Error()
	} else if err != nil {
		return nil, usageError("%w", err)
	} else {
		d.Pipeline, d.Needs, d.Caveats = true, r.MinVersion, len(r.Caveats)
	}
	findings, err := lint.Check(ctx, j, nil)
	if err != nil {
		return nil, fmt.Errorf("job %s could not be tried: %w", j.File, err)
	}
	for _, f := range findings {
		d.Lint = append(d.Lint, fmt.Sprint(f))
	}
	return d, nil
}

func capabilityTable(d diagnosis) *report.Table {
	what := "MongoDB " + d.Server.Version
	if d.Server.Kind == target.Embedded {
		what = "embedded engine " + d.Server.Version
	}
	parts := []string{what}
	if d.Server.Topology != d.Server.Kind {
		parts = append(parts, d.Server.Topology)
	}
	if d.Server.Throwaway {
		parts = append(parts, "throw-away")
	}
	if d.Storage != "" {
		parts = append(parts, d.Storage)
	}
	if d.User != "" {
		parts = append(parts, "as "+d.User)
	}
	t := &report.Table{
		Title:   strings.Join(parts, ", ") + "; for " + d.NS,
		Columns: []report.Column{{Title: "option", Left: true}, {Title: "here", Left: true}, {Title: "why", Left: true, Fold: true}},
	}
	for _, c := range d.Capabilities {
		t.Add(report.Str(c.Name), report.Str(string(c.State)), report.Str(c.Reason))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("a document holds %s, a message %s, a batch %s documents at most",
		report.Bytes(d.Limits.Document).Text, report.Bytes(d.Limits.Message).Text, report.Thousands(d.Limits.Batch)),
		"what mrbench runs here is found by db.currentOp({appName: /^mrbench/}) and stopped by db.killOp(opid): see docs/production.md")
	return t
}

func outlookTable(d diagnosis) *report.Table {
	what := "mapReduce jobs"
	if d.Job != nil {
		what = d.Job.File
	}
	t := &report.Table{
		Title:   "what newer versions change for " + what,
		Columns: []report.Column{{Title: "version", Left: true}, {Title: "change", Left: true, Fold: true}},
	}
	for _, c := range d.Outlook {
		t.Add(report.Str(c.Version), report.Str(c.What))
	}
	if len(d.Outlook) == 0 {
		t.Notes = append(t.Notes, "nothing that is known: this is the newest version there are facts about")
	}
	return t
}

func jobTable(d *jobDiagnosis) *report.Table {
	t := &report.Table{
		Title:   "job " + d.File,
		Columns: []report.Column{{Title: "question", Left: true}, {Title: "answer", Left: true, Fold: true}},
	}
	if d.Pipeline {
		text := fmt.Sprintf("yes, on MongoDB %s or later: mrbench translate %s", d.Needs, shellWord(d.File))
		if d.Caveats > 0 {
			text += fmt.Sprintf(" (it says where the meaning may differ: %d caveats)", d.Caveats)
		}
		t.Add(report.Str("can a pipeline replace it?"), report.Str(text))
	} else {
		t.Add(report.Str("can a pipeline replace it?"), report.Str("no: "+d.Refusal))
	}
	for _, l := range d.Lint {
		t.Add(report.Str("is it right?"), report.Str(l))
	}
	if len(d.Lint) == 0 {
		t.Add(report.Str("is it right?"), report.Str("nothing wrong was found on made-up values: reduce gives the same for any order and grouping"))
	}
	return t
}
