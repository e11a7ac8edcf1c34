package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/webindexer/indexer/internal/config"
)

// settingKey annotates a flag with the key of the setting that it sets. Flags with the same
// name may set other settings in other commands, or none.
const settingKey = "setting"

// setSettings makes flags set settings: keys maps their names to the keys of the settings.
func setSettings(flags *pflag.FlagSet, keys map[string]string) {
	for name, key := range keys {
		flags.Lookup(name).Annotations = map[string][]string{settingKey: {key}}
	}
}

// givenSettings returns the settings that the command line sets, by key. The items of a list
// become lines.
func givenSettings(cmd *cobra.Command) map[string]config.Flag {
	given := make(map[string]config.Flag)
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		value := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), "\n")
		}
		for _, key := range flag.Annotations[settingKey] {
			given[key] = config.Flag{Name: flag.Name, Value: value}
		}
	})
	return given
}

// pipelineFlags adds the flags of the commands that load. The values are strings here,
// because they are checked together with the other settings.
func (a *app) pipelineFlags(cmd *cobra.Command) {
	cmd.Flags().String("workers", strconv.Itoa(a.cfg.Workers), "`number` of loaders, and of observers, that run at the same time")
	cmd.Flags().String("commit", a.cfg.Commit, "`how` transactions commit: auto, one-phase or two-phase")
	cmd.Flags().String("rank-tolerance", strconv.FormatFloat(a.cfg.RankTolerance, 'g', -1, 64), "relative `error` that ranks may have; 0: keep that of the data directory")
	cmd.Flags().String("office", a.cfg.Office, "`whether` office documents are indexed from now on: on, off, or keep (no change)")
	cmd.Flags().String("pdf", a.cfg.PDF, "`whether` PDF documents are indexed from now on: on, off, or keep (no change)")
	cmd.Flags().String("render", a.cfg.Render, "`which` pages are rendered in a browser from now on: off, auto (those built by scripts), all, or keep (no change)")
	cmd.Flags().Bool("sync", a.cfg.Sync, "flush writes, so that they survive power loss (slower)")
	setSettings(cmd.Flags(), map[string]string{
		"workers": "workers", "commit": "commit", "rank-tolerance": "rank_tolerance", "office": "office", "pdf": "pdf", "render": "render", "sync": "sync",
	})
}
