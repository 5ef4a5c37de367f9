package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Output formats.
const (
	formatTable    = "table"
	formatJSON     = "json"
	formatCSV      = "csv"
	formatMarkdown = "markdown"
	formatGobench  = "gobench" // lines that benchstat reads
	formatHTML     = "html"    // a page
	formatMongosh  = "mongosh" // a pipeline
	formatGo       = "go"      // the same
)

var allFormats = []string{formatTable, formatJSON, formatCSV, formatMarkdown, formatGobench, formatHTML, formatMongosh, formatGo}

// formatsByCommand are those of commands that have other formats than the usual ones.
var formatsByCommand = map[string][]string{
	"run":       {formatTable, formatJSON, formatCSV, formatMarkdown, formatGobench},
	"compare":   {formatTable, formatJSON, formatCSV, formatMarkdown, formatGobench},
	"report":    {formatTable, formatJSON, formatCSV, formatMarkdown, formatGobench, formatHTML},
	"translate": {formatMongosh, formatJSON, formatGo},
	"clean":     {formatTable, formatJSON},
	"serve":     {formatTable, formatJSON},
	"version":   {formatTable, formatJSON},
}

func formatsOf(c *cobra.Command) []string {
	if f, ok := formatsByCommand[c.Name()]; ok {
		return f
	}
	return []string{formatTable, formatJSON, formatCSV, formatMarkdown}
}

// checkFormat refuses a format that the command does not write.
func (a *app) checkFormat(c *cobra.Command) error {
	if c.Name() == "translate" && !c.Flags().Changed("output") && a.common.output == formatTable {
		a.common.output = formatMongosh
	}
	return a.formats(c.Name(), formatsOf(c)...)
}

// formats refuses output formats that a command does not have.
func (a *app) formats(cmd string, allowed ...string) error {
	if slices.Contains(allowed, a.common.output) {
		return nil
	}
	hint := ""
	switch a.common.output {
	case formatHTML:
		hint = "; report makes a page of a saved result"
	case formatMongosh, formatGo:
		hint = "; translate writes pipelines"
	}
	return usageError("--output %s: %s writes %s%s", a.common.output, cmd, strings.Join(allowed, ", "), hint)
}

const outputUsage = "output `format`: "

// completeFormats offers a command's formats.
func completeFormats(root *cobra.Command) {
	_ = root.RegisterFlagCompletionFunc("output", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return formatsOf(c), cobra.ShellCompDirectiveNoFileComp
	})
}
