package division

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/txn"
)

// Notify tells the crawler of a host that its queue has something new. A message that
// exists need not be written again, because its receiver removes it before it reads the
// queue.
func Notify(ctx context.Context, tx *txn.Txn, host string) error {
	row := hostRow(host)
	v, err := tx.Get(ctx, row, message)
	if err != nil {
		return fmt.Errorf("division: notify the crawler of %s: %w", host, err)
	}
	if !v.Exists {
		tx.Set(row, message, nil)
	}
	return nil
}

// Forward implements crawler.Share.
func (m *Member) Forward(ctx context.Context, host string, u page.URL, file []byte) error {
	_, err := m.runWhileValid(ctx, func(tx *txn.Txn) error {
		tx.Set(fileRow(host, u), message, file)
		return nil
	})
	return err
}

// receive removes the messages to this crawler, and then delivers them. If it does not learn
// whether they are gone (txn.ErrUnknown), it delivers them as well: waking a host or reading a
// file twice does no harm.
func (m *Member) receive(ctx context.Context, v *view) error {
	mine := func(p int) bool { return m.held[p] && !m.leaving[p] }
	hosts := slices.DeleteFunc(v.hosts, func(r hostMessage) bool { return !mine(r.partition) })
	for some := range slices.Chunk(hosts, atOnce) {
		_, err := m.runWhileValid(ctx, func(tx *txn.Txn) error {
			for _, r := range some {
				tx.Delete(r.row, message)
			}
			return nil
		})
		for _, r := range some {
			m.crawler.Wake(r.host)
		}
		if err != nil {
			return fmt.Errorf("division: receive messages: %w", err)
		}
	}
	for _, f := range v.files {
		if !mine(f.partition) {
			continue
		}
		_, err := m.runWhileValid(ctx, func(tx *txn.Txn) error {
			tx.Delete(f.row, message)
			return nil
		})
		if err == nil || errors.Is(err, txn.ErrUnknown) {
			err = errors.Join(err, m.crawler.Accept(f.file))
		}
		if err != nil {
			return fmt.Errorf("division: receive a file: %w", err)
		}
	}
	return nil
}
