package remote

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/internal/tlstest"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

func newTable(t testing.TB) store.Table {
	t.Helper()
	return sharedtest.Table(t, txn.Groups("app"))
}

// site is an oracle with its server.
type site struct {
	*oracle.Oracle
	*Server
	address string
}

func startSite(t testing.TB, table store.Table, s Security) *site {
	t.Helper()
	return startSiteAt(t, table, "127.0.0.1:0", s)
}

// startSiteAt starts a site at an address, such as that of one that has ended.
func startSiteAt(t testing.TB, table store.Table, address string, s Security) *site {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return serveSite(t, table, l, s)
}

func serveSite(t testing.TB, table store.Table, l net.Listener, s Security) *site {
	t.Helper()
	o, err := oracle.Start(t.Context(), table, oracle.Options{
		Address: l.Addr().String(),
		Join:    func(ctx context.Context) (oracle.Member, error) { return oracle.Join(ctx, table) },
	})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := Serve(l, o, s)
	if err != nil {
		t.Fatal(err)
	}
	return &site{o, srv, l.Addr().String()}
}

// end shuts a site down in an orderly way.
func (s *site) end(t testing.TB) {
	t.Helper()
	if err := s.Oracle.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	s.Server.Stop()
	if err := <-s.Done(); err != nil {
		t.Error(err)
	}
}

func connect(t testing.TB, s Security, addresses ...string) *Client {
	t.Helper()
	c, err := Connect(addresses, "process of "+t.Name(), Options{Security: s})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, c)
	return c
}

