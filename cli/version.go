package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
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
		Use:     "version",
		Short:   "Print the version of this program",
		Long:    long("Print the version, the commit it was built from, the Go version and the platform.", statusDone),
		Example: examples("indexer version"),
		Args:    exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := version()
			return printResult(a.stdout, a.cfg.Format, v, fmt.Sprintf("indexer %s\nrevision %s\n%s %s\n", v.Version, v.Revision, v.Go, v.Platform))
		},
	}
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
