package live_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"indexer/web/live"
)

// browserTime bounds a test: a browser that hangs is no reason to wait for ever.
const browserTime = 3 * time.Minute

// openBrowser opens a tab, and gathers what it complains of. It skips, saying so, where
// there is no browser; INDEXER_BROWSER names one.
func openBrowser(t *testing.T) (ctx context.Context, complaints func() []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time; not with -short")
	}
	name := os.Getenv("INDEXER_BROWSER")
	for _, known := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(known); err == nil && name == "" {
			name = path
		}
	}
	if name == "" {
		t.Skip("there is no Chromium here; install the package chromium, or name one with INDEXER_BROWSER")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(name), chromedp.WSURLReadTimeout(browserTime))
	if os.Geteuid() == 0 { // its sandbox needs another user
		options = append(options, chromedp.NoSandbox)
	}
	bounded, cancelTime := context.WithTimeout(t.Context(), browserTime)
	alloc, cancelAlloc := chromedp.NewExecAllocator(bounded, options...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		cancel()
		cancelAlloc()
		cancelTime()
		if c := chromedp.FromContext(ctx); c != nil && c.Allocator != nil {
			c.Allocator.Wait()
		}
	})
	var mu sync.Mutex
	var list []string
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			list = append(list, e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
				list = append(list, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	if err := chromedp.Run(ctx, runtime.Enable(), log.Enable()); err != nil {
		t.Fatal(err)
	}
	return ctx, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return list
	}
}

// The page gets events and shows them: the graph has points, and figures of pages that
// were loaded after it was opened. With INDEXER_SCREENSHOTS set to a directory, pictures
// are left there.
func TestStatusInABrowser(t *testing.T) {
	ctx, complaints := openBrowser(t)
	r := openRepository(t)
	frontier := &live.Frontier{New: 1204, Revisits: 88, HostsTotal: 3, Running: true, PerSecond: 3.2, Pages: 5120, Hosts: []live.Host{
		{Host: "lighthouse.example", New: 900, Revisits: 80, Why: "politeness: 1 s between two requests, for 400ms"},
		{Host: "slow.example", New: 300, Revisits: 8, Why: "left alone until 2026-01-01 12:00:00: it answered 503 four times"},
		{Host: "quiet.example", New: 4, Why: "waits for its turn"},
	}}
	_, server := watch(t, watched{r, frontier}, live.Options{})
	load(t, r, 0, 3)
	if err := r.Quiesce(ctx); err != nil {
		t.Fatal(err)
	}
	run := func(actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	var hosts string
	run(
		emulation.SetDeviceMetricsOverride(1280, 900, 1, false),
		chromedp.Navigate(server.URL+"/status"),
		chromedp.WaitVisible("[data-updates]", chromedp.ByQuery),
		chromedp.Poll(`document.querySelector('[data-text="o/document/rows"]').textContent === "3"`, nil, chromedp.WithPollingTimeout(browserTime)),
	)
	for i := range 8 {
		load(t, r, 3+i*30, 3+(i+1)*30)
		if err := r.Quiesce(ctx); err != nil {
			t.Fatal(err)
		}
		run(chromedp.Poll(fmt.Sprintf(`Number(document.querySelector("[data-graph]").dataset.points) > %d`, i+1), nil, chromedp.WithPollingTimeout(browserTime)))
	}
	run(
		chromedp.Poll(`document.querySelector('[data-text="o/document/rows"]').textContent === "243"`, nil, chromedp.WithPollingTimeout(browserTime)),
		chromedp.Poll(`document.querySelectorAll(".canvas .p50").length > 0`, nil, chromedp.WithPollingTimeout(browserTime)),
		chromedp.Text(`[data-hosts]`, &hosts, chromedp.ByQuery),
	)
	if !strings.Contains(hosts, "lighthouse.example") {
		t.Errorf("the hosts shown are %q", hosts)
	}
	var labels []string
	run(chromedp.Evaluate(`Array.from(document.querySelectorAll(".canvas text"), e => e.textContent)`, &labels))
	for _, l := range labels {
		if len([]rune(l)) > 8 {
			t.Errorf("the graph has the label %q", l)
		}
	}
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"status-desktop-light", "light", 1280, 900}, {"status-desktop-dark", "dark", 1280, 900}, {"status-phone-light", "light", 390, 844}, {"status-phone-dark", "dark", 390, 844}} {
		var wide bool
		run(
			emulation.SetDeviceMetricsOverride(look.width, look.height, 1, look.width < 600),
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}),
			chromedp.Evaluate(`document.documentElement.scrollWidth > innerWidth`, &wide),
		)
		if wide {
			t.Errorf("%s: the page is wider than the window", look.name)
		}
		keepPicture(t, ctx, look.name)
	}
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %q", list)
	}
}

func keepPicture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("INDEXER_SCREENSHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	if err := chromedp.Run(ctx, chromedp.FullScreenshot(&picture, 100)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}
