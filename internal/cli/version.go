package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mrbench/internal/report"
)

// Version is mrbench's version as the Go tool recorded it: a release's tag, or the commit it was built from.
func Version() string { return readBuild().Version }

// build is what the Go tool recorded of this program.
type build struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"`
	Date     string            `json:"commit_date,omitempty"` // RFC 3339
	Modified bool              `json:"modified"`              // built from files that are not committed
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Modules  map[string]string `json:"modules"` // path → version, of those that matter for what is measured
}

// shownModules are the parts that times and answers depend on.
var shownModules = []struct{ path, name string }{
	{"go.mongodb.org/mongo-driver", "MongoDB driver"},
	{"github.com/cockroachdb/pebble/v2", "pebble (storage of the embedded engine)"},
	{"github.com/dop251/goja", "goja (its JavaScript)"},
}

func readBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	b := build{Version: info.Main.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Modules: map[string]string{}}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		version := m.Version
		if m.Replace != nil {
			version = m.Replace.Version
		}
		for _, shown := range shownModules {
			if m.Path == shown.path {
				b.Modules[m.Path] = version
			}
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "dev"
		if b.Commit != "" {
			b.Version += "-" + b.Commit[:min(12, len(b.Commit))]
			if b.Modified {
				b.Version += "-dirty"
			}
		}
	}
	return b
}

// text is the first line for a person in a hurry, then the rest.
func (b build) text() string {
	text := fmt.Sprintf("mrbench %s %s %s\n", b.Version, b.Go, b.Platform)
	if b.Commit != "" {
		changed := ""
		if b.Modified {
			changed = ", changed since"
		}
		text += fmt.Sprintf("  commit %s of %s%s\n", b.Commit, b.Date, changed)
	}
	for _, m := range shownModules {
		if v := b.Modules[m.path]; v != "" {
			text += fmt.Sprintf("  %s %s\n", m.name, v)
		}
	}
	return text
}

func (a *app) newVersion() *cobra.Command {
	return &cobra.Command{
		Annotations: map[string]string{exitAnnotation: offlineExits},
		Use:         "version",
		Short:       "Prints the version and what it was built from",
		Long: `version prints mrbench's version, the Go version and platform it was built with, the commit, and
the versions of those parts that times and answers depend on.`,
		Example: "  mrbench version\n  mrbench version -o json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild()
			if a.common.output == formatJSON {
				return report.JSON(a.env.Stdout, b)
			}
			_, err := a.env.Stdout.Write([]byte(b.text()))
			return err
		},
	}
}
