package repository

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Index files may be divided into shards (Share.Shards): each holds the clusters whose keys
// begin in its range, and belongs to the process with the lease of the shard
// (observers.LeaseShard). The processes divide the leases evenly (lease.Balanced). Each
// process keeps its shards in separate directories, and leaves the files there when another
// process takes over a shard: if the shard comes back, it only has to catch up.
//
// All processes need the same number of shards. The first worker records it in the table,
// with a random identity. What the files of a shard say that they succeed is made of the
// identity, the number and the range of the shard, so files of another repository, or of
// another division, are never mistaken for them.

// MaxShards is the greatest number of shards.
const MaxShards = 1024

// ErrOtherShards means that the index files of the store are divided into another number
// of shards than the settings say.
var ErrOtherShards = errors.New("the index files of this store are divided into another number of shards")

// ShardName names a shard: its number, from 0, and how many there are.
func ShardName(number, of int) string { return fmt.Sprintf("%d-of-%d", number, of) }

// ShardDir returns the directory of a shard in a data directory.
func ShardDir(dir string, number, of int) string {
	return filepath.Join(IndexDir(dir), ShardName(number, of))
}

// ParseShardName parses a name made by ShardName.
func ParseShardName(name string) (number, of int, ok bool) {
	a, b, found := strings.Cut(name, "-of-")
	number, err := strconv.Atoi(a)
	of, err2 := strconv.Atoi(b)
	return number, of, found && err == nil && err2 == nil && number >= 0 && number < of && ShardName(number, of) == name
}

// keyRange is a range of cluster keys, by their first bytes. The zero value has all keys.
type keyRange struct{ from, to string }

// shardRange returns the range of a shard.
func shardRange(number, of int) keyRange {
	bound := func(i int) string {
		n := (i<<16 + of - 1) / of
		if n == 0 || n == 1<<16 {
			return ""
		}
		return string([]byte{byte(n >> 8), byte(n)})
	}
	return keyRange{bound(number), bound(number + 1)}
}

// shardOf returns the shard of a row that begins with the key of a cluster.
func shardOf(row string, of int) int {
	if len(row) < 2 {
		return 0 // no such row
	}
	return (int(row[0])<<8 | int(row[1])) * of >> 16
}

// indexShards are the shards of the index files, of which this process holds some.
type indexShards struct {
	repo *Repository
	list []*indexShard
}

// indexShard is the files of one shard, which are open while this process holds its lease.
type indexShard struct {
	number int
	in     keyRange
	known  string // what its files succeed
	files  indexFiles
}

// agreeOnShards reads from the table how many shards there are and, in a process that
// wants index files, compares that with the settings, or records it first.
func (r *Repository) agreeOnShards(ctx context.Context, opts Options) error {
	wants := slices.Contains(r.share.Leases, observers.LeaseIndex)
	want := max(r.share.Shards, 1)
	if r.other != nil || want > MaxShards {
		if want > 1 {
			return fmt.Errorf("%d shards: index files have 1 to %d, and another index has none", want, MaxShards)
		}
		return nil
	}
	cell, err := r.recordShards(ctx, want, wants)
	if err != nil {
		return fmt.Errorf("read the number of shards: %w", err)
	}
	n, id, err := parseShards(cell)
	if err != nil {
		return err
	}
	if wants && n != want {
		return fmt.Errorf("%w, or stop all workers and start the first one with --reshard, which divides them anew", otherShards(n, want))
	}
	if n == 1 {
		if r.share.Reshard {
			return r.forgetTouches(ctx)
		}
		return nil
	}
	r.shards = &indexShards{repo: r}
	for i := range n {
		s := &indexShard{number: i, in: shardRange(i, n), known: fmt.Sprintf("%s.%s", id, ShardName(i, n))}
		s.files.dir, s.files.opts = ShardDir(r.dir, i, n), index.WriterOptions{Sync: opts.Sync}
		r.shards.list = append(r.shards.list, s)
	}
	return nil
}

