package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/web/browsertest"
)

var packed fixture

// warcs are two recorded webs.
func warcs(t *testing.T) (lighthouse, bakery string) {
	t.Helper()
	names := []string{"lighthouse", "bakery"}
	dir := packed.at(t, func(dir string) {
		for _, name := range names {
			mustRun(t, "pack", "../testdata/sites/"+name+".txt", "-o", filepath.Join(dir, name))
		}
	})
	return filepath.Join(dir, names[0]), filepath.Join(dir, names[1])
}

// A server gives the data directory to a replay and takes it again when that has ended,
// however that ends. Every request meanwhile gets an answer.
func TestServeHandsOver(t *testing.T) {
	t.Parallel()
	data := lighthouseData(t)
	_, bakery := warcs(t)
	_, s := serveChild(t, "", data)
	v := visitAll(s)
	for _, end := range []struct {
		how    string
		status int
		signal syscall.Signal
	}{{"at its end", 0, 0}, {"killed", -1, syscall.SIGKILL}} {
		pipe := fifo(t)
		replay := startChild(t, "", "--data", data, "replay", pipe)
		replay.Until("to release the data directory")
		w := attach(t, pipe) // it has the directory
		until(t, s.isElsewhere)
		v.untilState("good") // of the replay
		if end.signal == 0 {
			feedPipe(t, w, bakery)
		} else {
			replay.Signal(end.signal)
			_ = w.Close() // nobody reads
		}
		if status := replay.ends(); status != end.status {
			t.Errorf("%s: exit status %d: %s", end.how, status, replay.Said())
		}
		until(t, s.isHere)
		v.untilState("good") // of the server
	}
	if n := v.leave(); n[http.StatusOK] == 0 {
		t.Errorf("answers: %v", n)
	}
	if found := s.get("/api/query?q=bread"); !strings.Contains(found, "example") {
		t.Errorf("what was replayed is not found: %s", found)
	}
	mustRun(t, "--data", data, "verify")
}

// Either side may be killed at any step of a handover. The other one continues, and the
// stored data is right.
func TestKilledInAHandover(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		serve, replay string // failpoints
		status        int    // of the replay
	}{
		{serve: "releasing=kill", status: 0},
		{serve: "released=kill", status: 0},
		{serve: "taken=kill", status: 0},
		{replay: "asked=kill", status: -1},
	} {
		t.Run(tt.serve+tt.replay, func(t *testing.T) {
			data := lighthouseData(t)
			_, bakery := warcs(t)
			server, s := serveChild(t, tt.serve, data)
			replay := startChild(t, tt.replay, "--data", data, "replay", bakery)
			if status := replay.ends(); status != tt.status {
				t.Errorf("the replay: exit status %d, want %d: %s", status, tt.status, replay.Said())
			}
			if tt.serve != "" {
				if status := server.ends(); status != -1 {
					t.Errorf("the server: exit status %d: %s", status, server.Said())
				}
				server, s = serveChild(t, "", data)
			} else {
				server.Until("this server has taken it back")
			}
			if s.isElsewhere() {
				t.Error("nobody else has the directory")
			}
			if status := startChild(t, "", "--data", data, "replay", bakery).ends(); status != 0 {
				t.Errorf("the same replay again: exit status %d", status)
			}
			server.Until("this server has taken it back")
			mustRun(t, "--data", data, "verify")
			server.Signal(syscall.SIGTERM)
			if status := server.ends(); status != 0 {
				t.Errorf("the server: exit status %d: %s", status, server.Said())
			}
		})
	}
}

// A command that is stopped between asking for the directory and taking it is not waited
// for: the server takes it back, and the command asks again.
func TestStoppedInAHandover(t *testing.T) {
	t.Parallel()
	data := lighthouseData(t)
	_, bakery := warcs(t)
	server, s := serveChild(t, "", data)
	v := visitAll(s)
	replay := startChild(t, "asked=stop", "--data", data, "replay", bakery)
	replay.untilStopped()
	server.Until("this server has taken it back")
	replay.Signal(syscall.SIGCONT)
	if status := replay.ends(); status != 0 {
		t.Errorf("exit status %d: %s", status, replay.Said())
	}
	server.Until("asked for the data directory")
	server.Until("this server has taken it back")
	v.leave()
}

