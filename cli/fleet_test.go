package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/etcdtest"
	"github.com/webindexer/indexer/internal/opensearchtest"
	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/tcpproxy"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/internal/tlstest"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
)

// setup is what a deployment consists of.
type setup struct {
	name       string
	bigtable   bool   // the emulator of Bigtable instead of PostgreSQL
	opensearch bool   // the index is on an OpenSearch server
	etcd       bool   // liveness tokens are in etcd
	secure     bool   // the oracle wants certificates and a token
	oracles    int    // 0: one
	rare       bool   // only with INDEXER_LONG=1
	host       string // of the oracles; "": 127.0.0.1
}

// fleet is a deployment of real processes: oracles, workers and a loader, on one database.
type fleet struct {
	t        *testing.T
	dir      string
	store    string
	index    string // "": index files
	oracleAt []string
	etcdAt   string

	postgres *pgtest.Server
	etcd     *etcdtest.Server
	oracles  []*child
	clock    *remote.Client // of the test itself
	last     uint64         // the last timestamp that it took
}

// newFleet starts the servers and oracles of a deployment: PostgreSQL and one oracle, if no
// setup is given.
func newFleet(t *testing.T, setups ...setup) *fleet {
	t.Helper()
	var s setup
	if len(setups) > 0 {
		s = setups[0]
	}
	if s.rare && !testenv.Long() {
		t.Skip("only with INDEXER_LONG=1")
	}
	f := &fleet{t: t, dir: t.TempDir()}
	if s.bigtable {
		f.store = bigtabletest.URL(t)
	} else {
		f.postgres = pgtest.Shared(t)
		f.store = f.postgres.Schema(t)
	}
	if s.opensearch {
		f.index = "opensearch+" + opensearchtest.Shared(t).URL + "/deployment"
	}
	if s.etcd {
		f.etcd = etcdtest.Start(t)
		f.etcdAt = f.etcd.Endpoint
	}
	if s.secure {
		secure(t)
	}
	for i := range max(1, s.oracles) {
		at := testenv.FreeAddress(t)
		if s.host != "" {
			at = strings.Replace(at, "127.0.0.1", s.host, 1)
		}
		f.oracleAt = append(f.oracleAt, at)
		f.oracles = append(f.oracles, nil)
		f.startOracle(i)
	}
	token, err := remote.ReadToken(os.Getenv("INDEXER_TLS_TOKEN"))
	if err != nil {
		t.Fatal(err)
	}
	security := remote.Security{CertFile: os.Getenv("INDEXER_TLS_CERT"), KeyFile: os.Getenv("INDEXER_TLS_KEY"), CAFile: os.Getenv("INDEXER_TLS_CA"), Token: token}
	if f.clock, err = remote.Connect(f.oracleAt, "the test", remote.Options{Security: security}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.clock.Close() })
	f.take() // an oracle serves
	return f
}

// secure gives all processes certificates and a secret.
func secure(t *testing.T) {
	t.Helper()
	files, token := tlstest.Make(t), filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"CERT": files.Cert, "KEY": files.Key, "CA": files.CA, "TOKEN": token} {
		t.Setenv("INDEXER_TLS_"+name, path)
	}
}

// args are the arguments of a process with a data directory of its own.
func (f *fleet) args(data string, more ...string) []string {
	args := []string{"--data", filepath.Join(f.dir, data), "--log-level", "info", "--store", f.store}
	if f.oracleAt != nil {
		args = append(args, "--oracle", strings.Join(f.oracleAt, ","))
	}
	if f.index != "" {
		args = append(args, "--index", f.index)
	}
	if f.etcdAt != "" {
		args = append(args, "--etcd", f.etcdAt)
	}
	return append(args, more...)
}

func (f *fleet) startOracle(i int) {
	f.t.Helper()
	f.oracles[i] = startChild(f.t, "", f.args(fmt.Sprint("oracle", i), "oracle", "--listen", f.oracleAt[i])...)
}

