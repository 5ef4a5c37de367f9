package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shells that scripts can be written for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:         "completion bash|zsh|fish|powershell",
		Short:       "Writes a script that makes a shell complete commands, flags and values",
		Annotations: map[string]string{exitAnnotation: offlineExits},
		Long: `completion writes a script for bash (4.1 or newer, with the package bash-completion), zsh, fish or
PowerShell to standard output. With it the shell completes commands, flags and their values: rows, strategies,
formats, saved results and files.`,
		Example: `  source <(mrbench completion bash)                                     for this session
  mrbench completion bash >~/.local/share/bash-completion/completions/mrbench
  mrbench completion zsh >"${fpath[1]}/_mrbench"                        with compinit in ~/.zshrc
  mrbench completion fish >~/.config/fish/completions/mrbench.fish
  mrbench completion powershell | Out-String | Invoke-Expression`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usageError("completion takes one of %s", strings.Join(shells, ", "))
			}
			return nil
		},
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeCompletion(cmd.Root(), a.env.Stdout, args[0])
		},
	}
}

func writeCompletion(root *cobra.Command, w io.Writer, shell string) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return fmt.Errorf("no completion for %s", shell)
}
