package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/config"
)

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version of this program",
		Long:              long("Print the version, the commit it was built from, the Go version and the platform.", statusDone, statusUsage),
		Example:           examples("indexer version"),
		Args:              exactly(0, "no arguments"),
		PersistentPreRunE: a.configureVersion,
		RunE: func(*cobra.Command, []string) error {
			v := version()
			return printResult(a.stdout, a.cfg.Format, v, fmt.Sprintf("indexer %s\nrevision %s\n%s %s\n", v.Version, v.Revision, v.Go, v.Platform))
		},
	}
}

// configureVersion loads the settings, of which only the format matters here. A mistake in the
// file or in the environment must not hide the version.
func (a *app) configureVersion(cmd *cobra.Command, args []string) error {
	err := a.configure(cmd, args)
	mistake, ok := errors.AsType[*config.Error](err)
	if !ok || mistake.IsInFlag() {
		return err
	}
	a.cfg = config.Default()
	format := cmd.Flag("format")
	if format.Value.String() == "json" || !format.Changed && a.wantsJSON(cmd, nil) {
		a.cfg.Format = "json"
	}
	return nil
}

func version() versionInfo {
	v := versionInfo{Version: "unknown", Revision: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = build.Main.Version
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