func (f *fleet) worker(data string) *child {
	f.t.Helper()
	c := startChild(f.t, "", f.args(data, "worker", "--workers", "2")...)
	c.Until("working; interrupt to stop")
	return c
}

// workers starts three workers. The first one holds all leases.
func (f *fleet) workers() []*child {
	f.t.Helper()
	one := f.worker("one")
	one.Until(`this process now holds a lease	{"lease": "index"}`)
	return []*child{one, f.worker("two"), f.worker("three")}
}

// load is a process that loads files and then waits for the workers.
type load struct {
	*child
	ended chan struct{}
}

func (f *fleet) load(files ...string) *load {
	f.t.Helper()
	l := &load{startChild(f.t, "", f.args("loader", append([]string{"replay", "--workers", "2"}, files...)...)...), make(chan struct{})}
	go func() {
		defer close(l.ended)
		l.Wait()
	}()
	return l
}

// finish waits for the end of a load. Meanwhile it reads what all others say, so that none
// waits for a reader.
func (f *fleet) finish(l *load, others ...*child) {
	f.t.Helper()
	for _, c := range others {
		go c.Wait()
	}
	if status := l.ends(); status != 0 {
		f.t.Fatalf("the loader: exit status %d: %s", status, l.Said())
	}
	f.wantNoDirectory("loader")
}

// wantNoDirectory: a process that runs no observers makes no data directory.
func (f *fleet) wantNoDirectory(data string) {
	f.t.Helper()
	if _, err := os.Stat(filepath.Join(f.dir, data)); !errors.Is(err, fs.ErrNotExist) {
		f.t.Errorf("there is a data directory of %s, which writes nothing there: %v", data, err)
	}
}

// take takes a timestamp, which must be the greatest so far.
func (f *fleet) take() uint64 {
	f.t.Helper()
	ts, err := f.clock.Next(f.t.Context())
	if err != nil || ts <= f.last {
		f.t.Fatalf("timestamp %d after %d, %v", ts, f.last, err)
	}
	f.last = ts
	return ts
}

// begun waits until a load is in the middle of its work.
func (f *fleet) begun(l *load) {
	f.t.Helper()
	n := uint64(testenv.Size(200, 200, 20_000))
	for first, taken := f.take(), uint64(0); f.take()-first-taken < n; taken++ {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-l.ended:
			f.t.Log("the load ended before anything could happen to it")
			return
		}
	}
}

// serving waits until an oracle other than old serves, -1 for any.
func (f *fleet) serving(old int) (found int) {
	f.t.Helper()
	until(f.t, func() bool {
		f.take()
		list := f.clock.Statuses(f.t.Context(), 0)
		for i, s := range list {
			if s.Err == nil && s.Serving && i != old {
				found = i
				return true
			}
		}
		return false
	})
	return found
}

// wantSame compares the deployment with one process that had the same crawl: nothing is
// missing, nothing was given up on, and verify finds no difference, with the index files of
// the worker that keeps them, in whose data directory it then is. workers are the data
// directories of all that are not cut off.
func (f *fleet) wantSame(want string, workers ...string) (holder string) {
	f.t.Helper()
	if got := digest(f.t, f.args("reader")...); got != want {
		f.t.Errorf("digest %s, and that of one process %s", got, want)
	}
	var stats struct{ Dead int }
	if err := json.Unmarshal([]byte(runIndexer(f.t, f.args("reader", "--format", "json", "wait")...)), &stats); err != nil || stats.Dead > 0 {
		f.t.Errorf("%d rows were given up on, %v", stats.Dead, err)
	}
	for _, data := range workers {
		if strings.Contains(runIndexer(f.t, f.args(data, "--format", "json", "verify")...), `"index_files"`) {
			holder = data
		}
	}
	if holder == "" {
		f.t.Fatal("verify has not found the index files")
	}
	return holder
}

// stop ends processes in order, and then the oracles.
func (f *fleet) stop(workers ...*child) {
	f.t.Helper()
	for _, c := range slices.Concat(workers, f.oracles) {
		stopChild(f.t, c)
	}
}

