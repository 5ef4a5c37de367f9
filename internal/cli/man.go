package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// manSection is where programs of users are in a manual.
const manSection = "1"

// manPage is a command's manual in the man(7) language.
func (m manual) manPage(date time.Time, version string) string {
	var b strings.Builder
	name := strings.ReplaceAll(m.path, " ", "-")
	fmt.Fprintf(&b, ".TH %s %s %s %s %s\n", quoted(strings.ToUpper(name)), manSection, quoted(date.UTC().Format(time.DateOnly)),
		quoted("mrbench "+version), quoted("mrbench manual"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escaped(name), escaped(lowerFirst(m.short)))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", escaped(m.path))
	if rest := strings.TrimSpace(strings.TrimPrefix(m.use, m.path)); rest != "" {
		b.WriteString(line(rest))
	}
	b.WriteString(".SH DESCRIPTION\n")
	for i, p := range strings.Split(strings.TrimSpace(m.long), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		b.WriteString(line(strings.Join(strings.Fields(p), " ")))
	}
	if len(m.commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
		tagged(&b, m.commands)
	}
	for _, g := range m.flags {
		title := g.title
		if title == ownFlags {
			title = "OPTIONS"
		}
		fmt.Fprintf(&b, ".SH %s\n", quoted(title))
		g.flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				b.WriteString(manOption(f))
			}
		})
	}
	if len(m.examples) > 0 {
		b.WriteString(".SH EXAMPLES\n.nf\n")
		for _, l := range m.examples {
			b.WriteString(line(l))
		}
		b.WriteString(".fi\n")
	}
	b.WriteString(".SH EXIT STATUS\n")
	tagged(&b, m.exits)
	if parent, found := beforeLast(m.path, " "); found {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (%s)\n", escaped(strings.ReplaceAll(parent, " ", "-")), manSection)
	} else if len(m.commands) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		var pages []string
		for _, e := range m.commands {
			if e.name != "help" {
				pages = append(pages, fmt.Sprintf(".BR %s (%s)", escaped(name+"-"+e.name), manSection))
			}
		}
		b.WriteString(strings.Join(pages, ",\n") + "\n")
	}
	return b.String()
}

// manOption is a flag with its value, its default and what it does.
func manOption(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	tag := "\\fB" + escaped("--"+f.Name) + "\\fR"
	if f.Shorthand != "" {
		tag = "\\fB" + escaped("-"+f.Shorthand) + "\\fR, " + tag
	}
	if value != "" {
		tag += " \\fI" + escaped(value) + "\\fR"
	}
	if shown := f.DefValue; shown != "" && shown != "0" && shown != "false" && shown != "[]" && shown != "0s" && !strings.Contains(usage, "(default") {
		usage += " (default " + shown + ")"
	}
	return ".TP\n" + tag + "\n" + line(usage)
}

func tagged(b *strings.Builder, list []entry) {
	for _, e := range list {
		b.WriteString(".TP\n.B " + escaped(e.name) + "\n" + line(e.text))
	}
}

// line is a line of text: it must not look like a request.
func line(s string) string {
	s = escaped(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s + "\n"
}

// escaped keeps troff from reading anything into a text: backslashes, and the characters that it would typeset.
var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", `...`, "×", `\(mu`, "±", `\(+-`)

func escaped(s string) string { return escapes.Replace(s) }

// quoted is an argument of a request.
func quoted(s string) string { return `"` + strings.ReplaceAll(escaped(s), `"`, `\(dq`) + `"` }

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// beforeLast is what stands before the last sep; found says whether there is one.
func beforeLast(s, sep string) (before string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", false
	}
	return s[:i], true
}
