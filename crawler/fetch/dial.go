package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// maxAddresses is how many of a name's addresses are tried.
const maxAddresses = 4

// dialer makes a Fetcher's connections.
//
// The address that is checked is the one that is dialled: names are resolved here, and
// only addresses go to the network. Checking the name's addresses first and then
// dialling the name would resolve it a second time, and the owner of the name's DNS
// server could choose the second answer.
type dialer struct {
	opts    *Options
	tls     *tls.Config
	conns   connList
	connect func(ctx context.Context, network, address string) (net.Conn, error)
}

func newDialer(opts *Options) *dialer {
	d := &dialer{opts: opts, tls: &tls.Config{}, connect: opts.DialContext}
	if opts.TLS != nil {
		d.tls = opts.TLS.Clone()
	}
	d.tls.NextProtos = []string{"h2", "http/1.1"}
	if d.tls.ClientSessionCache == nil {
		d.tls.ClientSessionCache = tls.NewLRUClientSessionCache(opts.MaxIdle)
	}
	if d.connect == nil {
		d.connect = (&net.Dialer{ControlContext: d.control}).DialContext
	}
	return d
}

// fetchKey is the context key for the context of the fetch that needs a connection. The
// transport detaches dials from it, because other fetches could use the connection.
// Here a dial ends with its fetch, so that an abandoned fetch leaves nothing running.
type fetchKey struct{}

// bind returns ctx, also cancelled by the end of its fetch.
func bind(ctx context.Context) (context.Context, context.CancelFunc) {
	fetch, ok := ctx.Value(fetchKey{}).(context.Context)
	if !ok {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(fetch, func() { cancel(context.Cause(fetch)) })
	return ctx, func() { stop(); cancel(nil) }
}

// dial makes a connection for http, or to a proxy.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := d.conns.begin(); err != nil {
		return nil, err
	}
	defer d.conns.dials.Done()
	ctx, cancel := bind(ctx)
	defer cancel()
	c, err := d.open(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// dialTLS makes a connection for https. The transport speaks HTTP/2 on a *tls.Conn that
// has negotiated it; a connection with HTTP/1.1 is returned with a tape.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	if err := d.conns.begin(); err != nil {
		return nil, err
	}
	defer d.conns.dials.Done()
	ctx, cancel := bind(ctx)
	defer cancel()
	raw, err := d.open(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errors.Join(&failure{class: BadRequest, text: "the URL has no host and port to connect to", err: err}, raw.Close())
	}
	config := d.tls.Clone()
	config.ServerName = host
	c := tls.Client(raw, config)
	if err := d.handshake(ctx, c, raw); err != nil {
		_ = raw.Close() // the error of the handshake says more
		return nil, err
	}
	if c.ConnectionState().NegotiatedProtocol == "h2" {
		return c, nil
	}
	return &conn{Conn: c, made: raw.made, list: &d.conns}, nil
}

func (d *dialer) handshake(ctx context.Context, c *tls.Conn, raw *conn) error {
	ctx, cancel := context.WithTimeout(ctx, d.opts.TLSTime)
	defer cancel()
	start := time.Now()
	err := c.HandshakeContext(ctx)
	raw.made.tls = time.Since(start)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || isTimeout(err):
		return &failure{Timeout, fmt.Sprintf("no TLS handshake within %v", d.opts.TLSTime), err}
	case isReset(err):
		return &failure{Reset, "the connection ended during the TLS handshake", err}
	}
	return &failure{TLS, tlsText(err), err}
}

// open makes a TCP connection and puts it on the list.
func (d *dialer) open(ctx context.Context, network, address string) (*conn, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &failure{BadRequest, "the URL has no host and port to connect to", err}
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, &failure{BadRequest, "the URL's port is no port", err}
	}
	if d.opts.Proxy != nil {
		return d.openProxy(ctx, network, address)
	}
	start := time.Now()
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	resolved := time.Now()
	nc, remote, err := d.tryAll(ctx, network, addrs, uint16(port))
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, list: &d.conns, guard: d.opts.Guard, made: made{
		remote: remote, resolve: resolved.Sub(start), connect: time.Since(resolved)}}
	return c, d.conns.add(c)
}

