package recoverybench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/tcpproxy"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/oracle/remote"
)

// deployment is a set of processes on one database, which is far away: they reach it
// through a proxy that delays what passes.
type deployment struct {
	*Options
	dir       string
	near, far string // settings of the database
	addresses []string
	proxy     *tcpproxy.Proxy
	clock     *remote.Client // to ask the oracles who serves
	line      *timeline
	ctx       context.Context // of all processes
	fail      context.CancelCauseFunc

	oracles []*child
	workers []*child
	loader  *child
	started int // processes, so that each has a log of its own
	work    sync.WaitGroup
}

func newDeployment(ctx context.Context, o *Options, dir string, fail context.CancelCauseFunc) (*deployment, error) {
	database, err := measure.ParseDatabase(o.Store, fmt.Sprintf("recovery_%d", time.Now().UnixNano()))
	if err != nil {
		return nil, err
	}
	d := &deployment{
		Options: o, dir: dir, near: database.Setting(), line: new(timeline), ctx: ctx, fail: fail,
		oracles: make([]*child, 2), workers: make([]*child, o.Workers),
	}
	for range d.oracles {
		address, err := freeAddress(ctx)
		if err != nil {
			return nil, err
		}
		d.addresses = append(d.addresses, address)
	}
	if d.proxy, err = tcpproxy.Start(database.Server()); err != nil {
		return nil, err
	}
	d.proxy.Delay(o.Delay / 2)
	d.far = database.At(d.proxy.Address())
	if d.clock, err = remote.Connect(d.addresses, "", remote.Options{}); err != nil {
		d.proxy.Close()
		return nil, err
	}
	return d, nil
}

// close waits for all processes, whose context has ended. They need not end in order: what
// they leave in the table goes away with them.
func (d *deployment) close() error {
	d.work.Wait()
	err := d.clock.Close()
	d.proxy.Close()
	return err
}

// freeAddress is a free loopback address.
func freeAddress(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (d *deployment) data(name string) string { return filepath.Join(d.dir, name) }

// startOracle starts an oracle, and waits until it serves or stands by.
func (d *deployment) startOracle(ctx context.Context, i int) (err error) {
	if d.oracles[i], err = d.start(fmt.Sprintf("oracle%d", i), nil, "oracle", "--listen", d.addresses[i]); err != nil {
		return err
	}
	return pollUntil(ctx, func() bool { return d.clock.Statuses(ctx, 0)[i].Err == nil })
}

// serving waits until an oracle other than old serves, -1 for any.
func (d *deployment) serving(ctx context.Context, old int) (found int, err error) {
	err = pollUntil(ctx, func() bool {
		found = slices.IndexFunc(d.clock.Statuses(ctx, 0), func(s remote.Status) bool {
			return s.Err == nil && s.Serving && (old < 0 || s.Address != d.addresses[old])
		})
		return found >= 0
	})
	return found, err
}

// startWorkers starts the workers from one number up to another at the same time, and
// waits until they work.
func (d *deployment) startWorkers(ctx context.Context, from, to int) error {
	ready := make(chan struct{}, to-from)
	for i := from; i < to; i++ {
		w, err := d.start("worker"+strconv.Itoa(i), nil, "worker", "--workers", strconv.Itoa(d.Threads))
		if err != nil {
			return err
		}
		d.workers[i] = w
		d.work.Go(func() { d.follow(w, ready) })
	}
	for range to - from {
		select {
		case <-ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// startLoader starts a loader that reads pages from a pipe.
func (d *deployment) startLoader() (*feed, error) {
	f, pipe, err := newFeed(d.Options, filepath.Join(d.dir, "fed.warc.gz"))
	if err != nil {
		return nil, err
	}
	if d.loader, err = d.start("loader", pipe, "replay", "--workers", "4", "-"); err != nil {
		return nil, errors.Join(err, pipe.Close(), f.abandon())
	}
	d.loader.told.Store(true) // finish asks how it has ended
	d.work.Go(f.write)
	return f, pipe.Close() // the loader has it
}

// askEvery is how often workers are asked, and so the resolution of all times.
const askEvery = 100 * time.Millisecond

// follow asks a worker what it has done until it ends, and sends to ready at its first
// answer. What a worker does after its last answer and before it is killed is not counted.
func (d *deployment) follow(w *child, ready chan<- struct{}) {
	shared := make(map[string]bool) // observers that any worker may run
	for _, o := range (observers.Options{}).Observers() {
		shared[o.Name] = o.Lease == ""
	}
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	var rows, pages int64
	for {
		select {
		case <-w.ended:
			return
		case <-ticker.C:
		}
		p, err := askLive(d.ctx, d.data(w.name))
		if w.hasEnded() {
			return // another process may have answered
		}
		if err != nil {
			continue // it starts, or ends
		}
		if ready != nil {
			ready <- struct{}{} // it has room for all
			ready = nil
		}
		nowRows, nowPages := p.count(shared)
		d.line.add(nowRows-rows, nowPages-pages)
		rows, pages = nowRows, nowPages
	}
}

// liveAnswer is the part of the answer to the request live that counts here.
type liveAnswer struct {
	Sample struct {
		Observers []struct {
			Observer string
			Rows     int64
		}
	} `json:"pulse"`
}

// interprets is the observer that handles each page once.
const interprets = "document"

func (p *liveAnswer) count(shared map[string]bool) (rows, pages int64) {
	for _, o := range p.Sample.Observers {
		if shared[o.Observer] {
			rows += o.Rows
		}
		if o.Observer == interprets {
			pages += o.Rows
		}
	}
	return rows, pages
}

// never is a time after which nothing became searchable: the answer lists no pages then.
const never = `{"since":"9999-01-01T00:00:00Z"}`

// askLive asks the process with a data directory, as `indexer serve` does.
func askLive(ctx context.Context, dir string) (*liveAnswer, error) {
	out := &control.Buffer{Most: 1 << 20}
	status, err := control.Ask(ctx, dir, control.Request{Command: "live", Args: []string{never}}, out, io.Discard)
	if err != nil {
		return nil, err
	}
	if status != 0 {
		return nil, fmt.Errorf("the process in %s does not say what it does: status %d", dir, status)
	}
	p := new(liveAnswer)
	return p, json.Unmarshal(out.Bytes(), p)
}
