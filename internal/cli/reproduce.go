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
	seed := seedCommand(r)
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
	return seed + strings.Join(words, " ")
}

// seedCommand is the command that makes the documents again, with the end of its line; "" when they are not from a generator whose
// few numbers say all.
func seedCommand(r *bench.Result) string {
	s := r.Dataset.Spec
	if s == nil || s.Generator != uniquesName || s.Digest != "" || r.Server.Throwaway { // run --docs does it there
		return ""
	}
	words := []string{"mrbench", "seed", "--docs", fmt.Sprint(s.Documents)}
	add := func(flag, value, otherwise string) {
		if value != otherwise && value != "" {
			words = append(words, flag, shellWord(value))
		}
	}
	add("--seed", fmt.Sprint(s.Seed), fmt.Sprint(seedDefaults.seed))
	if s.Keys != 0 {
		add("--keys", fmt.Sprint(s.Keys), fmt.Sprint(s.Documents/10))
	}
	add("--uri", option(r, "uri"), "")
	add("--ns", r.Dataset.NS, "test.uniques")
	add("--key", r.Dataset.Key, "dim0")
	add("--data-dir", option(r, "data-dir"), "")
	return strings.Join(words, " ") + "\n"
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
