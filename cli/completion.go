package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const completionHelp = `
Print a script that completes indexer commands and flags in a shell: bash, fish,
powershell or zsh. bash needs the package bash-completion.

To load it into the current shell:

  source <(indexer completion bash)
  indexer completion fish | source

To load it into every new shell, write it where the shell looks for such scripts, for
example:

  indexer completion bash > ~/.local/share/bash-completion/completions/indexer
  indexer completion fish > ~/.config/fish/completions/indexer.fish
  indexer completion zsh  > "${fpath[1]}/_indexer"`

// completionScripts write the script for each shell.
var completionScripts = map[string]func(*cobra.Command, io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
	"zsh":        (*cobra.Command).GenZshCompletion,
}

// completionCommand replaces Cobra's own command, which has other error messages and exit
// statuses.
func completionCommand() *cobra.Command {
	shells := slices.Sorted(maps.Keys(completionScripts))
	return &cobra.Command{
		Use:       "completion SHELL",
		Short:     "Print a completion script for a shell",
		Long:      long(completionHelp, statusDone, statusUsage),
		Example:   examples("source <(indexer completion bash)"),
		ValidArgs: shells,
		Args:      exactly(1, "the name of a shell: "+strings.Join(shells, ", ")),
		// A mistake in the settings must not leave a new shell without completion.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			script, ok := completionScripts[args[0]]
			if !ok {
				return &usageError{reason: fmt.Sprintf("there is no completion for %q; want one of %s", args[0], strings.Join(shells, ", ")), help: "indexer completion"}
			}
			return script(cmd.Root(), cmd.OutOrStdout())
		},
	}
}

// completes reports whether cmd is the command that completion scripts call.
func completes(cmd *cobra.Command) bool {
	return cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd
}
