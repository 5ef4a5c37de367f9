package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/target"
)

// value is a flag whose text is checked by parse and shown again by show.
type value[T any] struct {
	p     *T
	kind  string
	parse func(string) (T, error)
	show  func(T) string
}

func (v *value[T]) Set(s string) error {
	x, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.p = x
	return nil
}

func (v *value[T]) Type() string   { return v.kind }
func (v *value[T]) String() string { return v.show(*v.p) }

func same(s string) string { return s }

// enumFlag is one of the allowed words.
func enumFlag(c *cobra.Command, p *string, name, def string, allowed []string, usage string) {
	*p = def
	c.Flags().VarP(&value[string]{p, "word", func(s string) (string, error) {
		for _, a := range allowed {
			if strings.EqualFold(a, s) {
				return a, nil
			}
		}
		return "", fmt.Errorf("it is one of %s", strings.Join(allowed, ", "))
	}, same}, name, "", usage+": "+strings.Join(allowed, ", "))
	complete(c, name, allowed)
}

func complete(c *cobra.Command, name string, words []string) {
	// It fails only for a flag that does not exist, and the flag was just made.
	_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// countFlag is a number of documents: 1000000, 1_000_000, 1e6, 10M or 500k.
func countFlag(c *cobra.Command, p *int64, name string, def, least int64, usage string) {
	*p = def
	c.Flags().Var(&value[int64]{p, "count", func(s string) (int64, error) {
		n, err := parseCount(s)
		if err == nil && n < least {
			err = fmt.Errorf("it must be at least %d", least)
		}
		return n, err
	}, func(n int64) string { return strconv.FormatInt(n, 10) }}, name, usage)
}

func parseCount(s string) (int64, error) {
	bad := errors.New("it is a whole number such as 1000000, 1e6, 500k or 10M")
	text, factor := strings.ReplaceAll(s, "_", ""), 1.0
	if n := len(text); n > 1 {
		switch text[n-1] {
		case 'k', 'K':
			text, factor = text[:n-1], 1e3
		case 'm', 'M':
			text, factor = text[:n-1], 1e6
		case 'g', 'G':
			text, factor = text[:n-1], 1e9
		}
	}
	if factor == 1 {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
	}
	if strings.ContainsAny(text, "xXpPnN") { // no hexadecimal, no NaN, no Inf
		return 0, bad
	}
	f, err := strconv.ParseFloat(text, 64)
	f *= factor
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1e15 {
		return 0, bad
	}
	return int64(f), nil
}

// intFlag is a whole number within bounds.
func intFlag(c *cobra.Command, p *int, name string, def, least, most int, usage string) {
	*p = def
	c.Flags().Var(&value[int]{p, "int", func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("it is a whole number from %d to %d", least, most)
		}
		return n, nil
	}, strconv.Itoa}, name, usage)
}

// listFlag is a comma-separated list of different allowed words, in the order given.
func listFlag(c *cobra.Command, p *[]string, name string, allowed []string, usage string) {
	c.Flags().Var(&value[[]string]{p, "list", func(s string) ([]string, error) {
		var list []string
		for word := range strings.SplitSeq(s, ",") {
			word = strings.TrimSpace(word)
			if !slices.Contains(allowed, word) {
				return nil, fmt.Errorf("%q is none of %s", word, strings.Join(allowed, ", "))
			}
			if slices.Contains(list, word) {
				return nil, fmt.Errorf("%q is listed twice", word)
			}
			list = append(list, word)
		}
		return list, nil
	}, func(l []string) string { return strings.Join(l, ",") }}, name, usage)
	completeList(c, name, allowed)
}

func parseNamespace(s string) (target.Namespace, error) { return target.ParseNamespace(s) }

// parseKey accepts a field name or dotted path.
func parseKey(s string) (string, error) {
	if s == "" || strings.HasPrefix(s, "$") || slices.Contains(strings.Split(s, "."), "") || strings.ContainsRune(s, 0) {
		return "", errors.New("it is a field name or a dotted path, such as dim0 or address.city")
	}
	return s, nil
}

// fieldsFlag is a comma-separated list of different fields.
func fieldsFlag(c *cobra.Command, p *[]string, name, usage string) {
	c.Flags().Var(&value[[]string]{p, "fields", func(s string) ([]string, error) {
		var list []string
		for f := range strings.SplitSeq(s, ",") {
			f, err := parseKey(f)
			if err != nil {
				return nil, err
			}
			if slices.Contains(list, f) {
				return nil, fmt.Errorf("%q is listed twice", f)
			}
			list = append(list, f)
		}
		return list, nil
	}, func(l []string) string { return strings.Join(l, ",") }}, name, usage)
}

// parseConcern accepts what seed does.
func parseConcern(s string) (string, error) {
	w, journal, ok := strings.Cut(s, ",")
	if n, err := strconv.Atoi(w); err == nil {
		if n < 0 || n == 0 && ok {
			return "", errors.New("it is 0, 1, a number of members, majority, or j, or one of the last with ,j")
		}
	} else if w == "" {
		return "", errors.New("it is 0, 1, a number of members, majority, or j")
	}
	if ok && journal != "j" {
		return "", errors.New("only ,j can follow, as in majority,j")
	}
	return s, nil
}
