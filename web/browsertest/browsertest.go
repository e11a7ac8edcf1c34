// Package browsertest drives a real Chromium in tests of pages: it opens a tab, records
// the browser's complaints and requests, shows a page in several sizes and colour
// schemes, and checks it with axe-core.
//
// Tests skip with a message if the browser or axe-core is missing. Environment variables:
//
//	INDEXER_BROWSER      path of the browser, if it is not found as chromium
//	INDEXER_AXE          axe.min.js of axe-core
//	INDEXER_SCREENSHOTS  directory for screenshots
//	INDEXER_PICTURES     directory for the pictures in documents
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Limits, in case the browser hangs.
const (
	testTime = 10 * time.Minute
	pageTime = 60 * time.Second
)

// Tab is a tab in a browser of its own, which ends with the test.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// Find returns the path of a browser, and skips the test if there is none.
func Find(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("skipping a slow browser test with -short")
	}
	if name := os.Getenv("INDEXER_BROWSER"); name != "" {
		return name
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium found; install the package chromium, or set INDEXER_BROWSER")
	return ""
}

// Open starts a browser and opens a tab.
func Open(t testing.TB) *Tab {
	t.Helper()
	temp, err := os.MkdirTemp("", "browser-") // not of t: the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(Find(t)), chromedp.Env("TMPDIR="+temp), chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(testTime))
	if os.Geteuid() == 0 { // its sandbox does not work as root
		options = append(options, chromedp.NoSandbox)
	}
	bounded, cancelTime := context.WithTimeout(t.Context(), testTime)
	alloc, cancelAlloc := chromedp.NewExecAllocator(bounded, options...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		cancel()
		cancelAlloc()
		cancelTime()
		if c := chromedp.FromContext(ctx); c != nil && c.Allocator != nil {
			c.Allocator.Wait()
		}
		_ = os.RemoveAll(temp) // some process of the browser may write for another moment
	})
	b := &Tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.hear)
	b.Run(network.Enable(), runtime.Enable(), log.Enable())
	return b
}

// hear records complaints and requests of the browser.
func (b *Tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// Run runs actions in order; a failure ends the test.
func (b *Tab) Run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// Visit opens a page and waits until it is ready.
func (b *Tab) Visit(url string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, pageTime)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.Navigate(url), chromedp.WaitReady("body")); err != nil {
		b.t.Fatalf("%s: %v", url, err)
	}
}

// Eval evaluates an expression on the page and stores the value in a variable.
func (b *Tab) Eval(expression string, into any) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(expression, into))
}

// Want checks the value of an expression on the page, as a string.
func (b *Tab) Want(when, expression, want string) {
	b.t.Helper()
	var got string
	b.Eval(`String(`+expression+`)`, &got)
	if got != want {
		b.t.Errorf("%s: %s is %q, want %q", when, expression, got, want)
	}
}

// Await is like Eval, and awaits the promise that is the value of the expression.
func (b *Tab) Await(expression string, into any) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(expression, into, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
}

// Until waits until an expression on the page is true.
func (b *Tab) Until(expression string) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(pageTime))); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// Complaints returns the errors and warnings so far of scripts, console and policies.
func (b *Tab) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.complaints)
}

// Quiet fails the test if the browser complained, or sent a request to any other server.
func (b *Tab) Quiet(server string) {
	b.t.Helper()
	for _, c := range b.Complaints() {
		b.t.Errorf("the browser complains: %s", c)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, server+"/") && !strings.HasPrefix(r, "data:") && r != "about:blank" {
			b.t.Errorf("the browser requested %s", r)
		}
	}
}
