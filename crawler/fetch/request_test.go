package fetch

import (
	"net/url"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestRequestAsSent compares what a server received with the block for the record.
func TestRequestAsSent(t *testing.T) {
	s := serveRaw(t, answerWith("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=b\r\n\r\n"))
	f := newFetcher(t, s.addr, func(o *Options) { o.Contact = "https://bot.test/about" })
	for _, c := range []struct {
		request Request
		lines   string // the target, then the fields after the usual ones
	}{
		{Request{URL: "http://h.test/"}, "/"},
		{Request{URL: "http://h.test/a/b?c=d&e"}, "/a/b?c=d&e"},
		{Request{URL: "http://h.test/a|b%20c%zz?x=|%zz"}, "/a|b%20c%zz?x=|%zz"},
		{Request{URL: "http://h.test/a%2Fb;c=(1)!*'~$@:"}, "/a%2Fb;c=(1)!*'~$@:"},
		{Request{URL: "http://h.test//a//b"}, "//a//b"},
		{Request{URL: "http://h.test//a|b"}, "http://h.test//a|b"},
		{Request{URL: "http://user:pass@h.test/"}, "/"},
		{Request{URL: "http://h.test/", ETag: `W/"1"`}, "/\nIf-None-Match: W/\"1\""},
		{Request{URL: "http://h.test/", LastModified: "Fri, 20 Nov 2026 12:00:00 GMT"},
			"/\nIf-Modified-Since: Fri, 20 Nov 2026 12:00:00 GMT"},
		{Request{URL: "http://h.test/", ETag: "\"a\"\r\nX: y", LastModified: "\x00"}, "/"},
	} {
		res := do(t, f, c.request)
		if res.Class != OK {
			t.Errorf("%s: %v", c.request.URL, res.Cause)
			continue
		}
		requests, _ := s.seen()
		got := requests[len(requests)-1]
		if got != string(res.RequestBlock) {
			t.Errorf("%s: sent\n%s\nrecorded\n%s", c.request.URL, got, res.RequestBlock)
		}
		target, extra, _ := strings.Cut(c.lines, "\n")
		want := "GET " + target + " HTTP/1.1\nHost: h.test\nUser-Agent: indexer (+https://bot.test/about)\n" +
			"Accept: " + accept + "\nAccept-Encoding: gzip, br, zstd, deflate\n"
		if extra != "" {
			want += extra + "\n"
		}
		if got := strings.ReplaceAll(got, "\r\n", "\n"); got != want+"\n" {
			t.Errorf("%s: sent\n%s\nwant\n%s", c.request.URL, got, want)
		}
	}
	if _, conns := s.seen(); conns != 1 {
		t.Errorf("%d connections for requests one after the other", conns)
	}
}

func TestUserAgent(t *testing.T) {
	for _, c := range []struct{ version, contact, want string }{
		{"", "", "indexer (+https://indexer.example/bot)"},
		{"1.2", "https://a.test/", "indexer/1.2 (+https://a.test/)"},
	} {
		if got := UserAgent(c.version, c.contact); got != c.want {
			t.Errorf("UserAgent(%q, %q) = %q, want %q", c.version, c.contact, got, c.want)
		}
	}
}

// FuzzRequestURL: whatever a page links to, the request target is what the URL has,
// and the host is what was checked.
func FuzzRequestURL(f *testing.F) {
	for _, seed := range append([]string{"http://h/a|b?c|d", "http://h//x/%zz", "https://u:p@h:8/;?#"}, privateHosts...) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := page.ParseURL(raw)
		if err != nil {
			return
		}
		want := u.Path()
		if u.Query() != "" {
			want += "?" + u.Query()
		}
		for _, proxied := range []bool{false, true} {
			var got *url.URL = requestURL(u, proxied)
			target := strings.TrimPrefix(got.RequestURI(), u.Site())
			if target != want || got.Host != strings.TrimPrefix(u.Site(), u.Scheme()+"://") || got.User != nil {
				t.Errorf("%s (proxied %v): target %q of host %q; want %q", u, proxied, target, got.Host, want)
			}
		}
	})
}
