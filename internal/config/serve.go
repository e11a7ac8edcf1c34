package config

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Serve holds the settings of `indexer serve`. Passwords and tokens are not settings,
// because people show their settings files and environments to others.
type Serve struct {
	// Listen is the address, HOST:PORT; port 0 picks a free port.
	Listen string
	// AllowRemote lets other machines reach the server.
	AllowRemote bool
	// AllowHosts are the host names under which proxies forward requests, one per line.
	AllowHosts string
	// AllowOrigins are the origins whose pages may search, one per line.
	AllowOrigins string
	// User is the user name for the password in PasswordFile. TokenFile holds a token
	// instead. "": none.
	User, PasswordFile, TokenFile string
	// Profiles serves profiles of the process under /debug/pprof/.
	Profiles bool
	// Requests is how many requests are answered at a time, RequestTime how long each may
	// take, Drain how long requests in progress may take when the server stops.
	Requests           int
	RequestTime, Drain time.Duration
	// StatusClients is how many browsers may follow the status page at a time.
	StatusClients int
}

func defaultServe() Serve {
	return Serve{Listen: "127.0.0.1:7070", Requests: 64, RequestTime: 20 * time.Second, Drain: 5 * time.Second, StatusClients: 32}
}

var serveSettings = []setting{
	checked("serve.listen", "an address HOST:PORT, such as 127.0.0.1:7070", func(c *Config) *string { return &c.Serve.Listen }, isAddress),
	boolean("serve.allow_remote", func(c *Config) *bool { return &c.Serve.AllowRemote }),
	checked("serve.allow_hosts", "names of hosts without scheme and port, one per line", func(c *Config) *string { return &c.Serve.AllowHosts }, areHosts).list(),
	checked("serve.allow_origins", "origins as browsers send them, such as https://docs.example or http://localhost:8000, one per line", func(c *Config) *string { return &c.Serve.AllowOrigins }, areOrigins).list(),
	checked("serve.user", "a name without a colon", func(c *Config) *string { return &c.Serve.User }, func(v string) bool { return isField(v) && !strings.Contains(v, ":") }),
	checked("serve.password_file", "a path", func(c *Config) *string { return &c.Serve.PasswordFile }, isField),
	checked("serve.token_file", "a path", func(c *Config) *string { return &c.Serve.TokenFile }, isField),
	boolean("serve.pprof", func(c *Config) *bool { return &c.Serve.Profiles }),
	number("serve.requests", func(c *Config) *int { return &c.Serve.Requests }, 1, 10_000),
	period("serve.request_time", func(c *Config) *time.Duration { return &c.Serve.RequestTime }, 100*time.Millisecond, 10*time.Minute),
	period("serve.drain", func(c *Config) *time.Duration { return &c.Serve.Drain }, 0, 10*time.Minute),
	number("serve.status_clients", func(c *Config) *int { return &c.Serve.StatusClients }, 1, 10_000),
}

// isAddress reports whether v has the form HOST:PORT. Listening resolves the host.
func isAddress(v string) bool {
	host, port, err := net.SplitHostPort(v)
	if err != nil || strings.ContainsAny(host, "/@ ") {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

var hostName = regexp.MustCompile(`^[\pL\pN_]([\pL\pN_.-]*[\pL\pN_])?\.?$`)

func areHosts(v string) bool {
	return eachLine(v, func(name string) bool { return len(name) <= 255 && hostName.MatchString(name) })
}

func areOrigins(v string) bool { return eachLine(v, isOrigin) }

// isOrigin reports whether a browser could send an origin in exactly this form in the header
// Origin: without a path or a default port, and with the host in lower case and ASCII. An
// origin in any other form would never match.
func isOrigin(origin string) bool {
	u, err := url.Parse(origin)
	switch {
	case err != nil || origin != u.Scheme+"://"+u.Host || u.Hostname() == "" || strings.HasSuffix(u.Host, ":"):
		return false
	case defaultPort[u.Scheme] == "" || u.Port() == defaultPort[u.Scheme]:
		return false
	}
	return !strings.ContainsFunc(u.Host, func(r rune) bool { return r > '~' || 'A' <= r && r <= 'Z' || r == '*' })
}

var defaultPort = map[string]string{"http": "80", "https": "443"}
