package render_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/render"
	"github.com/webindexer/indexer/web/browsertest"
)

// TestHostilePages gives the browser pages that want to hang it, fill it, or leave it. Each ends
// within its limits, no request reaches the listener, and the next page is rendered as usual.
func TestHostilePages(t *testing.T) {
	var reached atomic.Int64
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer listener.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	b := open(t, render.Limits{HTMLBytes: 1 << 20, Requests: 100, HeapMiB: 64, RealTime: time.Minute})
	impatient := open(t, render.Limits{RealTime: 2 * time.Second}) // several times what a page needs to begin to hang
	at, host := listener.URL, strings.TrimPrefix(listener.URL, "http://")

	for name, tt := range map[string]struct {
		body    string
		failure string // part of it; "" if there is a document
		hangs   bool
		want    string // part of the document
	}{
		"loop":                 {body: `<p>before<script>for (;;);</script>`, hangs: true, failure: "not complete after"},
		"loop of promises":     {body: `<p>before<script>const f = () => Promise.resolve().then(f); f()</script>`, hangs: true, failure: "not complete after"},
		"loop of timers":       {body: `<p>before<script>const f = () => { setTimeout(f, 0); setTimeout(f, 0) }; f()</script>`, hangs: true, failure: "not complete after"},
		"loop of messages":     {body: `<p>before<script>onmessage = () => postMessage(1, "*"); postMessage(1, "*")</script>`},
		"loop in a worker":     {body: `<p id=p>before<script>try { new Worker("data:text/javascript,for(;;);") } catch { p.textContent = "no workers" }</script>`, want: "no workers"},
		"memory":               {body: `<p>before<script>const a = []; for (;;) a.push(new Array(1e6).fill({}))</script>`, failure: "crashed the process"},
		"a large document":     {body: `<script>document.write("x".repeat(3e6))</script>`, failure: "more than 1048576 bytes"},
		"a deep document":      {body: `<script>let n = document.body; for (let i = 0; i < 20000; i++) n = n.appendChild(document.createElement("b")); n.textContent = "deep"</script>`, want: "deep"},
		"many requests":        {body: `<p>before<script>for (let i = 0; i < 3000; i++) new Image().src = "/" + i + ".png"</script>`, want: "before"},
		"dialogs":              {body: `<p id=p><script>alert(1); p.textContent = confirm("a") + " " + prompt("b"); onbeforeunload = () => "stay"</script>`, want: "false null"},
		"windows":              {body: `<p id=p><script>p.textContent = "opened " + open("` + at + `")</script>`, want: "opened null"},
		"another page":         {body: `<p>still here<script>location = "` + at + `"</script>`, want: "still here"},
		"another page, later":  {body: `<p>still here<script>setTimeout(() => location.replace("https://other.example/"), 100)</script>`, want: "still here"},
		"an empty page":        {body: `<p>still here<script>location = "about:blank"</script>`, want: "still here"},
		"a page of its own":    {body: `<p>still here<script>location = URL.createObjectURL(new Blob(["gone"], {type: "text/html"}))</script>`, want: "still here"},
		"a page of a frame":    {body: `<p>still here<iframe srcdoc="<script>top.location = 'about:blank'</script>"></iframe>`, want: "still here"},
		"a page of Chromium":   {body: `<p>still here<script>location = "chrome://crash"</script>`, want: "still here"},
		"back":                 {body: `<p>still here<script>history.back(); setTimeout(() => history.go(-1), 100)</script>`, want: "still here"},
		"back in a frame":      {body: `<p>still here<iframe srcdoc="<script>history.back(); parent.history.go(-1)</script>"></iframe>`, want: "still here"},
		"back in the page":     {body: `<p id=p>x<script>history.pushState(1, "", "?a"); onpopstate = () => p.textContent = "popped " + history.state; history.back()</script>`, want: "popped null"},
		"an empty page, late":  {body: `<p>still here<script>setTimeout(() => document.head.insertAdjacentHTML("beforeend", "<meta http-equiv=refresh content='0;url=about:blank'>"), 100)</script>`, want: "still here"},
		"an empty page, link":  {body: `<p>still here<a id=a href="about:blank">x</a><script>a.click()</script>`, want: "still here"},
		"reloads":              {body: `<p>still here<script>setTimeout(() => location.reload(), 10)</script>`, want: "still here"},
		"a refresh":            {body: `<meta http-equiv=refresh content="1;url=` + at + `"><p>still here`, want: "still here"},
		"a form":               {body: `<form action="` + at + `" method=post><input name=a></form><p>still here<script>document.forms[0].submit()</script>`, want: "still here"},
		"a download":           {body: `<a id=a download href="data:application/octet-stream,hello">x</a><p>still here<script>a.click()</script>`, want: "still here"},
		"files":                {body: `<p id=p>x</p><iframe src="file:///etc/passwd"></iframe><script>fetch("file:///etc/passwd").catch(() => p.textContent = "no files")</script>`, want: "no files"},
		"a frame of data":      {body: `<p>before</p><iframe src="data:text/html,<script>parent.location='` + at + `'</script>"></iframe>`, want: "before"},
		"loopback":             {body: `<p id=p>x</p><img src="` + at + `/i.png"><script src="` + at + `/s.js"></script><script>fetch("` + at + `").catch(() => p.textContent = "none")</script>`, want: "none"},
		"metadata":             {body: `<p id=p>x</p><script>fetch("http://169.254.169.254/latest/meta-data/").catch(() => p.textContent = "none")</script>`, want: "none"},
		"beacons":              {body: `<p>before<script>navigator.sendBeacon("` + at + `", "x"); fetch("` + at + `", {method: "POST", keepalive: true, body: "x"})</script>`, want: "before"},
		"sockets":              {body: `<p id=p>x<script>new WebSocket("ws://` + host + `").onclose = () => p.textContent = "closed"</script>`, want: "closed"},
		"events":               {body: `<p>before<script>new EventSource("` + at + `")</script>`, want: "before"},
		"peers":                {body: `<p id=p>x<script>p.textContent = typeof RTCPeerConnection</script>`, want: "undefined"},
		"a peer of a frame":    {body: `<p id=p>x<iframe id=f></iframe><script>p.textContent = typeof f.contentWindow.RTCPeerConnection</script>`, want: "undefined"},
		"service workers":      {body: `<p id=p>x<script>p.textContent = "serviceWorker" in navigator</script>`, want: "false"},
		"hints":                {body: `<link rel=dns-prefetch href="//` + host + `"><link rel=preconnect href="` + at + `"><link rel=prefetch href="` + at + `"><link rel=modulepreload href="` + at + `/m.js"><p>before`, want: "before"},
		"changed prototypes":   {body: `<p>before<script>Object.defineProperty(Document.prototype, "documentElement", {get() { return null }}); Array.prototype.join = () => "nothing"; Node.prototype.nodeType = 0; String.prototype.replace = () => "nothing"; Array.prototype.toJSON = () => 1; Element.prototype.attributes = []</script>`, want: "before"},
		"no document":          {body: `<p>before<script>document.documentElement.remove()</script>`, want: "<!DOCTYPE html>"},
		"a document of frames": {body: `<p>before</p>` + strings.Repeat(`<iframe src="/self"></iframe>`, 5), want: "before"},
		"print":                {body: `<p>before<script>print(); window.close(); stop()</script>`, want: "before"},
	} {
		t.Run(name, func(t *testing.T) {
			w := web{home: {"text/html", tt.body}}
			w["https://site.example/self"] = w[home]
			browser := b
			if tt.hangs {
				browser = impatient
			}
			res := show(t, browser, w)
			switch {
			case tt.failure != "" && !strings.Contains(res.Failure, tt.failure), tt.failure == "" && res.Failure != "":
				t.Errorf("failure %q, want one with %q", res.Failure, tt.failure)
			case res.MayPass != (tt.hangs || name == "memory"):
				t.Errorf("failure %q: MayPass is %t", res.Failure, res.MayPass)
			case !strings.Contains(string(res.HTML), tt.want):
				t.Errorf("the document lacks %q:\n%.500s", tt.want, res.HTML)
			}
			if len(res.Requests) > 100 {
				t.Errorf("%d requests", len(res.Requests))
			}
		})
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests left the browser", n)
	}
	impatient.SetRealTime(time.Minute)
	if res := show(t, impatient, web{home: {"text/html", "<p>quiet"}}); !strings.Contains(string(res.HTML), "quiet") {
		t.Errorf("after all, a quiet page is %q, failure %q", res.HTML, res.Failure)
	}
}

