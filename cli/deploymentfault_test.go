package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/engines"
)

// TestOracleFailover: two oracles serve a deployment that is loading. The one that serves is
// killed, stopped and continued, and told to leave. No timestamp repeats or goes back, which
// fleet.take checks all the time, and nothing is missing in the end.
func TestOracleFailover(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	t.Parallel()
	c := recordedCrawl(t)
	f := newFleet(t, setup{oracles: 2})
	workers := f.workers()
	for i, happens := range []func(oracle *child) (ended bool){
		func(o *child) bool { o.Kill(); o.Wait(); return true },
		func(o *child) bool { o.Signal(syscall.SIGSTOP); return false },
		func(o *child) bool { stopChild(t, o); return true },
	} {
		first, most := i*len(c.files)/3, (i+1)*len(c.files)/3
		l := f.load(c.files[first:most]...)
		f.begun(l)
		old := f.serving(-1)
		ended := happens(f.oracles[old])
		f.serving(old)
		if ended {
			f.startOracle(old)
		} else {
			f.oracles[old].Signal(syscall.SIGCONT)
		}
		f.finish(l, workers...)
		f.take()
	}
	f.wantSame(c.digest, "one", "two", "three")
	f.stop(workers...)
}

// TestCutOffWorker: the worker that holds all leases cannot show signs of life for so long
// that others take its locks and leases: it is cut off from everything, and what it has sent
// arrives when others have done all the work; or it is stopped. It commits nothing then, and
// ends.
func TestCutOffWorker(t *testing.T) {
	if testing.Short() {
		t.Skip("starts databases and several processes")
	}
	t.Parallel()
	c := recordedCrawl(t)
	for _, tc := range []struct {
		setup
		stopped bool
	}{
		{setup: setup{name: "postgres, cut off", rare: true}},
		{setup: setup{name: "postgres, stopped", rare: true}, stopped: true},
		{setup: setup{name: "bigtable and etcd, cut off", bigtable: true, etcd: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFleet(t, tc.setup)
			far, network := f.linked()
			one := far.worker("one")
			one.Until(`this process now holds a lease	{"lease": "index"}`)
			others := []*child{f.worker("two"), f.worker("three")}
			l := f.load(c.files...)
			f.begun(l)
			if tc.stopped {
				one.Signal(syscall.SIGSTOP)
			} else {
				network.cut()
			}
			f.finish(l, others...)
			f.wantSame(c.digest, "two", "three")
			if tc.rare && !tc.stopped { // it takes cutOffTimeout
				wantGivenUp(t, far.args("one", "stats")...)
			}
			one.Signal(syscall.SIGCONT)
			network.heal()
			if status := one.ends(); status != statusFailed {
				t.Errorf("the worker that was cut off: exit status %d: %s", status, one.Said())
			}
			f.wantSame(c.digest, "two", "three")
			f.stop(others...)
		})
	}
}

// TestServerFoundDead: others find a server dead while it is stopped. When it continues, it joins
// them again, and shows details of pages.
func TestServerFoundDead(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	t.Parallel()
	f := newFleet(t)
	worker := f.worker("one")
	f.finish(f.load(recordedCrawl(t).files...), worker)
	c := startChild(t, "", f.args("one", "serve", "--listen", "127.0.0.1:0")...)
	_, url, _ := strings.Cut(c.Until("serving on "), "serving on ")
	s := &served{t: t, url: strings.TrimSuffix(strings.TrimSpace(url), "/")}
	const details = "/api/inspect?url=https://lighthouse.example/"
	before := s.get(details)
	token := f.running("indexer serve")
	c.Signal(syscall.SIGSTOP)
	f.bury(token)
	c.Signal(syscall.SIGCONT)
	if after := s.get(details); after != before {
		t.Errorf("afterwards: %s", after)
	}
	c.Until("has joined them again")
	stopChild(t, c)
	f.stop(worker)
}

