package repository

import (
	"context"
	"fmt"
	"strconv"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// matchInterpreter makes sure that stored pages mean what this program makes of them. If
// another version, older or newer, interpreted them, it wakes the document observer at
// every URL. Then the observers change only what now has another meaning.
//
// Without this, a page would keep its old meaning until it is fetched again with another
// body, and verify, which interprets every body again, would report differences.
//
// The version is written after the last URL has been woken. After a crash before that,
// Open begins again, and waking a URL twice is harmless.
func (r *Repository) matchInterpreter(ctx context.Context) error {
	now := strconv.Itoa(page.InterpretVersion)
	known, err := r.fact(ctx, schema.Interpreted)
	if err != nil || string(known.Data) == now {
		return err
	}
	woken := 0
	err = r.eachCell(ctx, schema.FetchContent, func(tx *txn.Txn, row string) error {
		woken++
		tx.Notify(row, schema.FetchContent)
		return nil
	})
	if err != nil {
		return fmt.Errorf("interpret stored pages again: %w", err)
	}
	if woken > 0 {
		r.log.Info("another version of this program interpreted the stored pages; they are interpreted again", zap.Int("urls", woken))
	}
	return r.setFact(ctx, schema.Interpreted, []byte(now))
}
