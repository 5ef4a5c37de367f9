package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

const (
	configName = "mrbench.yaml"
	envPrefix  = "MRBENCH_"
)

// notSettings are flags that a file or the environment can't set: what drops or indexes something, or runs a command (a
// mrbench.yaml may lie in a directory that somebody else wrote), is said on the command line each time.
var notSettings = []string{"help", "config", "drop", "dry-run", "data", "other-hosts", "create-index", "prepare", "mongod", "take", "into"}

// envName is the environment variable of a flag: data-dir is MRBENCH_DATA_DIR.
func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settings gives every flag of the command that was not on the command line its value from the environment or the
// configuration file, in this order. Values go through the flags themselves, so that all sources are checked alike.
func (a *app) settings(cmd *cobra.Command) error {
	file, err := a.readConfig(cmd)
	if err != nil {
		return err
	}
	fromEnv := map[string]any{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(notSettings, f.Name) || a.env.LookupEnv == nil {
			return
		}
		if s, ok := a.env.LookupEnv(envName(f.Name)); ok && s != "" {
			fromEnv[f.Name] = s
		}
	})
	if err := a.v.MergeConfigMap(fromEnv); err != nil {
		return usageError("settings: %w", err)
	}
	var bad error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if bad != nil || f.Changed || !a.v.InConfig(f.Name) || slices.Contains(notSettings, f.Name) {
			return
		}
		source := fmt.Sprintf("%s: %s", file, f.Name)
		if _, ok := fromEnv[f.Name]; ok {
			source = envName(f.Name)
		}
		text, err := settingText(a.v.Get(f.Name))
		if err == nil {
			err = f.Value.Set(text)
		}
		if err != nil {
			bad = usageError("%s %q: %w", source, text, plainNumberError(err, f))
		}
	})
	return bad
}

// settingText is a value of the file as it would be written on the command line.
func settingText(v any) (string, error) {
	switch v := v.(type) {
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			words[i] = fmt.Sprint(x)
		}
		return strings.Join(words, ","), nil
	case map[string]any:
		return fmt.Sprint(v), errors.New("it is a single value or a list")
	case nil:
		return "", errors.New("it has no value")
	case float64:
		return fmt.Sprintf("%.0f", v), nil
	default:
		return fmt.Sprint(v), nil
	}
}

// readConfig reads the configuration file: the one that --config or MRBENCH_CONFIG names, else mrbench.yaml in the
// working directory, else in the user's configuration directory. Keys that no command has a flag for are an error.
func (a *app) readConfig(cmd *cobra.Command) (file string, err error) {
	named := a.common.config
	if named == "" {
		named = a.env.getenv(envName("config"))
	}
	candidates := []string{configName}
	if named != "" {
		candidates = []string{named}
	} else if d := a.userConfigDir(); d != "" {
		candidates = append(candidates, filepath.Join(d, "mrbench", configName))
	}
	for _, file = range candidates {
		b, err := os.ReadFile(a.env.path(file))
		if errors.Is(err, fs.ErrNotExist) && named == "" {
			continue
		}
		if err != nil {
			return file, usageError("configuration: %w", err)
		}
		a.v.SetConfigType("yaml")
		if err := a.v.ReadConfig(bytes.NewReader(b)); err != nil {
			return file, usageError("configuration %s: %w", file, err)
		}
		return file, a.unknownKeys(cmd.Root(), file)
	}
	return "", nil
}

func (a *app) userConfigDir() string {
	if d := a.env.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		return d
	}
	if a.env.Home == "" {
		return ""
	}
	return filepath.Join(a.env.Home, ".config")
}

func (a *app) unknownKeys(root *cobra.Command, file string) error {
	known := settingNames(root)
	var unknown []string
	for k := range a.v.AllSettings() {
		if !slices.Contains(known, k) {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	hint := "known are " + strings.Join(known, ", ")
	if c := closest(unknown[0], known); c != "" {
		hint = "did you mean " + c + "?"
	}
	word := "key"
	if len(unknown) > 1 {
		word = "keys"
	}
	return usageError("configuration %s: unknown %s %s; %s", file, word, strings.Join(unknown, ", "), hint)
}

// settingNames are the flags of all commands that a configuration may set.
func settingNames(root *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) && !slices.Contains(notSettings, f.Name) {
			names = append(names, f.Name)
		}
	}
	root.PersistentFlags().VisitAll(add)
	for _, c := range root.Commands() {
		if c.Name() != "help" && c.Name() != "completion" {
			c.LocalNonPersistentFlags().VisitAll(add)
		}
	}
	slices.Sort(names)
	return names
}

func newViper() *viper.Viper { return viper.New() }