// parseShards reads the cell with the number of shards and their identity. Without the cell,
// there is one shard.
func parseShards(cell string) (n int, id string, err error) {
	if cell == "" {
		return 1, "", nil
	}
	number, id, _ := strings.Cut(cell, " ")
	if n, err = strconv.Atoi(number); err != nil || n < 1 || n > MaxShards {
		return 0, "", fmt.Errorf("cell %s: %q: %w", schema.IndexShards.Name, cell, store.ErrCorrupt)
	}
	return n, id, nil
}

func otherShards(n, want int) error {
	return fmt.Errorf("%w: %d, and the setting index_shards says %d; set index_shards to %d everywhere", ErrOtherShards, n, want, n)
}

// RecordedShards returns the number of shards that a table has recorded, or 0 if it has recorded
// none. It needs no oracle.
func RecordedShards(ctx context.Context, table store.Reader) (n int, err error) {
	err = txn.EachCommitted(ctx, table, schema.IndexShards, schema.AppRow, func(_ string, cell []byte) (err error) {
		n, _, err = parseShards(string(cell))
		return err
	})
	return n, err
}

// CheckShards returns an error that matches ErrOtherShards if a table has recorded another number
// of shards. It needs no oracle.
func CheckShards(ctx context.Context, table store.Reader, want int) error {
	n, err := RecordedShards(ctx, table)
	if err == nil && n != 0 && n != want {
		err = otherShards(n, want)
	}
	return err
}

// recordShards returns the number of shards in the table. If none is recorded, or if it
// must change, a process that wants index files records its own number.
func (r *Repository) recordShards(ctx context.Context, want int, wants bool) (cell string, err error) {
	_, err = r.db.Run(ctx, func(tx *txn.Txn) error {
		v, err := tx.Get(ctx, schema.AppRow, schema.IndexShards)
		if cell = string(v.Data); err != nil || !wants {
			return err
		}
		number, id, _ := strings.Cut(cell, " ")
		switch {
		case number == strconv.Itoa(want):
			return nil
		case r.share.Reshard:
			if err := r.nobodyHolds(ctx, tx, number); err != nil {
				return err
			}
		case number != "":
			return nil
		default: // a table from before there were shards, or a new one
			v, err := tx.Get(ctx, schema.AppRow, schema.IndexID)
			if err != nil || v.Exists && want > 1 {
				return err
			}
		}
		if id == "" {
			id = rand.Text()
		}
		cell = fmt.Sprintf("%d %s", want, id)
		tx.Set(schema.AppRow, schema.IndexShards, []byte(cell))
		return nil
	})
	return cell, err
}

// forgetTouches removes the notifications of touch, an observer that exists only with several
// shards: no process would run them, and commands that wait for the observers would wait for ever.
// No worker is running, and the files are rebuilt with all times. A crash on the way leaves some of
// these notifications for the next start with --reshard.
func (r *Repository) forgetTouches(ctx context.Context) error {
	return r.db.EachNotification(ctx, func(notes []txn.Notification) error {
		for _, n := range notes {
			if n.Observer != observers.TouchName {
				continue
			}
			if err := r.db.Forget(ctx, n); err != nil {
				return fmt.Errorf("divide the index files anew: %w", err)
			}
		}
		return nil
	})
}

// nobodyHolds returns an error if a live process holds a lease of index files.
func (r *Repository) nobodyHolds(ctx context.Context, tx *txn.Txn, number string) error {
	names := []string{observers.LeaseIndex}
	n, _ := strconv.Atoi(number) // "": the table is from before there were shards
	for i := range n {
		names = append(names, observers.LeaseShard(i))
	}
	for _, name := range names {
		h, err := lease.HolderOf(ctx, tx, name)
		if err != nil {
			return err
		}
		if h == nil {
			continue
		}
		alive, err := r.share.Coordination.Liveness.Alive(ctx, h.Token)
		if err != nil {
			return err
		}
		if alive {
			return fmt.Errorf("%s still keeps index files: stop all workers before you divide them anew (a worker that was killed counts as running for some seconds)", h.Place)
		}
	}
	return nil
}

