// Package stresso is the stress test of Apache Fluo, as an application of store, txn and
// notify: a trie that counts distinct numbers. It is small enough for an example, and
// demanding for the framework, because every number ends up in one row, the root.
//
// A number of Trie.Levels hexadecimal digits is a leaf; the node above it represents
// its first Levels-1 digits, and so on to the root, which represents none. A node has
// two columns:
//
//	wait  numbers that arrived here and were not passed on yet    written by load, percolate   observed by percolate
//	seen  numbers that were passed on to the node above           written by percolate
//
// Loading a number sets wait of its leaf to 1, unless the leaf has it already.
// The observer of wait moves wait to seen, and adds it to wait of the node
// above, in one transaction; that wakes the observer there, until everything is in the root.
//
// # Invariants
//
// In every snapshot, also in the middle of the work or right after a crash: wait plus
// seen of a node is the sum of seen of the nodes below it, and 1 at a leaf. When
// all work is done, wait is 0 everywhere, so seen of the root is the number of distinct
// numbers. Check tests all of this.
package stresso

import (
	"context"
	"fmt"
	"strconv"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/txn"
)

// Group is the locality group of the trie. The table has to be opened with it and
// with notify.DeadGroup.
const Group = "trie"

var (
	wait = txn.Column{Group: Group, Name: "wait"}
	seen = txn.Column{Group: Group, Name: "seen"}
)

// Trie counts numbers of Levels hexadecimal digits, 1 to 16.
type Trie struct {
	Levels int
}

// Limit is the first number that is too large: 16 to the power of Levels; 0 means 2 to the
// power of 64.
func (t Trie) Limit() uint64 { return 1 << (4 * t.Levels) }

// Observers are the observers of the application. batch is how many nodes one
// transaction passes on.
func (t Trie) Observers(batch int) []notify.Observer {
	return []notify.Observer{{Name: "percolate", Watches: wait, Batch: batch, Run: t.percolate}}
}

// node is the row of a node: its level and its digits. The rows of a level are
// neighbours.
func node(level int, digits uint64) string {
	if level == 0 {
		return "00/"
	}
	return fmt.Sprintf("%02d/%0*x", level, level, digits)
}

// parse is the inverse of node.
func parse(row string) (level int, digits uint64, err error) {
	if len(row) < 3 || row[2] != '/' {
		return 0, 0, fmt.Errorf("stresso: row %q is not a node", row)
	}
	if level, err = strconv.Atoi(row[:2]); err != nil || level != len(row)-3 {
		return 0, 0, fmt.Errorf("stresso: row %q is not a node", row)
	}
	if level > 0 {
		if digits, err = strconv.ParseUint(row[3:], 16, 64); err != nil {
			return 0, 0, fmt.Errorf("stresso: row %q is not a node: %w", row, err)
		}
	}
	return level, digits, nil
}

// Insert loads a number, in the caller's transaction. Loading it again changes
// nothing.
func (t Trie) Insert(ctx context.Context, tx *txn.Txn, n uint64) error {
	leaf := node(t.Levels, n)
	waiting, passed, err := counts(ctx, tx, leaf)
	if err != nil || waiting+passed > 0 {
		return err
	}
	tx.Set(leaf, wait, []byte("1"))
	return nil
}

// percolate passes on the wait of some nodes. Writing wait of a node wakes
// the observer of that node, this one included, which then finds 0 and does nothing.
func (t Trie) percolate(ctx context.Context, tx *txn.Txn, rows []string) error {
	for _, row := range rows {
		waiting, passed, err := counts(ctx, tx, row)
		if err != nil {
			return err
		}
		if waiting == 0 {
			continue
		}
		level, digits, err := parse(row)
		if err != nil {
			return err
		}
		tx.Set(row, seen, number(passed+waiting))
		tx.Set(row, wait, number(0))
		if level == 0 {
			continue
		}
		above := node(level-1, digits>>4)
		there, _, err := counts(ctx, tx, above)
		if err != nil {
			return err
		}
		tx.Set(above, wait, number(there+waiting))
	}
	return nil
}

func number(n uint64) []byte { return strconv.AppendUint(nil, n, 10) }

// counts reads both columns of a node; a missing column is 0.
func counts(ctx context.Context, tx *txn.Txn, row string) (waiting, passed uint64, err error) {
	if waiting, err = count(ctx, tx, row, wait); err != nil {
		return 0, 0, err
	}
	passed, err = count(ctx, tx, row, seen)
	return waiting, passed, err
}

func count(ctx context.Context, tx *txn.Txn, row string, c txn.Column) (uint64, error) {
	v, err := tx.Get(ctx, row, c)
	if err != nil || !v.Exists {
		return 0, err
	}
	n, err := strconv.ParseUint(string(v.Data), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("stresso: %s of %q: %w", c.Name, row, err)
	}
	return n, nil
}
