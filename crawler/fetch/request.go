package fetch

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/webindexer/indexer/page"

	"golang.org/x/net/http/httpguts"
)

const (
	accept         = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	acceptEncoding = "gzip, br, zstd, deflate" // what package coding decodes
)

func (f *Fetcher) newRequest(ctx context.Context, r Request) *http.Request {
	h := http.Header{
		"User-Agent":      {f.opts.UserAgent},
		"Accept":          {accept},
		"Accept-Encoding": {acceptEncoding},
	}
	setValid(h, "If-None-Match", r.ETag)
	setValid(h, "If-Modified-Since", r.LastModified)
	setValid(h, "Cookie", r.Cookies.For(r.URL))
	u := requestURL(r.URL, f.opts.Proxy != nil)
	req := &http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(ctx)
}

// addSecrets adds the fields for the URL's site only. It is called after the request
// was copied for the record. Fetch follows no redirects, so no other site receives
// them.
func (f *Fetcher) addSecrets(r *http.Request, u page.URL) {
	for name, values := range f.opts.Headers[u.Site()] {
		if name == "Cookie" { // one field (RFC 6265 section 5.4)
			values = []string{strings.Join(append(r.Header.Values(name), values...), "; ")}
			r.Header.Del(name)
		}
		r.Header[name] = append(r.Header[name], values...)
	}
}

// isConditional reports whether the server may answer 304.
func isConditional(r *http.Request) bool {
	return r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != ""
}

// setValid omits values that cannot be sent: validators come from earlier responses,
// and those from files that may contain anything.
func setValid(h http.Header, name, value string) {
	if value != "" && httpguts.ValidHeaderFieldValue(value) {
		h.Set(name, value)
	}
}

// requestURL converts u for net/http so that the request target equals u byte for byte.
// net/url escapes some characters that the URL standard leaves alone ("|", a lone "%");
// only an opaque URL prevents that. With a proxy, and where the path could be taken for
// a host, the opaque form is the absolute one (RFC 9112 section 3.2.2).
//
// It omits user information, which is not sent.
func requestURL(u page.URL, proxied bool) *url.URL {
	site := u.Site()
	_, host, _ := strings.Cut(site, "://")
	path, query := u.Path(), u.Query()
	out := &url.URL{Scheme: u.Scheme(), Host: host, RawPath: path, RawQuery: query}
	var err error
	if out.Path, err = url.PathUnescape(path); err == nil && out.EscapedPath() == path {
		return out
	}
	out.Path, out.RawPath, out.Opaque = "", "", path
	if proxied || strings.HasPrefix(path, "//") {
		out.Opaque = "//" + host + path
	}
	return out
}

// requestBlock returns the request as HTTP/1.1. It drops the context, because its trace
// would take this for the request being sent.
func requestBlock(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	err := r.WithContext(context.Background()).Write(&b)
	return b.Bytes(), err
}
