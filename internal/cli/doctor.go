package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/bench"
	"mrbench/internal/report"
	"mrbench/internal/target"
)

func (a *app) newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Says what the server is and which options have an effect on it",
		Long: `doctor asks a server what it is, and says for each option of mrbench whether it works there, is
refused, or is taken without an effect, with the reason; which split strategies can be used; and what newer
versions of MongoDB change for mapReduce jobs.

It changes nothing on the server. What depends on a collection is asked for that of --ns.`,
		Example: `  mrbench doctor
  mrbench doctor --uri mongodb://localhost --ns shop.orders
  mrbench doctor --uri mongodb://localhost -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runDoctor(cmd.Context()) },
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
}

type diagnosisLimits struct {
	Document int64 `json:"document_bytes"`
	Message  int64 `json:"message_bytes"`
	Batch    int64 `json:"batch_documents"`
}

func (a *app) runDoctor(ctx context.Context) (err error) {
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
	return a.print(d, capabilityTable(d), outlookTable(d))
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
		report.Bytes(d.Limits.Document).Text, report.Bytes(d.Limits.Message).Text, report.Thousands(d.Limits.Batch)))
	return t
}

func outlookTable(d diagnosis) *report.Table {
	t := &report.Table{
		Title:   "what newer versions change for mapReduce jobs",
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
