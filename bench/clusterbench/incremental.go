package clusterbench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// incremental clusters with an observer. Its rows:
//
//	doc/D         keys: the three keys of document D; leader: whom it follows
//	key/T/K       leader: the first document with key K in table T
type incremental struct {
	o        *Options
	db       *txn.DB
	pipeline *notify.Pipeline
	next     int // identity of the next document

	mu     sync.Mutex
	dues   map[string]time.Time // rows under way
	delays []time.Duration
}

const group = "c"

var (
	keysColumn   = txn.Column{Group: group, Name: "keys"}
	leaderColumn = txn.Column{Group: group, Name: "leader"}
)

func docRow(id uint32) string { return "doc/" + pad(id) }

func keyRow(table int, key uint32) string { return "key/" + strconv.Itoa(table) + "/" + pad(key) }

func pad(n uint32) string { return fmt.Sprintf("%010d", n) }

func encode(list ...uint32) []byte {
	var b []byte
	for _, n := range list {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

var errCell = errors.New("a cell of another length")

func decode(b []byte, into []uint32) error {
	if len(b) != 4*len(into) {
		return errCell
	}
	for i := range into {
		into[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return nil
}

// withIncremental runs fn with a repository that has all documents already.
func withIncremental(ctx context.Context, dir string, o *Options, fn func(*incremental) error) (err error) {
	table, err := badgerdb.Open(dir, txn.Groups(group, notify.DeadGroup), badgerdb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	i := &incremental{o: o, next: o.Documents, dues: map[string]time.Time{}}
	if err := i.fill(ctx, table); err != nil {
		return err
	}
	registry, err := notify.NewRegistry(notify.Observer{Name: "cluster", Watches: keysColumn, Batch: 16, Run: i.cluster})
	if err != nil {
		return err
	}
	i.pipeline = notify.New(registry, notify.Options{Workers: o.Workers, Events: notify.Events{Tried: i.tried}})
	i.db, err = txn.Open(ctx, table, txn.Options{Mode: o.Commit, Observers: registry.Observers, Handover: i.pipeline.Handover})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.db.Close()) }()
	if err := i.pipeline.Start(ctx, i.db); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.pipeline.Stop()) }()
	return fn(i)
}

// fill writes the repository as the observer would have left it, in large transactions
// that send no notifications.
func (i *incremental) fill(ctx context.Context, table *badgerdb.DB) (err error) {
	db, err := txn.Open(ctx, table, txn.Options{Mode: i.o.Commit})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var leaders [3]map[uint32]uint32
	for t := range leaders {
		leaders[t] = map[uint32]uint32{}
	}
	const atOnce = 1000
	for from := 0; from < i.o.Documents; from += atOnce {
		_, err := db.Run(ctx, func(tx *txn.Txn) error {
			for id := from; id < min(from+atOnce, i.o.Documents); id++ {
				d := i.o.draw(id)
				leader := d.id
				for t, k := range d.keys {
					first, ok := leaders[t][k]
					if ok && first != d.id { // the same if the transaction is run again
						leader = first
						break
					}
					leaders[t][k] = d.id
					tx.Set(keyRow(t, k), leaderColumn, encode(d.id))
				}
				tx.Set(docRow(d.id), keysColumn, encode(d.keys[:]...))
				tx.Set(docRow(d.id), leaderColumn, encode(leader))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// crawl loads a document.
func (i *incremental) crawl(ctx context.Context, d document) error {
	_, err := i.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(docRow(d.id), keysColumn, encode(d.keys[:]...))
		return nil
	})
	return err
}

// cluster is the observer.
func (i *incremental) cluster(ctx context.Context, tx *txn.Txn, rows []string) error {
	for _, row := range rows {
		if err := clusterRow(ctx, tx, row); err != nil {
			return fmt.Errorf("%s: %w", row, err)
		}
	}
	return nil
}

// clusterRow looks the keys of a document up, one table after the other, until one has
// a leader. The document becomes the leader of the keys that had none.
func clusterRow(ctx context.Context, tx *txn.Txn, row string) error {
	var id [1]uint32
	var keys [3]uint32
	n, err := strconv.ParseUint(row[len("doc/"):], 10, 32)
	if err != nil {
		return err
	}
	id[0] = uint32(n)
	v, err := tx.Get(ctx, row, keysColumn)
	if err != nil {
		return err
	}
	if err := decode(v.Data, keys[:]); err != nil {
		return err
	}
	leader := id
	for t, k := range keys {
		v, err := tx.Get(ctx, keyRow(t, k), leaderColumn)
		if err != nil {
			return err
		}
		if v.Exists {
			if err := decode(v.Data, leader[:]); err != nil {
				return err
			}
			break
		}
		tx.Set(keyRow(t, k), leaderColumn, encode(id[0]))
	}
	tx.Set(row, leaderColumn, encode(leader[0]))
	return nil
}

// tried hears of the runs of the observer.
func (i *incremental) tried(a notify.Attempt) {
	if a.Commit == 0 {
		return
	}
	done := a.Began.Add(a.Took)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, row := range a.Rows {
		if due, ok := i.dues[row]; ok {
			delete(i.dues, row)
			i.delays = append(i.delays, done.Sub(due))
		}
	}
}

// saturate crawls as fast as the observer takes documents, and returns how many it
// clustered a second.
func (i *incremental) saturate(ctx context.Context, d time.Duration) (float64, error) {
	began := time.Now()
	var crawled atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	for range max(i.o.Workers, 1) {
		g.Go(func() error {
			for time.Since(began) < d {
				if err := i.pipeline.Admit(gctx); err != nil {
					return err
				}
				if err := i.crawl(gctx, i.o.draw(i.next+int(crawled.Add(1))-1)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if _, err := i.pipeline.Quiesce(ctx); err != nil {
		return 0, err
	}
	i.next += int(crawled.Load())
	return float64(crawled.Load()) / time.Since(began).Seconds(), nil
}

// delay crawls at a rate, at random moments, and measures the time from the moment at
// which a document was due to the commit that clustered it.
func (i *incremental) delay(ctx context.Context, perSecond float64, d time.Duration) (Delay, error) {
	const few = 50 // documents that come so rarely that they never overlap may come faster
	perSecond = max(perSecond, few/d.Seconds())
	n := int(perSecond * d.Seconds())
	i.mu.Lock()
	i.delays = nil
	i.mu.Unlock()
	rng, first := rand.New(rand.NewPCG(i.o.Seed, uint64(i.next))), i.next
	err := measure.Arrivals(ctx, rng, perSecond, n, i.o.Workers, func(ctx context.Context, k int, due time.Time) error {
		doc := i.o.draw(first + k)
		i.mu.Lock()
		i.dues[docRow(doc.id)] = due
		i.mu.Unlock()
		return i.crawl(ctx, doc)
	})
	if err != nil {
		return Delay{}, err
	}
	i.next += n
	if _, err := i.pipeline.Quiesce(ctx); err != nil {
		return Delay{}, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return delayOf(i.delays), nil
}

// audit checks the leader of every document.
func (i *incremental) audit(ctx context.Context) error {
	tx, err := i.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var leaders [3]map[uint32]uint32
	for t := range leaders {
		leaders[t] = map[uint32]uint32{}
		prefix := "key/" + strconv.Itoa(t) + "/"
		err := tx.ScanPrefix(ctx, group, prefix, func(row string, cols []txn.Version) error {
			key, err := strconv.ParseUint(row[len(prefix):], 10, 32)
			if err != nil {
				return err
			}
			var leader [1]uint32
			err = decode(cols[0].Data, leader[:])
			leaders[t][uint32(key)] = leader[0]
			return err
		})
		if err != nil {
			return err
		}
	}
	for id := range i.next {
		d := i.o.draw(id)
		want := d.id
		for t, k := range d.keys {
			if leader, ok := leaders[t][k]; ok && leader != d.id {
				want = leader
				break
			}
		}
		v, err := tx.GetOnce(ctx, docRow(d.id), leaderColumn)
		if err != nil {
			return err
		}
		var got [1]uint32
		if err := decode(v.Data, got[:]); err != nil {
			return fmt.Errorf("the leader of document %d: %w", id, err)
		}
		if got[0] != want {
			return fmt.Errorf("document %d follows %d, and the tables say %d", id, got[0], want)
		}
	}
	return nil
}
