package division

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/crawler/partition"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Listing says how the hosts are divided among crawlers.
type Listing struct {
	Crawlers map[string]State // by token; some may be dead
	Held     map[string]int   // how many partitions each of them holds; some tokens may have no State
	Free     int              // partitions without a holder
	Waiting  int              // hosts and files that their crawlers have not noticed yet
}

// List returns how a table has divided the hosts now. It needs no transaction, so it works while
// no oracle serves. A division that changes meanwhile may be seen half changed.
func List(ctx context.Context, table store.Reader) (*Listing, error) {
	l := &Listing{Crawlers: make(map[string]State), Held: make(map[string]int), Free: partition.Count}
	err := txn.EachCommitted(ctx, table, stateColumn, crawlerPrefix, func(row string, value []byte) error {
		var s State
		token := strings.TrimPrefix(row, crawlerPrefix)
		if err := json.Unmarshal(value, &s); err != nil {
			return fmt.Errorf("division: crawler %s: %w: %w", token, store.ErrCorrupt, err)
		}
		l.Crawlers[token] = s
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = txn.EachCommitted(ctx, table, holderColumn, partitionPrefix, func(_ string, value []byte) error {
		l.Held[string(value)]++
		l.Free--
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, prefix := range []string{hostPrefix, filePrefix} {
		err := txn.EachCommitted(ctx, table, message, prefix, func(string, []byte) error {
			l.Waiting++
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}