// bury finds a process dead, which has to be stopped.
func (f *fleet) bury(token string) {
	f.t.Helper()
	self, err := oracle.Join(f.t.Context(), f.table())
	if err != nil {
		f.t.Fatal(err)
	}
	until(f.t, func() bool {
		alive, err := self.Alive(f.t.Context(), token)
		if err != nil {
			f.t.Fatal(err)
		}
		return !alive
	})
	if err := self.Leave(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// running is the token of the process that runs a command, once it has told.
func (f *fleet) running(command string) (token string) {
	f.t.Helper()
	table := f.table()
	until(f.t, func() bool {
		list, err := oracle.Processes(f.t.Context(), table)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, p := range list {
			if p.Role == command {
				token = p.Token
			}
		}
		return token != ""
	})
	return token
}

// table opens the store.
func (f *fleet) table() store.Table {
	f.t.Helper()
	table, err := engines.Open(f.t.Context(), f.store, repository.SharedGroups(), engines.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = table.Close() })
	return table
}

// wantGivenUp runs a command in the directory of a worker that is cut off.
func wantGivenUp(t *testing.T, args ...string) {
	t.Helper()
	var said bytes.Buffer
	status := Main(context.Background(), args, strings.NewReader(""), &said, &said)
	if status != statusFailed || !strings.Contains(said.String(), "waiting: ") || !strings.Contains(said.String(), "indexer: "+errCutOffWorker.Error()) {
		t.Errorf("indexer %s: exit status %d: %s", strings.Join(args, " "), status, said.String())
	}
}

// TestServerRestart: the database, or etcd, is killed while a deployment is loading, and is
// back after all processes have stopped relying on their tokens. They continue on their
// own.
func TestServerRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts databases and several processes")
	}
	c := recordedCrawl(t)
	for _, s := range []setup{{name: "postgres"}, {name: "etcd", etcd: true, rare: true}} {
		t.Run(s.name, func(t *testing.T) {
			f := newFleet(t, s)
			workers := f.workers()
			l := f.load(c.files...)
			f.begun(l)
			kill, restart := f.postgres.Kill, func() { f.postgres.Restart(t) }
			if s.etcd {
				kill, restart = f.etcd.Kill, f.etcd.Restart
			}
			kill()
			workers[0].Until("leases rest") // the others may be waiting for timestamps
			restart()
			f.finish(l, slices.Concat(workers, f.oracles)...)
			f.wantSame(c.digest, "one", "two", "three")
			f.stop(workers...)
		})
	}
}

// TestInterruptWithoutOracle: a loader waits for an oracle that is gone, and the user
// interrupts it. It prints its summary although it cannot count everything.
func TestInterruptWithoutOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	t.Parallel()
	f := newFleet(t, setup{oracles: 1})
	l := f.load(recordedCrawl(t).files...)
	f.begun(l)
	f.oracles[0].Kill()
	l.Signal(syscall.SIGINT)
	if status := l.ends(); status != statusInterrupted {
		t.Errorf("exit status %d", status)
	}
	for _, want := range []string{"Interrupted: everything loaded so far is saved.", "the summary is not complete"} {
		if !strings.Contains(l.Said(), want) {
			t.Errorf("the loader did not say %q: %s", want, l.Said())
		}
	}
}

// TestInterruptedCrawlWithoutOracle: a crawler of a deployment is interrupted while its oracle is gone. It
// prints its summary although it cannot count everything.
func TestInterruptedCrawlWithoutOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	t.Parallel()
	f := newFleet(t, setup{oracles: 1})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, `<title>Page</title><a href="%sx">next</a>`, r.URL.Path)
	}))
	defer host.Close()
	c := startChild(t, "", f.args("crawler", "crawl", "--format", "json", "--allow-private", "--delay", "1h", host.URL)...)
	c.Until("1 waiting for their delay")
	f.oracles[0].Kill()
	c.Signal(syscall.SIGINT)
	if status := c.ends(); status != statusInterrupted {
		t.Errorf("exit status %d", status)
	}
	for _, want := range []string{`"incomplete":true`, "the summary is not complete"} {
		if !strings.Contains(c.Said(), want) {
			t.Errorf("the crawler did not say %q: %s", want, c.Said())
		}
	}
}
