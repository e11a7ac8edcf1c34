package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/repository"
)

// served is an `indexer serve` that runs during a test.
type served struct {
	t    *testing.T
	url  string
	end  context.CancelFunc
	done chan int
	rest chan string // what it still writes to standard error
}

// startServe runs the command until end, and waits until it answers.
func startServe(t *testing.T, args ...string) *served {
	t.Helper()
	if !slices.Contains(args, "serve") {
		args = append(args, "serve")
	}
	args = append(args, "--listen", "127.0.0.1:0")
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	s := &served{t: t, end: cancel, done: make(chan int, 1), rest: make(chan string, 1)}
	go func() {
		s.done <- run(ctx, args, strings.NewReader(""), io.Discard, w)
		_ = w.Close()
	}()
	lines := bufio.NewReader(r)
	said := ""
	for s.url == "" {
		line, err := lines.ReadString('\n')
		said += line
		if err != nil {
			t.Fatalf("it ended: %s", said)
		}
		if _, after, ok := strings.Cut(line, "serving on "); ok {
			s.url = strings.TrimSuffix(strings.TrimSpace(after), "/")
		}
	}
	go func() {
		b, _ := io.ReadAll(lines) // of a pipe in this process
		s.rest <- said + string(b)
	}()
	return s
}

// get is the body of an answer that has to be 200.
func (s *served) get(path string) string {
	s.t.Helper()
	status, body := s.do(path, nil)
	if status != http.StatusOK {
		s.t.Fatalf("GET %s: %d\n%s", path, status, body)
	}
	return body
}

// isElsewhere reports whether its pages say that another process has the directory.
func (s *served) isElsewhere() bool { return strings.Contains(s.get("/help"), `class="note"`) }

func (s *served) isHere() bool { return !s.isElsewhere() }

func (s *served) do(path string, change func(*http.Request)) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		s.t.Error(err)
	}
	return res.StatusCode, string(body)
}

// stop ends it as an interrupt does; it must end well.
func (s *served) stop() string {
	s.t.Helper()
	http.DefaultClient.CloseIdleConnections()
	s.end()
	said := <-s.rest
	if status := <-s.done; status != statusDone {
		s.t.Errorf("exit status %d\n%s", status, said)
	}
	return said
}

// mustRun runs a command that has to end well, and gives its output.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != statusDone {
		t.Fatalf("indexer %q: exit status %d\n%s", args, status, errs.String())
	}
	return out.String()
}

var lighthouse fixture

// lighthouseData is a data directory with a small web.
func lighthouseData(t *testing.T) string {
	t.Helper()
	whole := lighthouse.at(t, func(dir string) {
		file := filepath.Join(dir, "web.warc.gz")
		mustRun(t, "pack", "../testdata/sites/lighthouse.txt", "-o", file)
		mustRun(t, "--data", filepath.Join(dir, "data"), "replay", file)
	})
	return copyOf(t, filepath.Join(whole, "data"))
}

// fieldsOf is an object without the fields that differ from call to call.
func fieldsOf(t *testing.T, text string, without ...string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, name := range without {
		delete(m, name)
	}
	return m
}

