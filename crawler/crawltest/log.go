package crawltest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Request is what a server saw of one request.
type Request struct {
	Host, Path string // by name; the path with its query
	IP         string
	// Begin is when the server had the request, End just before it sent what could let
	// the client continue: the client sent the request before Begin, and knew the
	// response after End. So the time measured between two requests errs in the
	// crawler's favour.
	Begin, End time.Time
	Status     int // 0: no response
	Proto      string
	Header     http.Header
}

func (w *Web) begin(h *host, r *http.Request) *Request {
	x := &Request{Host: h.name, Path: r.URL.RequestURI(), IP: strings.Split(h.address, ":")[0], Begin: time.Now(), Proto: r.Proto, Header: r.Header.Clone()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, x)
	return x
}

func (w *Web) end(x *Request, status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x.End, x.Status = time.Now(), status
}

// Log returns the requests so far, in the order in which they began.
func (w *Web) Log() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Request, len(w.log))
	for i, x := range w.log {
		all[i] = *x
	}
	slices.SortStableFunc(all, func(a, b Request) int { return a.Begin.Compare(b.Begin) })
	return all
}

// Forget empties the log.
func (w *Web) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = nil
}

// Counts returns how often each URL was requested since Forget, without robots.txt
// files and probes.
func (w *Web) Counts() map[string]int {
	counts := make(map[string]int)
	for _, x := range w.Log() {
		if x.Path != "/robots.txt" && !isProbe(x.Path) {
			counts[x.Host+x.Path]++
		}
	}
	return counts
}

// isProbe recognises the paths that a crawler makes up to see how a host answers.
func isProbe(path string) bool {
	return len(path) == 25 && strings.Trim(path[1:], "abcdefghijklmnopqrstuvwxyz") == ""
}

// CheckCounts compares the numbers of requests with the expected ones.
func (w *Web) CheckCounts(t testing.TB, want map[string]int) {
	t.Helper()
	compareCounts(t, w.Counts(), want)
}

func compareCounts(t testing.TB, got, want map[string]int) {
	t.Helper()
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%s was requested %d times, want %d", name, got[name], n)
		}
	}
	for name, n := range got {
		if _, known := want[name]; !known {
			t.Errorf("%s was requested %d times and is not on the web", name, n)
		}
	}
}

// CheckPoliteness finds requests to a host that overlap or follow the end of the one
// before sooner than delay; and the same for hosts at one address, except for the first
// request to each host: before that the crawler does not know its address.
func (w *Web) CheckPoliteness(t testing.TB, delay time.Duration) {
	t.Helper()
	hosts, addresses := make(map[string][]Request), make(map[string][]Request)
	for _, x := range w.Log() {
		if len(hosts[x.Host]) > 0 {
			addresses[x.IP] = append(addresses[x.IP], x)
		}
		hosts[x.Host] = append(hosts[x.Host], x)
	}
	for name, list := range hosts {
		checkGaps(t, "host "+name, list, delay)
	}
	for ip, list := range addresses {
		checkGaps(t, "address "+ip, list, delay)
	}
}

func checkGaps(t testing.TB, what string, list []Request, delay time.Duration) {
	t.Helper()
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		switch gap := b.Begin.Sub(a.End); {
		case a.End.IsZero() || gap < 0:
			t.Errorf("%s: %s%s was requested before the response to %s%s", what, b.Host, b.Path, a.Host, a.Path)
		case gap < delay:
			t.Errorf("%s: %s%s was requested %v after %s%s, want %v at least", what, b.Host, b.Path, gap, a.Host, a.Path, delay)
		}
	}
}
