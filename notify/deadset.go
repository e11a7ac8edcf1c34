package notify

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/webindexer/indexer/txn"
)

// deadSet holds the rows that may have a dead letter. So a run that succeeds later
// removes the letter, and other runs need not look for one. It may report a row that has
// none: it holds hashes, forgets nothing, and beyond its bound reports every row.
type deadSet struct {
	mu   sync.Mutex
	seed maphash.Seed
	rows map[uint64]struct{}
	all  bool
}

// deadSetBound is about 10 MB of hashes.
const deadSetBound = 250_000

func (s *deadSet) has(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rows) == 0 {
		return s.all
	}
	_, ok := s.rows[maphash.String(s.seed, key)]
	return ok
}

// add reports whether the set is beyond its bound.
func (s *deadSet) add(key string) (full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all {
		return true
	}
	if s.rows == nil {
		s.seed, s.rows = maphash.MakeSeed(), make(map[uint64]struct{})
	}
	s.rows[maphash.String(s.seed, key)] = struct{}{}
	if len(s.rows) > deadSetBound {
		s.all, s.rows = true, nil
	}
	return s.all
}

// loadDead reads which rows have letters. Every process of a shared table does this again and
// again, even when there is no work, so two things matter:
//
//   - It takes no timestamp. Quiescent could never find that all work is done if there were
//     many processes.
//   - It reads a range for each observer. Bigtable keeps all groups of a row together, so a
//     scan of one group from end to end reads the whole table there.
func (p *Pipeline) loadDead(ctx context.Context) error {
	return p.db.View(ctx, func(tx *txn.Txn) error {
		for i := range p.registry.list {
			err := tx.ScanPrefix(ctx, DeadGroup, deadRow(p.registry.list[i].Name, ""), func(key string, _ []txn.Version) error {
				if p.dead.add(key) {
					return txn.ErrStop
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("look for dead letters: %w", err)
			}
		}
		return nil
	})
}
