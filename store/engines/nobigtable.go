//go:build nobigtable

package engines

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/store"
)

func openBigtable(_ context.Context, setting string, _ []store.GroupSpec, _ Options) (store.Table, error) {
	return nil, &store.SettingError{Err: fmt.Errorf("store %s: this program was built without Bigtable: build it without the tag nobigtable", setting)}
}
