package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/webindexer/indexer/internal/config"
)

// flagReason describes what is wrong with a flag, in the same form as for settings.
func flagReason(cmd *cobra.Command, err error) string {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, unknown)
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err.Error()
	}
	want := ""
	switch invalid.GetFlag().Value.Type() {
	case "int", "int64":
		want = "a whole number"
	case "float64":
		want = "a number"
	case "uint64":
		want = "a whole number that is not negative"
	case "duration":
		want = "a time like 1m30s or 36h"
	case "bool":
		want = "true or false"
	default:
		return err.Error()
	}
	return fmt.Sprintf("flag --%s: %q is not allowed; want %s", invalid.GetFlag().Name, invalid.GetValue(), want)
}

// unknownFlag suggests a flag of the command. pflag reads a long flag with one dash as
// flags of one letter, so the whole word is compared in that case as well.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) string {
	word, dashes := e.GetSpecifiedName(), "--"
	if letters := e.GetSpecifiedShortnames(); letters != "" {
		word, dashes = letters, "-"
	}
	reason := "unknown flag " + dashes + word
	if word == "version" || !cmd.HasParent() && strings.EqualFold(word, "v") {
		return reason + "; to print the version, use `indexer version`"
	}
	word, _, _ = strings.Cut(word, "=")
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := config.Nearest(word, names); near != "" && len(word) > 1 {
		reason += "; did you mean --" + near + "?"
	} else if dashes == "--" && slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Flags().Lookup(word) != nil }) {
		reason += "; flags of a single command follow its name"
	}
	return reason
}
