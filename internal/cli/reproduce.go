package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mrbench/internal/bench"
)

// notReproduced are options that are of no importance to what was measured.
var notReproduced = []string{"save", "output", "keep", "quiet", "no-color", "timeout"}

// reproduce is the command that makes such a result again: the options that differ from the defaults, quoted for a shell. Options
// that this version does not know are left out; "" when the result names none.
func (a *app) reproduce(r *bench.Result) string {
	if len(r.Context.Options) == 0 {
		return ""
	}
	fresh := &app{env: a.env, v: newViper()}
	run, _, err := fresh.newRoot().Find([]string{"run"})
	if err != nil {
		return ""
	}
	words := []string{"mrbench", "run"}
	add := func(f *pflag.Flag) {
		v, ok := r.Context.Options[f.Name]
		text := fmt.Sprint(v)
		if !ok || text == f.DefValue || slices.Contains(notReproduced, f.Name) || f.Hidden {
			return
		}
		switch {
		case f.NoOptDefVal == text:
			words = append(words, "--"+f.Name)
		case f.NoOptDefVal != "":
			words = append(words, "--"+f.Name+"="+shellWord(text))
		default:
			words = append(words, "--"+f.Name, shellWord(text))
		}
	}
	run.LocalNonPersistentFlags().VisitAll(add)
	run.InheritedFlags().VisitAll(add)
	return strings.Join(words, " ")
}

// shellWord quotes a word where a shell needs it.
func shellWord(s string) string {
	plain := func(c rune) bool {
		return c < 128 && (c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.ContainsRune("-_./:,=@%+", c))
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
