package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// help writes a command's manual.
func (a *app) help(c *cobra.Command, _ []string) {
	// Help goes to Stdout; when that is closed there is nobody to tell.
	_, _ = c.OutOrStdout().Write([]byte(manualOf(c).text(min(a.env.columns(), 100))))
}

// text is the manual in lines of at most width characters, as far as examples and names allow.
func (m manual) text(width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUSAGE\n%s\n", reflow(m.long, width), hang("  ", m.use, width, 4))
	if len(m.commands) > 0 {
		b.WriteString("\nCOMMANDS\n")
		entries(&b, m.commands, width)
	}
	if len(m.examples) > 0 {
		b.WriteString("\nEXAMPLES\n")
		for _, line := range m.examples {
			b.WriteString(example(line, width))
		}
	}
	for _, g := range m.flags {
		fmt.Fprintf(&b, "\n%s\n%s", g.title, g.flags.FlagUsagesWrapped(width))
	}
	b.WriteString("\nEXIT STATUS\n")
	entries(&b, m.exits, width)
	return b.String()
}

// entries writes names with their texts beside them.
func entries(b *strings.Builder, list []entry, width int) {
	longest := 0
	for _, e := range list {
		longest = max(longest, len(e.name))
	}
	for _, e := range list {
		b.WriteString(hang(fmt.Sprintf("  %-*s  ", longest, e.name), e.text, width, longest+4) + "\n")
	}
}

// hang breaks text behind a first line's beginning; the other lines are indented.
func hang(first, text string, width, indent int) string {
	lines := strings.ReplaceAll(reflow(text, max(20, width-max(indent, len(first)))), "\n", "\n"+strings.Repeat(" ", indent))
	return first + lines
}

// example shows a command line; one that is too long goes on in the next line, as a shell takes it.
func example(line string, width int) string {
	command, remark := line, ""
	if i := strings.Index(line, "  "); i > 0 { // what stands apart is a remark
		command, remark = line[:i], strings.TrimLeft(strings.TrimSpace(line[i:]), "# ")
	}
	if utf8.RuneCountInString(line)+2 <= width {
		return "  " + line + "\n"
	}
	// A flag and its value stay together.
	const glue = "\x00"
	words := strings.Fields(command)
	for i := 1; i < len(words); i++ {
		if strings.HasPrefix(words[i-1], "-") && !strings.HasPrefix(words[i], "-") {
			words[i] = words[i-1] + glue + words[i]
			words[i-1] = ""
		}
	}
	lines := strings.Split(strings.ReplaceAll(reflow(strings.Join(words, " "), width-6), glue, " "), "\n")
	text := "  " + strings.Join(lines, " \\\n    ") + "\n"
	if remark != "" {
		text = "  # " + remark + "\n" + text
	}
	return text
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
