package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/etcdtest"
	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/etcd"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/postgres"
	"github.com/webindexer/indexer/txn"
)

func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{"oracle": beOracle, "bank": beBank})
	goleak.VerifyTestMain(pgtest.Main{M: m})
}

// The variables of a child.
const (
	tableVariable   = "ORACLETEST_TABLE"   // the URL of the table
	etcdVariable    = "ORACLETEST_ETCD"    // an endpoint; empty: tokens are in the table
	listenVariable  = "ORACLETEST_LISTEN"  // of an oracle
	oraclesVariable = "ORACLETEST_ORACLES" // of a bank
)

// joiner is how a child becomes a member.
func joiner(table store.Table) (func(context.Context) (oracle.Member, error), func() error, error) {
	endpoint := os.Getenv(etcdVariable)
	if endpoint == "" {
		return func(ctx context.Context) (oracle.Member, error) { return oracle.Join(ctx, table) }, func() error { return nil }, nil
	}
	c, err := etcd.Dial([]string{endpoint}, nil)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) (oracle.Member, error) { return etcd.Join(ctx, c) }, c.Close, nil
}

func openTable(ctx context.Context) (store.Table, error) {
	return postgres.Open(ctx, os.Getenv(tableVariable), txn.Groups("app"), postgres.Options{})
}

// beOracle serves until SIGTERM.
func beOracle() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	table, err := openTable(ctx)
	if err != nil {
		return err
	}
	join, done, err := joiner(table)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", os.Getenv(listenVariable))
	if err != nil {
		return err
	}
	o, err := oracle.Start(ctx, table, oracle.Options{
		Join: join, Address: l.Addr().String(),
		Changed: func(on bool, term uint64, why error) { fmt.Println("serving", on, "in term", term, why) },
		Failed:  func(err error) { fmt.Println("failed:", err) },
	})
	if err != nil {
		return err
	}
	srv, err := Serve(l, o, Security{})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	<-ctx.Done()
	err = o.Stop(context.Background())
	srv.Stop()
	return errors.Join(err, done(), table.Close())
}

const accounts, balance = 10, 100

var balanceColumn = txn.Column{Group: "app", Name: "balance"}

func account(i int) string { return fmt.Sprint("account", i) }

// beBank transfers money until SIGTERM, and audits in each transaction.
func beBank() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	table, err := openTable(ctx)
	if err != nil {
		return err
	}
	join, done, err := joiner(table)
	if err != nil {
		return err
	}
	member, err := join(ctx)
	if err != nil {
		return err
	}
	c, err := Connect(ParseAddresses(os.Getenv(oraclesVariable)), member.Token(), Options{Holder: oracle.HolderIn(table)})
	if err != nil {
		return err
	}
	together, err := c.Coordination(ctx, member, member.Domain())
	if err != nil {
		return err
	}
	db, err := txn.Open(ctx, table, txn.Options{Coordination: together})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for n := 0; ctx.Err() == nil; n++ {
		_, err := db.Run(context.Background(), func(tx *txn.Txn) error { return transfer(tx, random) })
		if err != nil && !errors.Is(err, txn.ErrUnknown) && !errors.Is(err, txn.ErrConflict) {
			return err
		}
		if n%20 == 0 {
			fmt.Println("committed", n)
		}
	}
	return errors.Join(db.Close(), c.Close(), member.Leave(context.Background()), done(), table.Close())
}

// openAccounts gives each account its first money.
func openAccounts(tx *txn.Txn) error {
	for i := range accounts {
		tx.Set(account(i), balanceColumn, fmt.Append(nil, balance))
	}
	return nil
}

// audit returns what is in the accounts, and fails if the sum is wrong.
func audit(tx *txn.Txn) (had [accounts]int, err error) {
	sum := 0
	for i := range accounts {
		v, err := tx.Get(context.Background(), account(i), balanceColumn)
		if err != nil {
			return had, err
		}
		if _, err := fmt.Sscan(string(v.Data), &had[i]); err != nil {
			return had, fmt.Errorf("%s at %d: %w", account(i), tx.Start(), err)
		}
		sum += had[i]
	}
	if sum != accounts*balance {
		return had, fmt.Errorf("a sum of %d at %d: %v", sum, tx.Start(), had)
	}
	return had, nil
}

// transfer audits, and moves money between two random accounts.
func transfer(tx *txn.Txn, random *rand.Rand) error {
	had, err := audit(tx)
	if err != nil {
		return err
	}
	from, to := random.IntN(accounts), random.IntN(accounts)
	if n := random.IntN(20); from != to && n <= had[from] {
		tx.Set(account(from), balanceColumn, fmt.Append(nil, had[from]-n))
		tx.Set(account(to), balanceColumn, fmt.Append(nil, had[to]+n))
	}
	return nil
}

