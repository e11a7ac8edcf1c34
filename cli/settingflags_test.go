package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/webindexer/indexer/internal/config"
)

// TestSettingFlags: flags set existing settings, and the same name may mean another one in
// another command.
func TestSettingFlags(t *testing.T) {
	root := newApp(strings.NewReader(""), io.Discard, io.Discard).rootCommand()
	keys := config.Keys()
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if key := f.Annotations[settingKey]; len(key) > 0 && !slices.Contains(keys, key[0]) {
				t.Errorf("%s --%s sets %q, which is no setting", cmd.CommandPath(), f.Name, key)
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for line, want := range map[string]map[string]config.Flag{
		"crawl --per-host 2 --include a --include b": {"crawl.per_host": {Name: "per-host", Value: "2"}, "crawl.include": {Name: "include", Value: "a\nb"}},
		"serve --per-host 2 --listen :1":             {"crawl.per_host": {Name: "per-host", Value: "2"}, "serve.listen": {Name: "listen", Value: ":1"}},
		"query --per-host 2 --limit 3 --format json": {"query.per_host": {Name: "per-host", Value: "2"}, "query.limit": {Name: "limit", Value: "3"}, "format": {Name: "format", Value: "json"}},
		"export --format parquet --data d":           {"data": {Name: "data", Value: "d"}},
		"scan --limit 3":                             {},
		"oracle --listen :1":                         {},
	} {
		cmd, args, err := root.Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		got := givenSettings(cmd)
		if len(got) != len(want) {
			t.Errorf("%s: got %v, want %v", line, got, want)
		}
		for key, flag := range want {
			if got[key] != flag {
				t.Errorf("%s: %s is %v, want %v", line, key, got[key], flag)
			}
		}
	}
}
