package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manual is what there is to say about a command. --help and the man pages are made of it.
type manual struct {
	path     string // as it is called: "mrbench gen man"
	use      string
	short    string
	long     string
	commands []entry
	examples []string // lines
	flags    []flagGroup
	exits    []entry
}

// entry is a name with what it means.
type entry struct{ name, text string }

// flagGroup is flags that belong together.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// exitStatus is the part of every command's help that says how it ends. Commands add theirs as an annotation.
const (
	exitAnnotation = "exit"
	commonExits    = `  0  done
  1  failed
  2  wrong flag, argument or setting
  4  server not reachable
  130, 143  interrupted (SIGINT, SIGTERM)`
	offlineExits = `  0  done
  1  failed
  2  wrong flag, argument or setting` // of commands that ask no server
)

// Titles of groups of flags that are not in flagGroups.
const (
	ownFlags    = "FLAGS"
	commonFlags = "FLAGS OF EVERY COMMAND"
)

func manualOf(c *cobra.Command) manual {
	m := manual{path: c.CommandPath(), use: c.UseLine(), short: c.Short, long: c.Long}
	if m.long == "" {
		m.long = m.short
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			m.commands = append(m.commands, entry{sub.Name(), sub.Short})
		}
	}
	for line := range strings.SplitSeq(strings.TrimRight(c.Example, "\n"), "\n") {
		m.examples = append(m.examples, strings.TrimPrefix(line, "  "))
	}
	if c.HasParent() {
		m.flags = groupsOf(c.Name(), c.LocalFlags())
	}
	c.InitDefaultHelpFlag()
	common := pflag.NewFlagSet("", pflag.ContinueOnError)
	common.AddFlagSet(c.InheritedFlags())
	common.AddFlagSet(c.PersistentFlags())
	if f := common.Lookup("output"); f != nil && c.HasParent() {
		own := *f
		own.Usage, own.DefValue = outputUsage+strings.Join(formatsOf(c), ", "), formatsOf(c)[0]
		common = withFlag(common, &own)
	}
	common.AddFlag(c.Flags().Lookup("help"))
	m.flags = append(m.flags, flagGroup{commonFlags, common})
	exits := c.Annotations[exitAnnotation]
	if exits == "" {
		exits = commonExits
	}
	for line := range strings.SplitSeq(strings.TrimSpace(exits), "\n") {
		code, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
		m.exits = append(m.exits, entry{code, strings.TrimSpace(text)})
	}
	return m
}

// groupsOf puts a command's flags into the groups that flagGroups has for them. What is in none comes first.
func groupsOf(command string, flags *pflag.FlagSet) []flagGroup {
	groups := []flagGroup{{ownFlags, pflag.NewFlagSet("", pflag.ContinueOnError)}}
	for _, g := range flagGroups[command] {
		groups = append(groups, flagGroup{g.title, pflag.NewFlagSet("", pflag.ContinueOnError)})
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" { // every command has it
			return
		}
		for i, g := range flagGroups[command] {
			for name := range strings.FieldsSeq(g.names) {
				if name == f.Name {
					groups[i+1].flags.AddFlag(f)
					return
				}
			}
		}
		groups[0].flags.AddFlag(f)
	})
	kept := groups[:0]
	for _, g := range groups {
		if g.flags.HasAvailableFlags() {
			kept = append(kept, g)
		}
	}
	return kept
}

// withFlag is a set with one flag in place of that of the same name.
func withFlag(set *pflag.FlagSet, own *pflag.Flag) *pflag.FlagSet {
	out := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Name == own.Name {
			f = own
		}
		out.AddFlag(f)
	})
	return out
}