// TestNoTabs: links and forms of a page open no tabs, which would run beside it without limits.
func TestNoTabs(t *testing.T) {
	b := open(t, render.Limits{})
	tabs := make(map[string]int)
	for _, ways := range []string{"", "a.click(); b.click(); f.submit()"} {
		w := web{home: {"text/html", `<a id=a target=_blank href="about:blank">x</a><a id=b target=_blank rel=opener href="about:blank">x</a>
			<form id=f target=other action="https://other.example/"></form><script>` + ways + `</script><script src=last.js></script>`}}
		_, err := b.Render(t.Context(), w[home].fetch(home), func(ctx context.Context, u page.URL) (*page.Fetch, error) {
			tabs[ways] = b.Tabs(t)
			return w.lookup(ctx, u)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for ways, n := range tabs {
		if n == 0 || n != tabs[""] {
			t.Errorf("the browser has %d tabs after %q, and %d without", n, ways, tabs[""])
		}
	}
}

// TestSameBytes renders a page with timers, chance, dates and races again and again, two at a
// time.
func TestSameBytes(t *testing.T) {
	b := open(t, render.Limits{})
	w := web{
		home: {"text/html", `<p id=p></p><script>
			const say = s => p.append(s + "; ");
			say(Math.random()); say(crypto.randomUUID()); say(crypto.getRandomValues(new Uint8Array(4))); say(Date.now() - 1767225600000 < 1000);
			say(new Date().getFullYear()); say(innerWidth + "x" + innerHeight); say(navigator.language); say(new Date().getTimezoneOffset());
			for (const name of ["b", "a", "c"]) fetch(name + ".json").then(r => r.json()).then(d => say("fetched " + d.slice(0, 1))).catch(() => say("no " + name));
			setTimeout(() => say("later"), 50); setTimeout(() => say("soon"), 10);
			let n = 0; const tick = () => { if (++n < 30) requestAnimationFrame(tick); else say("ticked " + Math.round(performance.now() / 100)) }; tick();
			new IntersectionObserver(e => say("seen " + e[0].isIntersecting)).observe(p);
			const from = performance.now(); setInterval(() => { if (performance.now() - from > 3000 && n < 99) { n = 99; say("long after") } }, 100);
			</script>`},
		"https://site.example/a.json": {"application/json", `"a"`},
		"https://site.example/b.json": {"application/json", `"` + strings.Repeat("b", 100_000) + `"`},
		"https://site.example/c.json": {"application/json", `"c"`},
	}
	first := show(t, b, w)
	if !strings.Contains(string(first.HTML), "long after") || !strings.Contains(string(first.HTML), "seen true") {
		t.Fatalf("the page is not complete: %s", first.HTML)
	}
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for range testenv.Size(1, 3, 100) {
				again, err := b.Render(t.Context(), w[home].fetch(home), w.lookup)
				if err != nil {
					t.Error(err)
				} else if string(again.HTML) != string(first.HTML) || fmt.Sprint(again.Requests) != fmt.Sprint(first.Requests) {
					t.Errorf("%v\n%s\nthe first: %v\n%s", again.Requests, again.HTML, first.Requests, first.HTML)
				}
			}
		})
	}
	group.Wait()
}