// While a holder is stopped, the status page does not know how the pipeline is, and does
// not call it stopped.
func TestServeBesideStopped(t *testing.T) {
	t.Parallel()
	data := lighthouseData(t)
	_, bakery := warcs(t)
	pipe := fifo(t)
	replay := startChild(t, "", "--data", data, "replay", pipe)
	w := attach(t, pipe)
	_, s := serveChild(t, "", data)
	v, _ := newVisitors(s)
	v.untilState("good")
	replay.Signal(syscall.SIGSTOP)
	v.untilState("warn")
	if page := s.get("/status"); !strings.Contains(page, `data-text="fresh/waiting">–`) || !strings.Contains(page, "does not answer") {
		t.Errorf("beside a stopped process:\n%s", page)
	}
	if status, body := s.do("/doc?url=https://skerryrock.example/lamp", nil); status != http.StatusServiceUnavailable || !strings.Contains(body, "search still works") {
		t.Errorf("details beside a stopped process: %d\n%s", status, body)
	}
	replay.Signal(syscall.SIGCONT)
	v.untilState("good")
	feedPipe(t, w, bakery)
	if status := replay.ends(); status != 0 {
		t.Errorf("exit status %d: %s", status, replay.Said())
	}
	v.leave()
}

// A directory that is free and cannot be opened: every page says so, searches continue,
// details are refused at once, and the server takes the directory when it is repaired.
func TestServeBesideDamage(t *testing.T) {
	t.Parallel()
	data := lighthouseData(t)
	holder, _ := serveChild(t, "", data)
	other, s := serveChild(t, "", data)
	other.Signal(syscall.SIGSTOP)
	other.untilStopped()
	holder.Signal(syscall.SIGKILL)
	holder.ends()
	manifests, err := filepath.Glob(filepath.Join(data, "store", "*", "MANIFEST"))
	if err != nil || len(manifests) != 1 {
		t.Fatalf("manifests %q, %v", manifests, err)
	}
	whole, err := os.ReadFile(manifests[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifests[0], []byte("no manifest at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	other.Signal(syscall.SIGCONT)
	other.Until("cannot be opened")
	if body := s.get("/?q=lamp"); !strings.Contains(body, "The data directory cannot be opened") || !strings.Contains(body, "skerryrock.example") {
		t.Errorf("a search beside damage:\n%s", body)
	}
	if status, body := s.do("/api/inspect?url=https://skerryrock.example/lamp", nil); status != http.StatusServiceUnavailable || !strings.Contains(body, "the data directory cannot be opened") {
		t.Errorf("details beside damage: %d %s", status, body)
	}
	if got := s.get("/readyz"); got != "ready\n" {
		t.Errorf("beside damage: %q", got)
	}
	if err := os.WriteFile(manifests[0], whole, 0o600); err != nil {
		t.Fatal(err)
	}
	other.Until("this server has taken it back")
	if body := s.get("/doc?url=https://skerryrock.example/lamp"); strings.Contains(body, "cannot be opened") {
		t.Errorf("the page still says that the directory cannot be opened:\n%s", body)
	}
}

// A request to a server that hands the directory over is repeated to the next holder.
func TestQuestionsSurviveAHandover(t *testing.T) {
	t.Parallel()
	data := lighthouseData(t)
	_, bakery := warcs(t)
	server, s := serveChild(t, "", data)
	var asking sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	asking.Go(func() {
		questions := [][]string{{"stats"}, {"wait"}, {"verify"}, {"inspect", "https://skerryrock.example/lamp"}, {"export"}}
		for n := 0; ctx.Err() == nil; n++ {
			args := questions[n%len(questions)]
			var errs strings.Builder
			if status := run(t.Context(), append([]string{"--data", data}, args...), strings.NewReader(""), io.Discard, &errs); status != statusDone {
				t.Errorf("%q: exit status %d: %s", args, status, errs.String())
			}
		}
	})
	for range 2 {
		if status := startChild(t, "", "--data", data, "replay", bakery).ends(); status != 0 {
			t.Errorf("the replay: exit status %d", status)
		}
		server.Until("this server has taken it back") // once more, or from an earlier time: either is good
	}
	cancel()
	asking.Wait()
	until(t, s.isHere)
}

// Of two servers one has the directory, and the other one takes it when that is killed.
// While a server crawls, no other process may load; once the crawl has ended, others
// may.
func TestServersOnOneDirectory(t *testing.T) {
	t.Parallel()
	data := lighthouseData(t)
	_, bakery := warcs(t)
	holder, _ := serveChild(t, "", data)
	other, s := serveChild(t, "", data)
	if !s.isElsewhere() {
		t.Error("two servers have the directory")
	}
	holder.Signal(syscall.SIGKILL)
	other.Until("this server has taken it back")

	// A site that does not answer before it is let go.
	letGo := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-letGo:
		case <-r.Context().Done():
		}
	}))
	defer site.Close()
	crawl, _ := serveChild(t, "", data, "--log-level", "error", "--crawl", site.URL+"/", "--allow-private", "--delay", "0s")
	other.Until("`indexer serve --crawl` asked for the data directory")
	replay := startChild(t, "", "--data", data, "replay", bakery)
	if status := replay.ends(); status != statusInUse || !strings.Contains(replay.Said(), "`indexer serve --crawl`") {
		t.Errorf("beside a crawl: exit status %d: %s", status, replay.Said())
	}
	close(letGo)
	for status := statusInUse; status != statusDone; { // until the crawl has ended
		again := startChild(t, "", "--data", data, "replay", bakery)
		if status = again.ends(); status != statusDone && status != statusInUse {
			t.Fatalf("exit status %d: %s", status, again.Said())
		}
	}
	crawl.Signal(syscall.SIGTERM)
	if status := crawl.ends(); status != statusDone {
		t.Errorf("the server that crawled: exit status %d: %s", status, crawl.Said())
	}
	mustRun(t, "--data", data, "verify")
}

