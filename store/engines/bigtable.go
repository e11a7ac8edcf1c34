//go:build !nobigtable

package engines

import (
	"context"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable"
)

func openBigtable(ctx context.Context, setting string, groups []store.GroupSpec, _ Options) (store.Table, error) {
	db, err := bigtable.Open(ctx, setting, groups, bigtable.Options{})
	if err != nil {
		return nil, err // not db, which would be an interface that is not nil
	}
	return db, nil
}
