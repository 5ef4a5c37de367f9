package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrbench/internal/bench"
)

// mostResults is how many saved results are offered, the newest first.
const mostResults = 20

// completeRest gives every flag and every command's arguments that nobody has given values to what suits them: a flag
// whose value is called a file or a directory gets those, any other nothing, rather than names of files that are
// none of its business.
func (a *app) completeRest(root *cobra.Command) {
	for _, c := range allCommands(root) {
		for _, flags := range []*pflag.FlagSet{c.LocalNonPersistentFlags(), c.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) { completeFlag(c, f) })
		}
		if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 && !takesArguments(c) {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		if c.ValidArgsFunction == nil && strings.Contains(c.Use, "RESULT") {
			c.ValidArgsFunction = a.completeResults
		}
	}
}

func completeFlag(c *cobra.Command, f *pflag.Flag) {
	if _, has := c.GetFlagCompletionFunc(f.Name); has || f.Value.Type() == "bool" {
		return
	}
	kind, _ := pflag.UnquoteUsage(f)
	answer := cobra.ShellCompDirectiveNoFileComp
	switch kind {
	case "file", "files", "path":
		answer = cobra.ShellCompDirectiveDefault
	case "directory":
		answer = cobra.ShellCompDirectiveFilterDirs
	}
	_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, answer))
}

// takesArguments reads a command's use: arguments are in capitals there.
func takesArguments(c *cobra.Command) bool {
	rest := strings.TrimPrefix(c.Use, c.Name())
	return strings.ContainsAny(strings.ReplaceAll(rest, "[flags]", ""), "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// completeList offers words for a list with commas: those that are not in it yet.
func completeList(c *cobra.Command, name string, words []string) {
	_ = c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		done, _ := beforeLast(typed, ",")
		var offers []string
		for _, w := range words {
			switch {
			case done == "":
				offers = append(offers, w)
			case !slices.Contains(strings.Split(done, ","), w):
				offers = append(offers, done+","+w)
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// completeSettings offers the words that = and values follow.
func completeSettings(c *cobra.Command, name string, settings []string) {
	offers := make([]string, len(settings))
	for i, s := range settings {
		offers[i] = s + "="
	}
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(offers, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

// completeResults offers the saved results of the data directory by their run's id, newest first, and files.
func (a *app) completeResults(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	_ = a.settings(cmd) // a broken setting is told when the command runs
	dir, err := a.dataDir()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	entries, err := os.ReadDir(resultsDir(dir))
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	offers := []string{latest + "\tthe newest result"}
	for _, e := range slices.Backward(entries) { // names sort by time
		id, isResult := strings.CutSuffix(e.Name(), ".ndjson")
		if !isResult || slices.Contains(args, id) {
			continue
		}
		if text := resultText(filepath.Join(resultsDir(dir), e.Name())); text != "" {
			offers = append(offers, id+"\t"+text)
		}
		if len(offers) > mostResults {
			break
		}
	}
	return offers, cobra.ShellCompDirectiveDefault
}

// resultText says what a saved result is, "" when it can't be read.
func resultText(path string) string {
	all, err := bench.Load(path)
	if err != nil {
		return ""
	}
	r := all[len(all)-1]
	var rows []string
	for _, row := range r.Rows {
		rows = append(rows, row.ID)
	}
	text := strings.Join(rows, ", ")
	if len(rows) > 3 {
		text = strings.Join(rows[:2], ", ") + ", …"
	}
	return r.Context.Started.Format("2006-01-02 15:04") + " " + r.Dataset.NS + ": " + text
}
