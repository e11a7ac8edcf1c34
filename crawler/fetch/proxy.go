package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// ParseProxy reads a proxy's URL for Options.Proxy: http, https, socks5 or socks5h
// (both of the latter let the proxy resolve), with user and password if it needs
// them.
func ParseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The error quotes the URL, in which there may be a password.
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

// onProxyConnect tells a proxy's refusal to open a tunnel from the host's answers.
func onProxyConnect(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &failure{class: Proxy, text: fmt.Sprintf("the proxy answers CONNECT with status %d", res.StatusCode)}
}