// link is the network of one process. If it fails, it fails in all directions.
type link []*tcpproxy.Proxy

// linked returns the deployment as seen by a process behind a network of its own.
func (f *fleet) linked() (*fleet, link) {
	f.t.Helper()
	var l link
	to := func(network, address string) string {
		p, err := tcpproxy.Start(network, address)
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(p.Close)
		l = append(l, p)
		return p.Address()
	}
	far := *f
	if f.postgres != nil {
		far.store = pgtest.At(f.t, f.store, to("unix", f.postgres.Socket()))
	} else {
		before, host, _ := strings.Cut(f.store, "emulator=")
		far.store = before + "emulator=" + to("tcp", host)
	}
	far.oracleAt = nil
	for _, address := range f.oracleAt {
		far.oracleAt = append(far.oracleAt, to("tcp", address))
	}
	if f.etcdAt != "" {
		far.etcdAt = to("tcp", f.etcdAt)
	}
	return &far, l
}

func (l link) cut() {
	for _, p := range l {
		p.Cut()
	}
}

func (l link) heal() {
	for _, p := range l {
		p.Heal()
	}
}

// stopChild interrupts a process and wants it to end in order.
func stopChild(t *testing.T, c *child) {
	t.Helper()
	c.Signal(syscall.SIGINT)
	if status := c.ends(); status != 0 {
		t.Errorf("exit status %d: %s", status, c.Said())
	}
}

// digest is that of an export of all documents.
func digest(t *testing.T, args ...string) string {
	t.Helper()
	_, line, found := strings.Cut(runIndexer(t, append(args, "export")...), "\ndigest ")
	if !found {
		t.Fatal("export has printed no digest")
	}
	return strings.TrimSpace(line)
}

// crawl is a recorded crawl, and what one process makes of it.
type crawl struct {
	files  []string
	data   string // of the one process
	digest string
}

var recorded struct {
	fixture
	crawl
}

func recordedCrawl(t *testing.T) crawl {
	t.Helper()
	c := &recorded.crawl
	recorded.at(t, func(dir string) {
		c.files, c.data = recordedWeb(t, dir), filepath.Join(dir, "embedded")
		runIndexer(t, append([]string{"--data", c.data, "replay"}, c.files...)...)
		c.digest = digest(t, "--data", c.data)
	})
	return *c
}

// recordedWeb returns WARC files: the project's own small webs, which are visited at several
// moments, or with INDEXER_LONG=1 the three crawls of some real sites, if there are any.
func recordedWeb(t *testing.T, dir string) (files []string) {
	t.Helper()
	if files = realCrawls(t); files != nil {
		return files
	}
	sites, err := filepath.Glob("../testdata/sites/*.txt")
	if err != nil || len(sites) == 0 {
		t.Fatalf("no sites: %v", err)
	}
	for i := range 3 {
		var some []string
		for n := i; n < len(sites); n += 3 {
			some = append(some, sites[n])
		}
		file := filepath.Join(dir, fmt.Sprint("web", i, ".warc.gz"))
		runIndexer(t, append([]string{"pack", "-o", file}, some...)...)
		files = append(files, file)
	}
	return files
}

func realCrawls(t *testing.T) (files []string) {
	t.Helper()
	if !testenv.Long() {
		return nil
	}
	for _, moment := range []string{"t0", "t1", "t2"} {
		dir := filepath.Join("../../shared/corpus", moment)
		list, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range list {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	return files
}

// runIndexer runs a command to its end and returns what it printed.
func runIndexer(t *testing.T, args ...string) string {
	t.Helper()
	var out, said strings.Builder
	if status := Main(context.Background(), args, strings.NewReader(""), &out, &said); status != 0 {
		t.Fatalf("indexer %s: exit status %d: %s", strings.Join(args, " "), status, said.String())
	}
	if strings.Contains(strings.Join(args, " "), "--format json") {
		return out.String()
	}
	return out.String() + said.String()
}