func TestTimestamps(t *testing.T) {
	s := startSite(t, newTable(t), Security{})
	defer s.end(t)
	a, b := connect(t, Security{}, s.address), connect(t, Security{}, s.address)
	var (
		greatest atomic.Uint64
		seen     sync.Map
		callers  sync.WaitGroup
	)
	for i := range 64 {
		c := []*Client{a, b}[i%2]
		callers.Go(func() {
			for range testenv.Size(20, 100, 10_000) {
				before := greatest.Load()
				ts, err := c.Next(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if ts <= before {
					t.Errorf("%d after %d", ts, before)
				}
				if _, twice := seen.LoadOrStore(ts, true); twice {
					t.Errorf("%d was handed out twice", ts)
				}
				for g := greatest.Load(); g < ts && !greatest.CompareAndSwap(g, ts); g = greatest.Load() {
				}
				if last, err := c.Last(t.Context()); err != nil || last < ts {
					t.Errorf("Last is %d after %d, %v", last, ts, err)
				}
			}
		})
	}
	callers.Wait()
	if last, err := a.Last(t.Context()); err != nil || last != greatest.Load() {
		t.Errorf("the last timestamp is %d, %v; want %d", last, err, greatest.Load())
	}
	st := s.Status()
	t.Logf("%d timestamps in answer to %d requests", st.HandedOut, st.Requests)
	if st.Last != greatest.Load() || st.Requests >= st.HandedOut {
		t.Errorf("last %d, want %d; %d requests for %d timestamps", st.Last, greatest.Load(), st.Requests, st.HandedOut)
	}
	if list := a.Statuses(t.Context(), 0); len(list) != 1 || list[0].Err != nil || !list[0].Serving || list[0].Term != 1 {
		t.Errorf("status: %+v", list)
	}
}

// TestHandOver: calls keep working while oracles hand over to each other.
func TestHandOver(t *testing.T) {
	table := newTable(t)
	one, two := startSite(t, table, Security{}), startSite(t, table, Security{})
	c := connect(t, Security{}, one.address, two.address)
	var last uint64
	take := func() {
		t.Helper()
		ts, err := c.Next(t.Context())
		if err != nil || ts <= last {
			t.Fatalf("%d after %d, %v", ts, last, err)
		}
		last = ts
	}
	take()
	one.end(t)
	began := time.Now()
	take()
	t.Logf("handed over within %v", time.Since(began))
	two.end(t)
}

// TestOtherTable: a client refuses timestamps of an oracle that serves another table, even if the
// oracle of its own table has stopped.
func TestOtherTable(t *testing.T) {
	table := newTable(t)
	other, own := startSite(t, newTable(t), Security{}), startSite(t, table, Security{})
	defer other.end(t)
	take := func(addresses ...string) error {
		c, err := Connect(addresses, "a", Options{Holder: oracle.HolderIn(table), RetryFor: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.Next(t.Context())
		return err
	}
	if err := take(other.address, own.address); err != nil {
		t.Error(err)
	}
	own.end(t)
	if err := take(own.address, other.address); !errors.Is(err, ErrOtherTable) {
		t.Errorf("no oracle serves the table, and a client gets: %v", err)
	}
}

// TestClientTells: a client that waits says once which oracles it waits for, and goes on when one
// starts.
func TestClientTells(t *testing.T) {
	address, told := testenv.FreeAddress(t), make(chan error, 100)
	c, err := Connect([]string{address}, "a", Options{Waiting: func(why error) { told <- why }, TellAfter: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answer := make(chan error)
	go func() {
		_, err := c.Next(t.Context())
		answer <- err
	}()
	why := <-told
	for _, want := range []string{address, "nothing listens there", "indexer oracle"} {
		if !strings.Contains(why.Error(), want) {
			t.Errorf("it waits, and says: %v; want %q", why, want)
		}
	}
	if strings.Contains(why.Error(), "rpc error") {
		t.Errorf("it says in the words of gRPC: %v", why)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := serveSite(t, newTable(t), l, Security{})
	defer s.end(t)
	if err := <-answer; err != nil {
		t.Errorf("an oracle has started, and the client gets: %v", err)
	}
	if len(told) > 0 {
		t.Errorf("it says again: %v", <-told)
	}
}

// TestClientTellsOfSilence: a call that fails again and again says nothing while others are answered.
func TestClientTellsOfSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := func(why error) { t.Errorf("while calls are answered, it says: %v", why) }
		c := &Client{peers: []*peer{{}}, retryFor: 10 * time.Second, tell: 3 * time.Second, waiting: waiting}
		c.noteAnswer()
		failed := make(chan error)
		go func() {
			failed <- c.ask(t.Context(), func(context.Context, *peer) error { return errors.New("no answer") })
		}()
		for range 9 {
			time.Sleep(time.Second)
			if err := c.ask(t.Context(), func(context.Context, *peer) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		if err := <-failed; !errors.Is(err, txn.ErrNoTimestamps) {
			t.Errorf("the call that fails: %v", err)
		}
	})
}

func TestClientGivesUp(t *testing.T) {
	address := testenv.FreeAddress(t)
	c, err := Connect([]string{address}, "a", Options{RetryFor: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "indexer oracle") || !strings.Contains(err.Error(), address) {
		t.Errorf("without an oracle: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed client: %v", err)
	}
	if _, err := c.TryLock(t.Context(), []string{"row"}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed client locks: %v", err)
	}
	if err := c.Unlock(t.Context(), []string{"row"}); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed client unlocks: %v", err)
	}
	if _, err := Connect(nil, "a", Options{}); err == nil {
		t.Error("connected to nothing")
	}
}

func TestLocks(t *testing.T) {
	s := startSite(t, newTable(t), Security{})
	defer s.end(t)
	a := connect(t, Security{}, s.address)
	b, err := Connect([]string{s.address}, "another process", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := a.Next(t.Context()); err != nil { // it serves
		t.Fatal(err)
	}
	try := func(c *Client, want string, rows ...string) {
		t.Helper()
		got, err := c.TryLock(t.Context(), rows)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("got %v, %v; want %s", got, err, want)
		}
	}
	try(a, "[true true]", "x", "y")
	try(b, "[false true]", "y", "z")
	try(a, "[false]", "x")
	if err := b.Unlock(t.Context(), []string{"x", "z"}); err != nil { // x is not its own
		t.Error(err)
	}
	try(a, "[false true]", "x", "z")
	many := make([]string, maxRows+5)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	long := make([]string, 5) // of 5 MiB
	for i := range long {
		long[i] = strings.Repeat(fmt.Sprint(i), 1<<20)
	}
	middling := make([]string, 20) // of 6 MiB together
	for i := range middling {
		middling[i] = fmt.Sprint(i) + strings.Repeat("x", 300<<10)
	}
	for _, rows := range [][]string{many, long, middling} {
		if got, err := b.TryLock(t.Context(), rows); err != nil || len(got) != len(rows) {
			t.Errorf("%d answers for %d rows, %v", len(got), len(rows), err)
		}
		if err := b.Unlock(t.Context(), rows); err != nil {
			t.Error(err)
		}
	}
	try(a, "[true true]", many[maxRows], long[4])
}

// certificates are those of one deployment.
func certificates(t *testing.T, change ...func(*x509.Certificate)) Security {
	f := tlstest.Make(t, change...)
	return Security{CAFile: f.CA, CertFile: f.Cert, KeyFile: f.Key}
}

func TestSecurity(t *testing.T) {
	certs, strangers := certificates(t), certificates(t)
	expired := certificates(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) })
	elsewhere := certificates(t, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"oracle.example"} })
	tokened, encrypted := Security{Token: "secret"}, certs
	encrypted.Token = "secret"
	for _, tc := range []struct {
		name           string
		server, client Security
		want           codes.Code
		says           string
	}{
		{"no secrets", Security{}, Security{}, codes.OK, ""},
		{"a token", tokened, tokened, codes.OK, ""},
		{"no token", tokened, Security{}, codes.Unauthenticated, "tls.token"},
		{"another token", tokened, Security{Token: "secrets"}, codes.Unauthenticated, "tls.token"},
		{"TLS and a token", encrypted, encrypted, codes.OK, ""},
		{"TLS without a token", encrypted, certs, codes.Unauthenticated, "tls.token"},
		{"no TLS", encrypted, tokened, codes.Unavailable, "settings tls of both"},
		{"TLS of the client only", Security{}, certs, codes.Unavailable, "it does not use TLS, but this process does"},
		{"a stranger's certificate", certs, strangers, codes.Unavailable, "tls.ca of this process does not hold the authority"},
		{"an expired certificate", expired, expired, codes.Unavailable, "its certificate is not valid now"},
		{"a certificate for another name", elsewhere, elsewhere, codes.Unavailable, "its certificate is not for this address"},
		{"no certificate of the client's own", certs, Security{CAFile: certs.CAFile}, codes.Unavailable, "the certificate of this process"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := startSite(t, newTable(t), tc.server)
			defer s.end(t)
			c, err := Connect([]string{s.address}, "a", Options{Security: tc.client, RetryFor: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = c.Statuses(t.Context(), 0)[0].Err
			if got := status.Code(err); got != tc.want {
				t.Errorf("got %v, want %v: %v", got, tc.want, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "rpc error")) {
				t.Errorf("it says %v, want %q", err, tc.says)
			}
		})
	}
	for _, tc := range []struct {
		s       Security
		address string
		ok      bool
	}{
		{Security{}, "localhost:1", true},
		{Security{}, "127.0.0.1:1", true},
		{Security{Token: "a"}, "10.0.0.1:1", false},
		{Security{}, "oracle.example:1", false},
		{certs, "oracle.example:1", true},
		{Security{}, "oracle.example", false},
	} {
		if err := tc.s.Check(tc.address); (err == nil) != tc.ok {
			t.Errorf("%+v at %s: %v", tc.s, tc.address, err)
		}
	}
	if err, want := (Security{}).Check("host"), `oracle: address "host": missing port in address; want HOST:PORT`; err == nil || err.Error() != want {
		t.Errorf("without a port: %v, want %s", err, want)
	}
}

// BenchmarkTimestamps: one client, by the number of callers that wait at a time (paper,
// section 2.3: two million timestamps a second).
func BenchmarkTimestamps(b *testing.B) {
	s := startSite(b, newTable(b), Security{})
	defer s.end(b)
	c := connect(b, Security{}, s.address)
	if _, err := c.Next(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, callers := range []int{1, 16, 256, 4096} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			var (
				left atomic.Int64
				work sync.WaitGroup
			)
			left.Store(int64(b.N))
			for range callers {
				work.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := c.Next(b.Context()); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			work.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ts/s")
		})
	}
}
