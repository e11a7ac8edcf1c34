package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/repository"
)

// shardFlags adds the flags of commands that search shards.
func (a *app) shardFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&a.shards, "shard", nil, "search these shards: a `place`, which is a directory or the HOST:PORT of a worker --serve; may be repeated")
	a.indexShardsFlag(cmd)
}

func (a *app) indexShardsFlag(cmd *cobra.Command) {
	cmd.Flags().String("index-shards", fmt.Sprint(a.cfg.IndexShards), "`number` of shards of the index files of a shared store")
	setSettings(cmd.Flags(), map[string]string{"index-shards": "index_shards"})
}

// errNoShards says that there is no shard to search, errBothDivisions that index files are there
// twice, one of them old.
var (
	errNoShards      = errors.New("no shard of the index files was found")
	errBothDivisions = errors.New("one directory has undivided index files (shard-000…sqlite) and shards (NUMBER-of-NUMBER), and either may be old")
)

// usesShards reports whether the index is several index files.
func (a *app) usesShards() bool {
	if len(a.shards) > 0 || a.isShared() && a.cfg.IndexShards > 1 {
		return true
	}
	dir := repository.IndexDir(a.cfg.Data)
	return !index.Exists(dir) && len(shardDirs(dir)) > 0
}

// checkUndivided refuses undivided index files next to shards: one kind is old. A shared store
// tells whether it is the shards.
func (a *app) checkUndivided(ctx context.Context) error {
	dir := repository.IndexDir(a.cfg.Data)
	switch {
	case len(shardDirs(dir)) == 0 || !index.Exists(dir):
		return nil
	case !a.isShared():
		return fmt.Errorf("%w: %s", errBothDivisions, dir)
	}
	table, err := a.openTable(ctx)
	if err != nil {
		return err
	}
	return errors.Join(repository.CheckShards(ctx, table, 1), table.Close())
}
