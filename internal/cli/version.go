package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"mrbench/internal/report"
)

// Version is mrbench's version as the Go tool recorded it: a release's tag, or the revision it was built from.
func Version() string {
	v, revision, dirty := buildInfo()
	if v != "" && v != "(devel)" {
		return v
	}
	if revision == "" {
		return "dev"
	}
	if dirty {
		revision += "-dirty"
	}
	return "dev-" + revision
}

func buildInfo() (version, revision string, dirty bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", false
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	return info.Main.Version, revision, dirty
}

type versionReport struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (a *app) newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Prints the version",
		Example: "  mrbench version\n  mrbench version -o json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.formats("version", formatTable, formatJSON); err != nil {
				return err
			}
			_, revision, _ := buildInfo()
			v := versionReport{Version(), revision, runtime.Version(), runtime.GOOS, runtime.GOARCH}
			if a.common.output == formatJSON {
				return report.JSON(a.env.Stdout, v)
			}
			_, err := a.env.Stdout.Write([]byte(strings.Join([]string{"mrbench", v.Version, v.Go, v.OS + "/" + v.Arch}, " ") + "\n"))
			return err
		},
	}
}