// The API gives what the command line gives.
func TestServeAnswersAsTheCommandsDo(t *testing.T) {
	data := lighthouseData(t)
	const u = "https://skerryrock.example/lamp"
	query := fieldsOf(t, mustRun(t, "--data", data, "query", "--format", "json", "lamp"), "took_ms")
	inspected := fieldsOf(t, mustRun(t, "--data", data, "inspect", "--format", "json", u))
	s := startServe(t, "--data", data)
	for name, got := range map[string]struct{ api, cli map[string]any }{
		"query":   {fieldsOf(t, s.get("/api/query?q=lamp"), "took_ms"), query},
		"inspect": {fieldsOf(t, s.get("/api/inspect?url="+url.QueryEscape(u))), inspected},
		// While the server has the directory, the command asks it.
		"inspect beside it": {fieldsOf(t, mustRun(t, "--data", data, "inspect", "--format", "json", u)), inspected},
	} {
		for field, want := range got.cli {
			if a, b := asText(t, got.api[field]), asText(t, want); a != b {
				t.Errorf("%s: %s is %s, want %s", name, field, a, b)
			}
		}
	}
	s.stop()
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// While another process has the directory, the server searches in the index files and
// asks that process for details. When it is gone, the server takes the directory over.
func TestServeBesideAnotherProcess(t *testing.T) {
	data := lighthouseData(t)
	const lamp = "url=https://skerryrock.example/lamp"
	holder := startServe(t, "--data", data)
	beside := startServe(t, "--data", data)
	for _, path := range []string{"/doc?" + lamp, "/view?" + lamp, "/copy?" + lamp, "/copy?view=text&" + lamp, "/api/inspect?" + lamp, "/api/versions?" + lamp} {
		mine, theirs := beside.get(path), holder.get(path)
		if strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/copy") {
			if mine != theirs {
				t.Errorf("%s: %s\nwant %s", path, mine, theirs)
			}
		} else if !strings.Contains(mine, "Another process has the data directory") {
			t.Errorf("%s does not say that another process has the directory", path)
		}
	}
	beside.get("/api/stats")
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		if got := beside.get(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if !strings.Contains(beside.get("/metrics"), "go_goroutines") {
		t.Error("no metrics of the process")
	}
	for _, at := range []string{"1", "99999999999", "2020-01-01T00:00:00Z"} {
		mine, body := beside.do("/api/inspect?at="+at+"&"+lamp, nil)
		theirs, want := holder.do("/api/inspect?at="+at+"&"+lamp, nil)
		if mine != theirs || body != want || mine != http.StatusNotFound {
			t.Errorf("as of %s: %d %s\nwant %d %s", at, mine, body, theirs, want)
		}
	}
	if status, _ := beside.do("/copy?url=https://never.example/", nil); status != http.StatusNotFound {
		t.Errorf("a copy of nothing: %d", status)
	}
	holder.stop()
	if !strings.Contains(beside.get("/?q=lamp"), "skerryrock.example") {
		t.Error("nothing is found any more")
	}
	if body := beside.get("/doc?" + lamp); strings.Contains(body, "Another process") {
		t.Error("the page still says that another process has the directory")
	}
	if got := beside.get("/readyz"); got != "ready\n" {
		t.Errorf("without the other process: %q", got)
	}
	if said := beside.stop(); !strings.Contains(said, "Another process has the data directory") {
		t.Errorf("it said %s", said)
	}
}

// A process that has just begun to fill a directory has no index files yet. A server beside it
// waits for them.
func TestServeBesideABeginning(t *testing.T) {
	data := lighthouseData(t)
	holder := startServe(t, "--data", data)
	defer holder.stop()
	files := repository.IndexDir(data)
	if err := os.Rename(files, files+".new"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"--data", data, "serve", "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, w)
		_ = w.Close()
	}()
	said := ""
	for lines := bufio.NewScanner(r); lines.Scan(); said += lines.Text() + "\n" {
		switch {
		case strings.HasPrefix(lines.Text(), "Another process has the data directory"):
			if err := os.Rename(files+".new", files); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(lines.Text(), "serving on"):
			cancel()
		}
	}
	if status := <-done; status != statusDone {
		t.Errorf("exit status %d: %s", status, said)
	}
}

// With --crawl, fetched pages are searchable while the server serves.
func TestServeAndCrawl(t *testing.T) {
	site := tideSite(t)
	data := filepath.Join(t.TempDir(), "data")
	s := startServe(t, "--data", data, "--log-level", "error", "serve", "--crawl", site, "--allow-private", "--delay", "0s", "--follow")
	until(t, func() bool { return strings.Contains(s.get("/api/query?q=tide"), "The tide table") })
	if body := s.get("/doc?url=" + url.QueryEscape(site)); !strings.Contains(body, `id="crawl"`) {
		t.Error("the page does not tell what the crawl does with it")
	}
	mustRun(t, "--data", data, "wait")
	said := s.stop()
	if _, err := os.Stat(repository.IndexDir(data)); err != nil || strings.Count(said, "stopping: ") != 1 {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestServeRefuses(t *testing.T) {
	data := lighthouseData(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--listen", "0.0.0.0:0"}, "--allow-remote"},
		{[]string{"--listen", "0.0.0.0:0", "--allow-remote"}, "--token-file"},
		{[]string{"--listen", "nowhere"}, "HOST:PORT"},
		{[]string{"--listen", "127.0.0.1:0", "--crawl", "https://skerryrock.example/", "--shard", "nowhere"}, "see `indexer serve --help`"},
		{[]string{"--user", "a"}, "must be given together"},
		{[]string{"--user", "a", "--password-file", secret}, "at least 8"},
		{[]string{"--token-file", secret}, "at least 16"},
		{[]string{"--token-file", secret, "--user", "a"}, "excludes"},
		{[]string{"--token-file", secret + "no"}, "no such file"},
		{[]string{"--listen", "127.0.0.1:0", "--crawl", "missing.txt"}, "no such file"},
		{[]string{"more"}, "no arguments"},
	} {
		var out, errs strings.Builder
		status := run(t.Context(), append([]string{"--data", data, "serve"}, tt.args...), strings.NewReader(""), &out, &errs)
		if status != statusUsage || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%q: exit status %d: %s", tt.args, status, errs.String())
		}
	}
	var out, errs strings.Builder
	if status := run(t.Context(), []string{"--data", t.TempDir(), "serve", "--listen", "127.0.0.1:0"}, strings.NewReader(""), &out, &errs); status != statusUsage {
		t.Errorf("an empty directory: exit status %d: %s", status, errs.String())
	}
}

func TestServeWithToken(t *testing.T) {
	data := lighthouseData(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("0123456789abcdef0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, "--data", data, "serve", "--token-file", secret, "--follow")
	if status, _ := s.do("/", nil); status != http.StatusUnauthorized {
		t.Errorf("without token: %d", status)
	}
	status, _ := s.do("/", func(r *http.Request) { r.Header.Set("Authorization", "Bearer 0123456789abcdef0123") })
	if status != http.StatusOK {
		t.Errorf("with token: %d", status)
	}
	if said := s.stop(); !strings.Contains(said, "indexer: --follow has no effect without --crawl\n") {
		t.Errorf("of a flag without effect, it says\n%s", said)
	}
}

// A server on all addresses names one that a browser can open.
func TestOpenable(t *testing.T) {
	for listener, want := range map[string]string{
		"127.0.0.1:7070": "http://127.0.0.1:7070/",
		"[::1]:7070":     "http://[::1]:7070/",
		"0.0.0.0:7070":   "http://localhost:7070/ and all other addresses of this machine",
		"[::]:7070":      "http://localhost:7070/ and all other addresses of this machine",
	} {
		if got := openable(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(listener))); got != want {
			t.Errorf("%s: %s, want %s", listener, got, want)
		}
	}
}
