package page

import (
	"errors"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"http://example.com", "http://example.com/"},
		{"HTTP://EXAMPLE.com:80/", "http://example.com/"},
		{"https://example.com:443/a", "https://example.com/a"},
		{"https://example.com:80/a", "https://example.com:80/a"},
		{"https://example.com./", "https://example.com/"},
		{"https://example.com../a", "https://example.com/a"},
		{"https://bücher.example/", "https://xn--bcher-kva.example/"},
		{"https://example.com/#top", "https://example.com/"},
		{"https://example.com/?", "https://example.com/"},
		{"https://example.com/?#", "https://example.com/"},
		{"https://example.com/?b=2&a=1", "https://example.com/?b=2&a=1"},
		{"https://example.com?q", "https://example.com/?q"},
		{"https://example.com/a/./b/../c", "https://example.com/a/c"},
		{"https://example.com/a/%2e%2E/c", "https://example.com/c"},
		{"https://example.com/%7euser/%2fa%e2%82%ac", "https://example.com/~user/%2Fa%E2%82%AC"},
		{"https://example.com/%41%62%30%2d", "https://example.com/Ab0-"},
		{"https://example.com/?q=%7e%2f", "https://example.com/?q=~%2F"}, // else the query stays as written
		{"https://example.com/é ü?é ü", "https://example.com/%C3%A9%20%C3%BC?%C3%A9%20%C3%BC"},
		{"https://example.com/a^b?c^d", "https://example.com/a%5Eb?c^d"},
		{"https://example.com/%", "https://example.com/%"},
		{"https://example.com/%zz%4", "https://example.com/%zz%4"},
		{"https://example.com/%252e", "https://example.com/%252e"}, // unescaped once only
		{"https://example.com/a/%%32%65/b", "https://example.com/a/b"},
		{"https://example.com\\a\\b", "https://example.com/a/b"},
		{" \thttps://exam\nple.com/a b ", "https://example.com/a%20b"},
		{"https:example.com/a", "https://example.com/a"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://0x7f.1../", "http://127.0.0.1/"},
		{"http://[2001:DB8:0:0::1]:8080/", "http://[2001:db8::1]:8080/"},
		{"http://me:pw%7e@example.com/", "http://me:pw~@example.com/"},
		{"http://@example.com/", "http://example.com/"},
		{"http://www.example.com//a//b", "http://www.example.com//a//b"},
	} {
		got, err := ParseURL(c.raw)
		if err != nil || string(got) != c.want {
			t.Errorf("ParseURL(%q) = %q, %v; want %q", c.raw, got, err, c.want)
		}
		if again, err := ParseURL(c.want); err != nil || string(again) != c.want {
			t.Errorf("canonical %q parses to %q, %v", c.want, again, err)
		}
	}
}

func TestParseURLErrors(t *testing.T) {
	for _, c := range []struct {
		raw string
		is  error
	}{
		{"", nil},
		{"/relative", nil},
		{"http://", nil},
		{"http://./", nil},
		{"http://a b/", nil},
		{"http://256.1.1.1/", nil},
		{"http://[::1]]/", nil},
		{"http://[::1]]:80/", nil},
		{"http://example.com:99999/", nil},
		{"mailto:a@example.com", ErrNotHTTP},
		{"javascript:void(0)", ErrNotHTTP},
		{"ftp://example.com/", ErrNotHTTP},
		{"http://example.com/" + strings.Repeat("a", MaxURLLength), ErrURLTooLong},
		{"http://example.com/" + strings.Repeat("é", MaxURLLength/3), ErrURLTooLong},
	} {
		got, err := ParseURL(c.raw)
		if err == nil {
			t.Errorf("ParseURL(%q) = %q, want an error", abbreviate(c.raw), got)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("ParseURL(%q): %v, want %v", abbreviate(c.raw), err, c.is)
		}
	}
}

func TestURLParts(t *testing.T) {
	for _, c := range []struct{ url, scheme, host, port, path, query, site string }{
		{"https://www.example.com/a/b?c=d?e", "https", "www.example.com", "", "/a/b", "c=d?e", "https://www.example.com"},
		{"http://u:p@example.com:8080/@x:y", "http", "example.com", "8080", "/@x:y", "", "http://example.com:8080"},
		{"http://[::1]/", "http", "[::1]", "", "/", "", "http://[::1]"},
		{"http://[::1]:81/?q", "http", "[::1]", "81", "/", "q", "http://[::1]:81"},
		{"", "", "", "", "", "", ""},
	} {
		u := URL(c.url)
		if u.Scheme() != c.scheme || u.Host() != c.host || u.Port() != c.port || u.Path() != c.path || u.Query() != c.query || u.Site() != c.site {
			t.Errorf("%q: %q %q %q %q %q %q", c.url, u.Scheme(), u.Host(), u.Port(), u.Path(), u.Query(), u.Site())
		}
	}
}