// deployment is a set of processes on one table.
type deployment struct {
	t         *testing.T
	env       []string
	addresses []string
	oracles   []*killtest.Child
	banks     []*killtest.Child
	client    *Client
	last      uint64 // the last timestamp that the client took
}

func (d *deployment) start(i int) {
	c := killtest.Start(d.t, killtest.Role(d.t, "oracle", append(d.env, listenVariable+"="+d.addresses[i])...))
	c.Until("ready")
	d.oracles[i] = c
}

// serving is the oracle that serves, as it says itself; -1 if none does.
func (d *deployment) serving() int {
	for i, s := range d.client.Statuses(d.t.Context(), 0) {
		if s.Err == nil && s.Serving {
			return i
		}
	}
	return -1
}

// goesOn takes timestamps until another oracle than the old one serves, and returns that one.
func (d *deployment) goesOn(what string, old int) int {
	t := d.t
	t.Helper()
	began, longest := time.Now(), time.Duration(0)
	for {
		asked := time.Now()
		ts, err := d.client.Next(t.Context())
		if err != nil || ts <= d.last {
			t.Fatalf("%s: %d after %d, %v", what, ts, d.last, err)
		}
		d.last, longest = ts, max(longest, time.Since(asked))
		if now := d.serving(); now >= 0 && now != old {
			t.Logf("%s: %v without timestamps", what, longest)
			for _, b := range d.banks {
				b.Until("committed")
			}
			return now
		}
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("%s: nobody has taken over", what)
		}
	}
}

// TestProcesses: two oracles, three banks and this client, each a process of its own, on a
// table in PostgreSQL. The oracle that serves is killed, stopped and continued, and told to
// leave. No timestamp repeats or goes back, the banks' sum stays, and work continues.
func TestProcesses(t *testing.T) {
	t.Run("etcd", func(t *testing.T) { testProcesses(t, true) })
	t.Run("table", func(t *testing.T) { testProcesses(t, false) })
}

func testProcesses(t *testing.T, withEtcd bool) {
	if testing.Short() && withEtcd {
		t.Skip("etcd is built from source")
	}
	url := pgtest.Shared(t).Schema(t)
	d := &deployment{t: t, env: []string{tableVariable + "=" + url}, oracles: make([]*killtest.Child, 2)}
	if withEtcd {
		d.env = append(d.env, etcdVariable+"="+etcdtest.Start(t).Endpoint)
	}
	for range d.oracles {
		d.addresses = append(d.addresses, testenv.FreeAddress(t))
	}
	for i := range d.oracles {
		d.start(i)
	}
	d.client = connect(t, Security{}, d.addresses...)
	fill(t, url, d.client)
	for range 3 {
		b := killtest.Start(t, killtest.Role(t, "bank", append(d.env, oraclesVariable+"="+strings.Join(d.addresses, ","))...))
		b.Until("committed")
		d.banks = append(d.banks, b)
	}
	now := d.goesOn("start", -1)
	for range testenv.Size(1, 1, 20) {
		old := now
		d.oracles[old].Kill()
		now = d.goesOn("killed", old)
		d.oracles[old].Wait()
		d.start(old)

		old = now
		d.oracles[old].Signal(syscall.SIGSTOP)
		now = d.goesOn("stopped", old)
		d.oracles[old].Signal(syscall.SIGCONT)
		refuses(t, d.addresses[old])

		old = now
		d.oracles[old].Signal(syscall.SIGTERM)
		now = d.goesOn("handed over", old)
		if why := d.oracles[old].Failed(); why != "" {
			t.Error(why)
		}
		d.start(old)
	}
	for _, c := range slices.Concat(d.banks, d.oracles) {
		c.Signal(syscall.SIGTERM)
		if why := c.Failed(); why != "" {
			t.Error(why)
		}
	}
}

// fill opens the accounts.
func fill(t *testing.T, url string, c *Client) {
	t.Helper()
	table, err := postgres.Open(t.Context(), url, txn.Groups("app"), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	member, err := oracle.Join(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	db, err := txn.Open(t.Context(), table, txn.Options{Coordination: &txn.Coordination{Timestamps: c, Liveness: member}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Run(t.Context(), openAccounts)
	if err := errors.Join(err, db.Close(), member.Leave(t.Context()), table.Close()); err != nil {
		t.Fatal(err)
	}
}

// refuses checks that an oracle that was replaced hands out nothing.
func refuses(t *testing.T, address string) {
	t.Helper()
	c, err := Connect([]string{address}, "a stranger", Options{RetryFor: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if ts, err := c.Next(t.Context()); err == nil {
		t.Errorf("the oracle that was replaced handed out %d", ts)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
