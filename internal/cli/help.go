package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

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
	width := min(a.env.columns(), 120)
	fmt.Fprintf(&b, "%s\n\nUSAGE\n  %s\n", reflow(text, min(width, 100)), c.UseLine())
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

// reflow breaks paragraphs, which an empty line separates, into lines of at most width characters.
func reflow(text string, width int) string {
	var paragraphs []string
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var b strings.Builder
		used := 0
		for _, word := range strings.Fields(p) {
			n := utf8.RuneCountInString(word)
			switch {
			case used == 0:
			case used+1+n > width:
				b.WriteByte('\n')
				used = 0
			default:
				b.WriteByte(' ')
				used++
			}
			b.WriteString(word)
			used += n
		}
		paragraphs = append(paragraphs, b.String())
	}
	return strings.Join(paragraphs, "\n\n")
}
