package stresso

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/webindexer/indexer/txn"
)

// Count is the contents of the trie in a snapshot.
type Count struct {
	Leaves  map[uint64]bool // the numbers that were loaded
	Root    uint64          // seen of the root
	Waiting uint64          // numbers on their way
}

// Check reads the whole trie in a snapshot. The error lists the nodes whose sums are
// wrong; there must never be any.
func (t Trie) Check(ctx context.Context, tx *txn.Txn) (Count, error) {
	c := Count{Leaves: make(map[uint64]bool)}
	arrived, below := make(map[string]uint64), make(map[string]uint64)
	err := tx.Scan(ctx, Group, "", "", func(row string, cols []txn.Version) error {
		level, digits, err := parse(row)
		if err != nil {
			return err
		}
		for _, v := range cols {
			n, err := strconv.ParseUint(string(v.Data), 10, 64)
			if err != nil {
				return fmt.Errorf("stresso: %s of %q: %w", v.Name, row, err)
			}
			arrived[row] += n
			switch {
			case v.Name == wait.Name:
				c.Waiting += n
			case level > 0:
				below[node(level-1, digits>>4)] += n
			default:
				c.Root = n
			}
		}
		if level == t.Levels {
			c.Leaves[digits] = true
			below[row] = 1
		}
		return nil
	})
	if err != nil {
		return c, fmt.Errorf("stresso: check: %w", err)
	}
	var wrong []error
	for row, n := range below {
		if arrived[row] != n {
			wrong = append(wrong, fmt.Errorf("stresso: %d have arrived at node %q, and %d were passed on to it", arrived[row], row, n))
		}
		delete(arrived, row)
	}
	for row, n := range arrived {
		if n > 0 {
			wrong = append(wrong, fmt.Errorf("stresso: %d have arrived at node %q, which has nothing below it", n, row))
		}
	}
	return c, errors.Join(wrong...)
}
