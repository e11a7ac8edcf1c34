package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// long returns the help of a command: its description and its exit statuses.
func long(what string, statuses ...int) string {
	if slices.Contains(statuses, statusFailed) { // such a command can be interrupted, and the disk of its output can be full
		statuses = append(statuses, statusNoSpace, statusInterrupted)
		slices.Sort(statuses)
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(what))
	b.WriteString("\n\nExit status:\n")
	for _, s := range statuses {
		fmt.Fprintf(&b, "  %-4d %s\n", s, statusMeaning[s])
	}
	return strings.TrimRight(b.String(), "\n")
}

// examples indents the lines of an example.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }

// needsArgs and exactly check the number of arguments.
func needsArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &usageError{reason: cmd.CommandPath() + " needs " + what, help: cmd.CommandPath()}
		}
		return nil
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		if cmd.HasSubCommands() && len(args) > 0 {
			return &usageError{reason: noCommand(cmd, args[0]), help: cmd.CommandPath()}
		}
		verb := "needs"
		if n == 0 && !cmd.HasSubCommands() {
			verb = "takes"
		}
		return &usageError{reason: fmt.Sprintf("%s %s %s, but got %s", cmd.CommandPath(), verb, what, count(len(args), "argument")), help: cmd.CommandPath()}
	}
}

// helpCommand is `indexer help COMMAND`. For an unknown command, Cobra's own help command
// reports an unknown help topic and exits with status 0.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		Long:  "Print the help of a command, as --help does.",
		// A mistake in the settings must not prevent reading the help.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return &usageError{reason: noCommand(cmd.Root(), strings.Join(args, " ")), help: "indexer"}
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// defaultValue is how package pflag shows the default of a flag: texts in quotes, numbers not.
var defaultValue = regexp.MustCompile(`(?m) \(default "?([^"\n]+)"?\)$`)

// showDefaults makes the help show all defaults alike: "(default: 4)".
func showDefaults(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		var text bytes.Buffer
		cmd.SetOut(&text)
		defer cmd.SetOut(out)
		if err := usage(cmd); err != nil {
			return err
		}
		_, err := out.Write(defaultValue.ReplaceAll(text.Bytes(), []byte(" (default: $1)")))
		return err
	})
}

// noCommand says that parent has no such command, and suggests similar ones. Cobra considers
// every command similar to an empty word.
func noCommand(parent *cobra.Command, word string) string {
	if word == "" {
		return `"" is not a command`
	}
	reason := fmt.Sprintf("there is no command %q", word)
	if parent.HasParent() {
		reason = fmt.Sprintf("%s has no command %q", parent.CommandPath(), word)
	}
	parent.SuggestionsMinimumDistance = 2
	if near := parent.SuggestionsFor(word); len(near) > 0 {
		reason += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return reason
}
