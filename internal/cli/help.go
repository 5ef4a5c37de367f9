package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exitStatus is the part of every command's help that says how it ends. Commands add theirs as an annotation.
const (
	exitAnnotation = "exit"
	commonExits    = `  0  done
  1  failed
  2  wrong flag, argument or setting
  4  server not reachable
  130, 143  interrupted (SIGINT, SIGTERM)`
)

// help writes a command's manual.
func (a *app) help(c *cobra.Command, _ []string) {
	var b strings.Builder
	text := c.Long
	if text == "" {
		text = c.Short
	}
	fmt.Fprintf(&b, "%s\n\nUSAGE\n  %s\n", strings.TrimSpace(text), c.UseLine())
	if c.HasAvailableSubCommands() {
		b.WriteString("\nCOMMANDS\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "  %-11s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\nEXAMPLES\n%s\n", c.Example)
	}
	width := min(a.env.columns(), 120)
	if c.HasAvailableLocalFlags() && c.HasParent() {
		fmt.Fprintf(&b, "\nFLAGS\n%s", c.LocalFlags().FlagUsagesWrapped(width))
	}
	common := c.InheritedFlags()
	if !c.HasParent() {
		common = c.PersistentFlags()
	}
	if common.HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFLAGS OF EVERY COMMAND\n%s", common.FlagUsagesWrapped(width))
	}
	exits := commonExits
	if own := c.Annotations[exitAnnotation]; own != "" {
		exits = own
	}
	fmt.Fprintf(&b, "\nEXIT STATUS\n%s\n", strings.TrimRight(exits, "\n"))
	// Help goes to Stdout; when that is closed there is nobody to tell.
	_, _ = c.OutOrStdout().Write([]byte(b.String()))
}