// ShardLeases returns the leases of a number of shards, or nil for one shard.
func ShardLeases(n int) *notify.Shards {
	if n <= 1 {
		return nil
	}
	l := &notify.Shards{Of: func(row string) int { return shardOf(row, n) }}
	for i := range n {
		l.Leases = append(l.Leases, observers.LeaseShard(i))
	}
	return l
}

// balanced returns what makes this process take and leave its share of the leases.
func (s *indexShards) balanced() *lease.Balanced {
	return &lease.Balanced{Group: observers.LeaseIndex, Wants: s.wants(), Leave: s.leave}
}

// wants returns the leases of the shards.
func (s *indexShards) wants() (list []lease.Want) {
	for i, sh := range s.list {
		name := observers.LeaseShard(i)
		list = append(list, lease.Want{
			Name: name,
			Gained: func(ctx context.Context) error {
				if err := s.open(ctx, sh); err != nil {
					return err
				}
				s.repo.log.Info("this process now holds a lease", zap.String("lease", name))
				return nil
			},
			Tasks: map[string]lease.Task{taskReindex: func(ctx context.Context, progress func(int)) (any, error) { return s.reindexHeld(ctx, i, progress) }},
		})
	}
	return list
}

// leave closes a shard that another process is about to take, unless the shard is being rebuilt.
func (s *indexShards) leave(i int, drained func() error) (bool, error) {
	if !s.repo.reindexing.TryAcquire(1) {
		return false, nil
	}
	defer s.repo.reindexing.Release(1)
	if err := drained(); err != nil {
		return false, err
	}
	n := len(s.list)
	s.repo.passes.DropThose(func(cluster string) bool { return shardOf(cluster, n) == i })
	err := s.list[i].files.close()
	s.repo.log.Info("this process leaves a lease to another one", zap.String("lease", observers.LeaseShard(i)))
	return true, err
}

func (s *indexShards) close() error {
	var errs []error
	for _, sh := range s.list {
		errs = append(errs, sh.files.close())
	}
	return errors.Join(errs...)
}

// Apply implements observers.Sink.
func (s *indexShards) Apply(ctx context.Context, changes []index.Change) error {
	return eachShard(s, changes, func(c index.Change) page.ContentKey { return c.Cluster }, func(f *indexFiles, part []index.Change) error { return f.Apply(ctx, part) })
}

// SetRanks implements observers.Sink.
func (s *indexShards) SetRanks(ctx context.Context, ranks []index.RankUpdate) error {
	return eachShard(s, ranks, func(u index.RankUpdate) page.ContentKey { return u.Cluster }, func(f *indexFiles, part []index.RankUpdate) error { return f.SetRanks(ctx, part) })
}

// Touch implements observers.Sink.
func (s *indexShards) Touch(ctx context.Context, touches []index.Touch) (missing []index.Touch, err error) {
	err = eachShard(s, touches, func(u index.Touch) page.ContentKey { return u.Cluster }, func(f *indexFiles, part []index.Touch) error {
		none, err := f.Touch(ctx, part)
		missing = append(missing, none...)
		return err
	})
	return missing, err
}

// eachShard divides writes among the shards.
func eachShard[T any](s *indexShards, list []T, key func(T) page.ContentKey, write func(*indexFiles, []T) error) error {
	parts := make([][]T, len(s.list))
	for _, v := range list {
		k := key(v)
		i := shardOf(string(k[:2]), len(s.list))
		parts[i] = append(parts[i], v)
	}
	for i, part := range parts {
		if len(part) == 0 {
			continue
		}
		if err := write(&s.list[i].files, part); err != nil {
			return fmt.Errorf("shard %s: %w", ShardName(i, len(s.list)), err)
		}
	}
	return nil
}
