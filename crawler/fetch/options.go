package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// DefaultContact is what the user agent refers to without Options.Contact: a page that
// does not exist. Anyone who crawls other people's hosts should name a page or an
// address for reaching the operator.
const DefaultContact = "https://indexer.example/bot"

// Options are the settings of a Fetcher. A zero value means the default.
type Options struct {
	// UserAgent is the whole User-Agent field. Default: UserAgent("", Contact).
	UserAgent string
	// Contact is a URL or mail address for reaching the operator of the crawl.
	Contact string

	// Headers are fields, usually credentials, that are sent only to one site, by
	// page.URL.Site. No Result contains them: RequestBlock is the request without them.
	Headers map[string]http.Header

	// Limits on the phases of an exchange.
	ResolveTime time.Duration // the name's resolution; default 10 s
	ConnectTime time.Duration // the TCP connection, all addresses together; default 10 s
	TLSTime     time.Duration // the TLS handshake; default 10 s
	HeaderTime  time.Duration // from the request sent to the whole header read; default 30 s
	TotalTime   time.Duration // the whole exchange; default 2 min
	// StallTime is how long a body may deliver nothing; default 20 s.
	StallTime time.Duration
	// MinRate is the mean rate in bytes per second below which a body is abandoned,
	// after StallTime; default 256.
	MinRate int64

	// MaxHeader is the largest response header in bytes (for HTTP/2, counted as in RFC
	// 9113 section 6.5.2); default 256 KiB.
	MaxHeader int64
	// MaxPayload is the largest payload in bytes as sent, including content codings;
	// default 16 MiB.
	MaxPayload int64
	// MaxBody is the largest decoded body in bytes; default 32 MiB.
	MaxBody int64

	// MaxIdle and IdleTime bound the connections kept for later fetches: how many over
	// all hosts (default 128) and how long (default 60 s, so that a polite delay does
	// not cost a connection per fetch).
	MaxIdle  int
	IdleTime time.Duration
	// MaxIdlePerHost is the bound for one host, for hosts that get several requests at
	// a time; default 2, negative: keep no connection.
	MaxIdlePerHost int

	// AllowPrivate permits addresses that RefuseAddress refuses.
	AllowPrivate bool
	// Proxy receives all requests, as ParseProxy returns it; nil: the hosts do. The
	// package's comment explains the effect on the address check.
	Proxy *url.URL
	// Resolver finds the addresses of names. Default: the system's, behind a
	// CachingResolver.
	Resolver Resolver
	// TLS is the base of the TLS configuration (roots, say); it is copied. Default:
	// certificates are verified with the system's roots.
	TLS *tls.Config

	// Guard is called before anything is sent on a connection. If it returns an error,
	// nothing is sent. It must be fast. nil: everything is sent.
	Guard func() error

	// DialContext connects to an address ("192.0.2.1:80") that was resolved and
	// checked. It is for tests, which map public addresses to loopback, and replaces
	// the dialer whose control hook checks the socket's address. Default: TCP.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// UserAgent returns the User-Agent of a crawler: "indexer/VERSION (+CONTACT)". The
// version may be empty, and so may the contact (which then is DefaultContact).
func UserAgent(version, contact string) string {
	if contact == "" {
		contact = DefaultContact
	}
	if version != "" {
		version = "/" + version
	}
	return "indexer" + version + " (+" + contact + ")"
}

// WithDefaults returns the settings with defaults in place of zero values.
func (o Options) WithDefaults() Options {
	o.UserAgent = cmp.Or(o.UserAgent, UserAgent("", o.Contact))
	o.ResolveTime = cmp.Or(o.ResolveTime, 10*time.Second)
	o.ConnectTime = cmp.Or(o.ConnectTime, 10*time.Second)
	o.TLSTime = cmp.Or(o.TLSTime, 10*time.Second)
	o.HeaderTime = cmp.Or(o.HeaderTime, 30*time.Second)
	o.TotalTime = cmp.Or(o.TotalTime, 2*time.Minute)
	o.StallTime = cmp.Or(o.StallTime, 20*time.Second)
	o.MinRate = cmp.Or(o.MinRate, 256)
	o.MaxHeader = cmp.Or(o.MaxHeader, 256<<10)
	o.MaxPayload = cmp.Or(o.MaxPayload, 16<<20)
	o.MaxBody = cmp.Or(o.MaxBody, 32<<20)
	o.MaxIdle = cmp.Or(o.MaxIdle, 128)
	o.MaxIdlePerHost = cmp.Or(o.MaxIdlePerHost, 2)
	o.IdleTime = cmp.Or(o.IdleTime, time.Minute)
	if o.Resolver == nil {
		o.Resolver = NewCachingResolver(net.DefaultResolver, CacheOptions{})
	}
	return o
}