// A command that only looks something up is waited for by one that loads.
func TestLoadWaitsForAQuestion(t *testing.T) {
	data := lighthouseData(t)
	_, bakery := warcs(t)
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.cfg.Data, a.command = data, "indexer verify"
	s, err := a.open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	replay := startChild(t, "", "--data", data, "replay", bakery)
	replay.Until("waiting for `indexer verify`")
	if err := s.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status := replay.ends(); status != statusDone {
		t.Errorf("exit status %d: %s", status, replay.Said())
	}
}

// What a person sees of a handover in a browser that shows the status page all the time:
// the note comes and goes, the figures are those of the process that works, and nothing
// is ever red.
func TestHandoverInABrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Open(t)
	data := lighthouseData(t)
	_, bakery := warcs(t)
	server, s := serveChild(t, "", data)
	look := browsertest.Looks[0]
	b.Look(look)
	b.Visit(s.url + "/status")
	b.Eval(`window.states = []; new MutationObserver(() => states.push(document.querySelector("[data-state]").dataset.state))
		.observe(document.querySelector("[data-state]"), {attributes: true, attributeFilter: ["data-state"]}); 0`, nil)
	b.Until(`document.querySelector("[data-updates]") && document.querySelectorAll(".note").length === 0`)
	b.Picture("handover-1-holding")

	pipe := fifo(t)
	replay := startChild(t, "", "--data", data, "replay", pipe)
	w := attach(t, pipe)
	b.Until("document.querySelector('.note')?.textContent.includes('indexer replay')")
	feedPipe(t, w, bakery)
	if status := replay.ends(); status != statusDone {
		t.Fatalf("exit status %d: %s", status, replay.Said())
	}
	server.Until("this server has taken it back")
	b.Until(`document.querySelectorAll(".note").length === 0 && document.querySelector("[data-state]").dataset.state === "good"`)
	b.Picture("handover-3-holding-again")

	// A process that holds it and does not answer.
	pipe = fifo(t)
	replay = startChild(t, "", "--data", data, "replay", pipe)
	w = attach(t, pipe)
	b.Until("document.querySelector('.note')?.textContent.includes('indexer replay') && document.querySelector('[data-state]').dataset.state === 'good'")
	b.Picture("handover-2-beside")
	replay.Signal(syscall.SIGSTOP)
	b.Until(`document.querySelector("[data-state]").dataset.state === "warn"`)
	for _, look := range browsertest.Looks {
		b.Look(look)
		b.Fits("handover-stopped-"+look.String(), look)
		b.Picture("handover-4-stopped-" + look.String())
	}
	replay.Signal(syscall.SIGKILL)
	_ = w.Close() // nobody reads
	server.Until("this server has taken it back")
	b.Until(`document.querySelectorAll(".note").length === 0 && document.querySelector("[data-state]").dataset.state === "good"`)
	b.Picture("handover-5-after-a-kill")
	var states []string
	b.Eval(`states`, &states)
	if slices.Contains(states, "bad") {
		t.Errorf("the states were %q", states)
	}
	b.Quiet(s.url)
}
