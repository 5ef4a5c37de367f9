package cli

import "strings"

// style colours what a person reads on a terminal; when it is off, texts stay as they are.
type style bool

// styleOf is for a stream that is a terminal or not. --no-color, NO_COLOR with any value (no-color.org) and a dumb
// terminal switch colours off.
func (a *app) styleOf(terminal bool) style {
	return style(terminal && !a.common.noColor && a.env.getenv("NO_COLOR") == "" && !a.dumb())
}

func (s style) paint(code, text string) string {
	if !bool(s) || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) red(text string) string  { return s.paint("31", text) }
func (s style) cyan(text string) string { return s.paint("36", text) }

// dumb terminals can't move the cursor.
func (a *app) dumb() bool { return a.env.getenv("TERM") == "dumb" }

// bars says whether bars may be drawn on Stderr.
func (a *app) bars() bool { return a.env.StderrTerminal && !a.dumb() && !a.common.quiet }

// blocks says whether bars may stand beside the numbers on Stdout: block characters on a terminal that has them, and
// nothing elsewhere, where a program may read.
func (e Env) blocks() bool { return e.Columns != nil && e.Columns() > 0 && e.utf8Locale() }

// utf8Locale says whether the user's locale can show more than ASCII, in the order in which locales are looked up.
func (e Env) utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(e.getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