// openProxy connects to the proxy. Its address is the operator's choice: the system
// resolves it, and it is not checked.
func (d *dialer) openProxy(ctx context.Context, network, address string) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opts.ConnectTime)
	defer cancel()
	connect := d.opts.DialContext
	if connect == nil {
		connect = new(net.Dialer).DialContext
	}
	nc, err := connect(ctx, network, address)
	if err != nil {
		return nil, &failure{Proxy, "the proxy cannot be reached", err}
	}
	c := &conn{Conn: nc, list: &d.conns, guard: d.opts.Guard}
	return c, d.conns.add(c)
}

// resolve returns the addresses of host that may be contacted, at least one.
func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, ok := literal(host); ok {
		return d.permitted([]netip.Addr{addr})
	}
	lookup, cancel := context.WithTimeout(ctx, d.opts.ResolveTime)
	defer cancel()
	addrs, err := d.opts.Resolver.LookupNetIP(lookup, "ip", host)
	dnsErr, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil && len(addrs) > 0:
		return d.permitted(addrs)
	case err == nil || isDNS && dnsErr.IsNotFound:
		return nil, &failure{DNS, "the host's name has no address", err}
	case lookup.Err() != nil || isTimeout(err):
		return nil, &failure{DNS, "no answer in time for the host's name", err}
	}
	return nil, &failure{DNS, "the host's name cannot be resolved", err}
}

// permitted drops the addresses that are refused; it fails if none is left.
func (d *dialer) permitted(addrs []netip.Addr) ([]netip.Addr, error) {
	var refused error
	var list []netip.Addr
	for _, addr := range addrs {
		if err := d.refuse(addr); err != nil {
			refused = err
			continue
		}
		list = append(list, addr.Unmap())
	}
	if len(list) == 0 {
		return nil, refused
	}
	return list[:min(len(list), maxAddresses)], nil
}

func (d *dialer) refuse(addr netip.Addr) error {
	if d.opts.AllowPrivate {
		return nil
	}
	if reason := RefuseAddress(addr); reason != "" {
		return &failure{class: RefusedAddress, text: reason}
	}
	return nil
}

// control receives the address to which the socket is about to connect. It is the last
// place to refuse an address that earlier checks have missed.
func (d *dialer) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &failure{RefusedAddress, "the address to connect to is not known", err}
	}
	return d.refuse(to.Addr())
}

// tryAll connects to the first address that accepts, trying one after the other: hosts
// are visited for hours, and a race for milliseconds would cost them connections. Each
// address gets an equal share of the remaining time.
func (d *dialer) tryAll(ctx context.Context, network string, addrs []netip.Addr, port uint16) (net.Conn, netip.AddrPort, error) {
	var err error
	end := time.Now().Add(d.opts.ConnectTime)
	for i, addr := range addrs {
		to := netip.AddrPortFrom(addr, port)
		var nc net.Conn
		nc, err = d.try(ctx, network, to, time.Until(end)/time.Duration(len(addrs)-i))
		if err == nil {
			return nc, to, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	switch {
	case is[*failure](err):
		return nil, netip.AddrPort{}, err
	case isTimeout(err):
		return nil, netip.AddrPort{}, &failure{Timeout, fmt.Sprintf("no connection within %v", d.opts.ConnectTime), err}
	}
	return nil, netip.AddrPort{}, &failure{Connect, connectText(err), err}
}

func (d *dialer) try(ctx context.Context, network string, to netip.AddrPort, limit time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return d.connect(ctx, network, to.String())
}

// ParseProxy reads a proxy's URL for Options.Proxy: http, https, socks5 or socks5h
// (with both of the latter the proxy resolves names), with user and password if needed.
func ParseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The error quotes the URL, which may contain a password.
		return nil, fmt.Errorf("bad proxy URL: write it as http://HOST:PORT or socks5://HOST:PORT")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return nil, fmt.Errorf("proxy %s: the scheme must be http, https, socks5 or socks5h", u.Redacted())
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("proxy %s: there is no host: write it as %s://HOST:PORT", u.Redacted(), u.Scheme)
	}
	return u, nil
}

// onProxyConnect distinguishes a proxy's refusal to open a tunnel from the host's
// answers.
func onProxyConnect(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	f := &failure{class: Proxy, text: fmt.Sprintf("the proxy answers CONNECT with status %d", res.StatusCode)}
	if res.StatusCode != http.StatusProxyAuthRequired { // which says nothing of the host
		f.err = ErrNoTunnel
	}
	return f
}