// TestKilledBrowser kills the browser while a page waits for a resource. That is no fault of
// the page, and the next attempt starts another browser.
func TestKilledBrowser(t *testing.T) {
	b := open(t, render.Limits{})
	w := web{home: {"text/html", `<p id=p>x<script src=a.js></script>`}, "https://site.example/a.js": {"text/javascript", `p.textContent = "ran"`}}
	_, err := b.Render(t.Context(), w[home].fetch(home), func(ctx context.Context, u page.URL) (*page.Fetch, error) {
		b.Kill(t)
		return w.lookup(ctx, u)
	})
	if err == nil {
		t.Error("a page was rendered by a dead browser")
	}
	if res := show(t, b, w); !strings.Contains(string(res.HTML), "ran") {
		t.Errorf("after that: %s", res.HTML)
	}
}

// TestErrors returns errors of the lookup and of the context as they are.
func TestErrors(t *testing.T) {
	b := open(t, render.Limits{})
	w := web{home: {"text/html", `<script src=a.js></script>`}}
	broken := errors.New("the table is broken")
	if _, err := b.Render(t.Context(), w[home].fetch(home), func(context.Context, page.URL) (*page.Fetch, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("a broken lookup: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := b.Render(ctx, w[home].fetch(home), func(ctx context.Context, _ page.URL) (*page.Fetch, error) {
		cancel()
		return nil, nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled rendering: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Render(t.Context(), w[home].fetch(home), w.lookup); !errors.Is(err, render.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	missing := render.New(render.Options{Path: "/nowhere/chromium"})
	if _, err := missing.Render(t.Context(), w[home].fetch(home), w.lookup); err == nil || !strings.Contains(err.Error(), "/nowhere/chromium") {
		t.Errorf("without a program: %v", err)
	}
}

// TestLifetime: the browser restarts after a number of pages, and leaves no files behind: none in
// the home directory, and no temporary ones, not even the profile of a killed process.
func TestLifetime(t *testing.T) {
	temp, err := os.MkdirTemp("/tmp", "") // not of t: its path would be too long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	homeDir := t.TempDir()
	t.Setenv("HOME", homeDir)
	t.Setenv("TMPDIR", temp)
	abandoned := filepath.Join(os.TempDir(), "indexer-browser-killed")
	if err := errors.Join(os.Mkdir(abandoned, 0o700), os.WriteFile(filepath.Join(abandoned, "indexer.lock"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	starts := 0
	b := render.New(render.Options{Path: browsertest.Find(t), Lifetime: 2, Starting: func() { starts++ }})
	w := web{home: {"text/html", "<p>quiet"}}
	for range 4 {
		show(t, b, w)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if starts != 2 {
		t.Errorf("the browser was started %d times for 4 pages, want 2", starts)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	if left, err := os.ReadDir(homeDir); err != nil || len(left) > 0 {
		t.Errorf("files are left in the home directory: %v, %v", left, err)
	}
}

// TestLongTemporaryDirectory: the path of the browser's socket would be longer than a socket's may be.
func TestLongTemporaryDirectory(t *testing.T) {
	temp := filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	b := open(t, render.Limits{})
	w := web{home: {"text/html", "<p id=p><script>p.textContent = 'ran'</script>"}}
	if res := show(t, b, w); !strings.Contains(string(res.HTML), "ran") {
		t.Errorf("rendered: %s", res.HTML)
	}
}
