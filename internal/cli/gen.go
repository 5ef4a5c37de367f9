package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) newGen() *cobra.Command {
	c := &cobra.Command{
		Annotations: map[string]string{exitAnnotation: offlineExits},
		Use:         "gen",
		Short:       "Writes manual pages",
		Long:        `gen writes files that go with an installed mrbench. Scripts for shells come from mrbench completion.`,
		Example:     "  mrbench gen man ~/.local/share/man/man1",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("gen writes man pages only: mrbench gen man DIR; there is no %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(&cobra.Command{
		Annotations: map[string]string{exitAnnotation: offlineExits},
		Use:         "man DIR",
		Short:       "Writes a manual page for each command",
		Long: `man writes a page for each command into the directory DIR, which is made when there is none: mrbench.1,
mrbench-run.1 and so on. Pages that are there already are replaced. Their date is that of the commit
mrbench was built from, or SOURCE_DATE_EPOCH, so that the same build writes the same pages.`,
		Example: `  mrbench gen man ~/.local/share/man/man1 && man mrbench-run`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("gen man takes one directory; %d arguments given", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.genMan(cmd.Root(), args[0]) },
	})
	return c
}

func (a *app) genMan(root *cobra.Command, dir string) error {
	path := a.env.path(dir)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("gen man: %w", err)
	}
	date := a.pageDate()
	n := 0
	for _, c := range allCommands(root) {
		if c.Name() == "help" {
			continue
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + "." + manSection
		if err := os.WriteFile(filepath.Join(path, name), []byte(manualOf(c).manPage(date, Version())), 0o644); err != nil {
			return fmt.Errorf("gen man: %w", err)
		}
		n++
	}
	a.tell("%d pages in %s", n, dir)
	return nil
}

// pageDate is the same for the same build.
func (a *app) pageDate() time.Time {
	if seconds, err := parseCount(a.env.getenv("SOURCE_DATE_EPOCH")); err == nil {
		return time.Unix(seconds, 0)
	}
	if t, err := time.Parse(time.RFC3339, readBuild().Date); err == nil {
		return t
	}
	return a.env.Now()
}

// allCommands is the command and all below it that can be called.
func allCommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			all = append(all, allCommands(sub)...)
		}
	}
	return all
}

// helpCommand is cobra's own, with what every command has.
func (a *app) helpCommand(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Short, c.Long = "Shows a command's manual", "help shows the manual of a command, as --help does."
			c.Example = "  mrbench help run"
		}
	}
}
