package fetch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"reflect"
	"sync"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// public is the address that test hosts have; connections to it end at loopback.
var public = netip.MustParseAddr("93.184.215.14")

// resolverFunc is a function as a Resolver.
type resolverFunc func(ctx context.Context, host string) ([]netip.Addr, error)

func (f resolverFunc) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	return f(ctx, host)
}

func resolvesTo(addrs ...string) Resolver {
	var list []netip.Addr
	for _, a := range addrs {
		list = append(list, netip.MustParseAddr(a))
	}
	return resolverFunc(func(context.Context, string) ([]netip.Addr, error) { return list, nil })
}

// dialTo connects every public address to one on loopback.
func dialTo(t testing.TB, loopback string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if addr := netip.MustParseAddrPort(address).Addr(); RefuseAddress(addr) != "" {
			t.Errorf("a connection to %s was made", addr)
			return nil, errors.New("no")
		}
		return new(net.Dialer).DialContext(ctx, network, loopback)
	}
}

// newFetcher returns a Fetcher for which every host is the server at loopback.
func newFetcher(t testing.TB, loopback string, change ...func(*Options)) *Fetcher {
	o := Options{Resolver: resolvesTo(public.String()), DialContext: dialTo(t, loopback)}
	for _, c := range change {
		c(&o)
	}
	f := New(o)
	t.Cleanup(f.Close)
	return f
}

// rawServer serves each connection with a function and says what was asked.
type rawServer struct {
	addr     string
	mu       sync.Mutex
	requests []string
	conns    int
}

// serveRaw calls answer for each request of each connection, until it returns false;
// then the connection is closed, once the client has closed its side or at once if
// it reset it.
func serveRaw(t testing.TB, answer func(c *net.TCPConn, request string) bool) *rawServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{addr: l.Addr().String()}
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
			wg.Go(func() { s.serve(c.(*net.TCPConn), answer) })
		}
	})
	return s
}

func (s *rawServer) serve(c *net.TCPConn, answer func(*net.TCPConn, string) bool) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		request, err := readRequest(r)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.requests = append(s.requests, request)
		s.mu.Unlock()
		if !answer(c, request) {
			_ = c.CloseWrite() // fails if answer has closed it
			_, _ = io.Copy(io.Discard, r)
			return
		}
	}
}

// readRequest reads up to the empty line.
func readRequest(r *bufio.Reader) (string, error) {
	var b bytes.Buffer
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return "", err
		}
		b.WriteString(line)
		if line == "\r\n" {
			return b.String(), nil
		}
	}
}

// seen returns the requests and the number of connections so far.
func (s *rawServer) seen() ([]string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.conns
}

// get fetches u and checks what must hold of every result.
func get(t testing.TB, f *Fetcher, u string) Result {
	t.Helper()
	return do(t, f, Request{URL: page.URL(u)})
}

func do(t testing.TB, f *Fetcher, r Request) Result {
	t.Helper()
	res := f.Fetch(context.Background(), r)
	check(t, &res)
	return res
}

func check(t testing.TB, res *Result) {
	t.Helper()
	if (res.Class == OK) != (res.Fetch.Err == "") || (res.Class == OK) != (res.Cause == nil) {
		t.Errorf("class %v, Err %q, cause %v do not agree", res.Class, res.Fetch.Err, res.Cause)
	}
	if res.Truncated && res.Class == OK {
		t.Error("truncated, and no failure")
	}
	if res.Class == OK {
		checkRecord(t, res)
	}
}

// checkRecord writes a good result as a WARC record and reads it back: a replay must
// see the same fetch as the crawl did.
func checkRecord(t testing.TB, res *Result) {
	t.Helper()
	var file bytes.Buffer
	_, err := warc.NewWriter(&file).Write(warc.Fields{
		{Name: "WARC-Type", Value: "response"},
		{Name: "WARC-Date", Value: res.Fetch.Time.Format("2006-01-02T15:04:05.999999999Z07:00")},
		{Name: "WARC-Target-URI", Value: res.Fetch.URL.String()},
		{Name: "Content-Type", Value: "application/http; msgtype=response"},
	}, res.ResponseBlock())
	if err != nil {
		t.Fatal(err)
	}
	r := warc.NewReader(&file, "test", warc.Options{})
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := rec.Fetch()
	if !ok || len(r.Problems()) > 0 {
		t.Fatalf("the record does not read: %v", r.Problems())
	}
	want := res.Fetch
	if len(got.Body) != len(want.Body) || !bytes.Equal(got.Body, want.Body) {
		t.Errorf("recorded body is %.80q, fetched %.80q", got.Body, want.Body)
	}
	if !reflect.DeepEqual(got.Header, want.Header) {
		t.Errorf("recorded header %v\nfetched %v", got.Header, want.Header)
	}
	got.Body, want.Body, got.Header, want.Header = nil, nil, nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("recorded %+v\nfetched %+v", got, want)
	}
}
