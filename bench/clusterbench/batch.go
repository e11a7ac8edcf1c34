package clusterbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/webindexer/indexer/bench/measure"
)

// batch is the job that clusters the whole repository: three passes, each of which sorts
// the leaders of the one before by its key and keeps the first of each. Everything is
// written to files and read again in sequence, as by a MapReduce, and sorted in memory;
// if there are many parts, they are merged.
type batch struct {
	sorter
	o *Options
}

// sortedAtOnce is how many records the job sorts in memory: 64 MB.
const sortedAtOnce = 4 << 20

func newBatch(dir string, o *Options) (*batch, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	b := &batch{sorter{dir, sortedAtOnce}, o}
	return b, b.write("repository", 0, o.Documents)
}

// write writes documents to a file.
func (b *batch) write(name string, from, to int) error {
	w, err := create(b.path(name))
	if err != nil {
		return err
	}
	for id := from; id < to; id++ {
		d := b.o.draw(id)
		w.put(record{d.id, d.keys[0], d.keys[1], d.keys[2]})
	}
	return w.close()
}

func (b *batch) path(name string) string { return filepath.Join(b.dir, name) }

// run clusters the repository and the given number of new documents, which are in the
// file "new". It leaves the cluster of each document in a file sorted by document.
func (b *batch) run(ctx context.Context) (took time.Duration, clusters int, err error) {
	began := time.Now()
	in := []string{b.path("repository"), b.path("new")}
	var steps [3]string // document → leader, of those that do not lead
	for pass := range 3 {
		leaders := b.path("leaders" + strconv.Itoa(pass+1))
		steps[pass] = b.path("followers" + strconv.Itoa(pass+1))
		if clusters, err = b.pass(ctx, pass, in, leaders, steps[pass]); err != nil {
			return 0, 0, err
		}
		in = []string{leaders}
	}
	if err := b.join(ctx, in[0], steps); err != nil {
		return 0, 0, err
	}
	return time.Since(began), clusters, nil
}

// pass sorts by a key, and divides documents into the first of each key and those that
// follow it.
func (b *batch) pass(ctx context.Context, pass int, in []string, leaders, followers string) (found int, err error) {
	lead, err := create(leaders)
	if err != nil {
		return 0, err
	}
	follow, err := create(followers)
	if err != nil {
		return 0, errors.Join(err, lead.close())
	}
	key := pass + 1
	var first record
	err = b.sorted(ctx, in, key, func(r record) {
		if found == 0 || r[key] != first[key] {
			first = r
			found++
			lead.put(r)
			return
		}
		follow.put(record{r[0], first[0]})
	})
	return found, errors.Join(err, lead.close(), follow.close())
}

// join follows the leaders of the last pass backwards: the cluster of a leader is its
// own identity, and that of a follower the cluster of its leader.
func (b *batch) join(ctx context.Context, leaders string, steps [3]string) error {
	known := b.path("clusters3")
	clusters, err := create(known)
	if err != nil {
		return err
	}
	err = b.sorted(ctx, []string{leaders}, 0, func(r record) { clusters.put(record{r[0], r[0]}) })
	if err := errors.Join(err, clusters.close()); err != nil {
		return err
	}
	for _, pass := range slices.Backward([]int{0, 1, 2}) {
		next := b.path("clusters" + strconv.Itoa(pass))
		if err := b.joinPass(ctx, known, steps[pass], next); err != nil {
			return err
		}
		known = next
	}
	return nil
}

// joinPass adds the clusters of the followers of a pass to those that are known, both
// sorted by document.
func (b *batch) joinPass(ctx context.Context, known, followers, out string) error {
	joined := b.path("joined")
	w, err := create(joined)
	if err != nil {
		return err
	}
	r, err := open(known)
	if err != nil {
		return errors.Join(err, w.close())
	}
	at, more := r.next()
	err = b.sorted(ctx, []string{followers}, 1, func(f record) { // by leader
		for more && at[0] < f[1] {
			at, more = r.next()
		}
		if more && at[0] == f[1] {
			w.put(record{f[0], at[1]})
		}
	})
	if err := errors.Join(err, r.close(), w.close()); err != nil {
		return err
	}
	w, err = create(out)
	if err != nil {
		return err
	}
	err = b.sorted(ctx, []string{known, joined}, 0, w.put)
	return errors.Join(err, w.close())
}

// median runs the job three times over the repository and the given number of new
// documents.
func (b *batch) median(ctx context.Context, fresh int) (time.Duration, int, error) {
	if err := b.write("new", b.o.Documents, b.o.Documents+fresh); err != nil {
		return 0, 0, err
	}
	var times []time.Duration
	clusters := 0
	for range 3 {
		took, n, err := b.run(ctx)
		if err != nil {
			return 0, 0, err
		}
		times, clusters = append(times, took), n
	}
	slices.Sort(times)
	return times[1], clusters, nil
}

// tooMany is the size of the input, in repositories, above which the job is said not to
// keep up.
const tooMany = 4

// delay is the delay of documents that come at a rate while the job runs again and again.
// Each run clusters what came during the run before it. So its input settles at a size at
// which as many documents come in the time it takes, which few runs of growing size find.
// A document waits for the end of the run under way, which is anywhere between now and a
// run ahead, and then for one whole run. alone is how long a run over the repository
// alone takes.
func (b *batch) delay(ctx context.Context, perSecond float64, alone time.Duration) (Delay, error) {
	took, fresh := alone, 0
	for range 5 {
		next := int(perSecond * took.Seconds())
		if next > tooMany*b.o.Documents {
			return Delay{Unbounded: true}, nil
		}
		if next-fresh <= b.o.Documents/100 {
			break
		}
		fresh = next
		if err := b.write("new", b.o.Documents, b.o.Documents+fresh); err != nil {
			return Delay{}, err
		}
		again, _, err := b.run(ctx)
		if err != nil {
			return Delay{}, err
		}
		took = max(again, alone) // a run over more documents takes longer; the machine is noisy
	}
	run := measure.Milliseconds(took)
	return Delay{P5: 1.05 * run, P50: 1.5 * run, P95: 1.95 * run}, nil
}