func TestURLKey(t *testing.T) {
	for _, c := range []struct{ url, key string }{
		{"https://www.example.com/a?b", "com.example.www/https/a?b"},
		{"http://u:p@example.com:8080/", "com.example/http:8080@u:p/"},
		{"http://192.0.2.1/", "192.0.2.1/http/"},
		{"https://[2001:db8::1]:8/x", "[2001:db8::1]/https:8/x"},
		{"http://localhost/", "localhost/http/"},
		{"http://a..b/", "b..a/http/"},
	} {
		if got := URL(c.url).Key(); got != c.key {
			t.Errorf("%s: key %q, want %q", c.url, got, c.key)
		}
		if got, err := URLFromKey(c.key); err != nil || string(got) != c.url {
			t.Errorf("URLFromKey(%q) = %q, %v", c.key, got, err)
		}
	}
	// Rows that were written before paths lost "^" stay readable.
	if got, err := URLFromKey("example.a/http/x^y?z^"); err != nil || got != "http://a.example/x^y?z^" {
		t.Errorf("URLFromKey of a former key = %q, %v", got, err)
	}
	for _, key := range []string{"", "a", "a/", "a/b", "a/ftp/", "com.example/https", "com.example/https:443/", "COM/http/", "com.example/https/#a", "com.example/https/{^", "com.example./http/."} {
		if u, err := URLFromKey(key); err == nil {
			t.Errorf("URLFromKey(%q) = %q, want an error", key, u)
		}
	}
}

// slowParse is the parser with the fast path taken out.
func slowParse(raw string) (URL, error) {
	u, err := parser.Parse(raw)
	if err != nil {
		return "", err
	}
	return normalise(u)
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"http://example.com/a", "https://a.b/%%32%65", "http://0x7f.1../", "http://xn--a.b/", "http://a-.b/", "http://a.b/.", "http://1.a1/..?'", "http://a@b:1/%7e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := ParseURL(raw)
		if len(raw) > MaxURLLength {
			return
		}
		slow, slowErr := slowParse(raw)
		if u != slow || (err == nil) != (slowErr == nil) {
			t.Fatalf("%q: fast %q, %v; slow %q, %v", raw, u, err, slow, slowErr)
		}
		if err != nil {
			return
		}
		if again, err := slowParse(string(u)); err != nil || again != u {
			t.Fatalf("%q: %q is not canonical: %q, %v", raw, u, again, err)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for _, ref := range []string{"a", "../b", "../../../c/./d", "?q", "#f", "/x/../y", "//h/p", "a:b", "", ".", "..", "../", "../?q", "./", "./a/../b", "./?q", ".//a", "./a:b", "..a", "...", "../../../..", "./#f", "//h", "//h/", "http://h", "HTTPS://h", "http://h:80", "http://1.2", "a#b c", "http:x", "%2e%2e/x", "a?b/../c"} {
		f.Add("https://example.com/d/e/f?g", ref)
	}
	f.Fuzz(func(t *testing.T, rawBase, ref string) {
		base, err := ParseURL(rawBase)
		if err != nil || len(ref) > MaxURLLength/2 || len(base) > MaxURLLength/2 {
			return
		}
		r := NewResolver(base)
		fast, ok := r.resolveFast(ref)
		if !ok {
			return
		}
		slow, err := r.resolveSlow(ref)
		if err != nil || fast != slow {
			t.Fatalf("%q on %q: fast %q, slow %q, %v", ref, base, fast, slow, err)
		}
	})
}

func FuzzURLKey(f *testing.F) {
	for _, s := range []string{"http://example.com/a?b", "http://1.2.3.4/", "http://[::1]:8/", "http://u:p@.a..b/", "http://@@a/"} {
		f.Add(s, "http://example.com/")
	}
	f.Fuzz(func(t *testing.T, raw, other string) {
		if u, err := URLFromKey(raw); err == nil && u.Key() != raw {
			t.Fatalf("key %q names %q whose key is %q", raw, u, u.Key())
		}
		u, err := ParseURL(raw)
		if err != nil {
			return
		}
		key := u.Key()
		back, err := URLFromKey(key)
		if err != nil || back != u {
			t.Fatalf("%q: key %q gives back %q, %v", u, key, back, err)
		}
		if strings.IndexFunc(key, func(r rune) bool { return r <= ' ' }) >= 0 {
			t.Fatalf("key %q holds a space or control character", key)
		}
		if v, err := ParseURL(other); err == nil && v != u && v.Key() == key {
			t.Fatalf("%q and %q share the key %q", u, v, key)
		}
	})
}
