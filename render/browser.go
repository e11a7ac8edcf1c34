package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/webindexer/indexer/page"
)

// Options say which browser to use, and how.
type Options struct {
	// Path is the program (see Find).
	Path string
	// Starting is called before the program is started; nil for nothing.
	Starting func()
	// Lifetime is after how many pages the browser is started anew, because processes grow.
	// Default: 500
	Lifetime int
	Limits   Limits
}

// Browser renders pages in one Chromium, each page in a browser context of its own. It starts
// the program when the first page comes, and again after it has died. It is safe for
// concurrent use.
type Browser struct {
	opts  Options
	slots chan struct{} // a token for each page that may be rendered at a time

	mu     sync.Mutex
	closed bool
	now    *process // nil before the first page, and after the process has died
}

// ErrClosed says that Close was called.
var ErrClosed = errors.New("render: the browser is closed")

// pagesAtATime is how many pages a browser renders at a time.
const pagesAtATime = 2

// startTime bounds the start of the program on a busy machine, and endTime how long it may take to
// leave before it is killed.
const (
	startTime = 60 * time.Second
	endTime   = 3 * time.Second
)

// New returns a browser that is not running yet.
func New(o Options) *Browser {
	o.Lifetime, o.Limits = cmp.Or(o.Lifetime, 500), o.Limits.withDefaults()
	return &Browser{opts: o, slots: make(chan struct{}, pagesAtATime)}
}

// Render renders a page. An error is one of the context, of lookup, or of the browser; if it is
// not of the context or of lookup, another attempt may succeed.
func (b *Browser) Render(ctx context.Context, f *page.Fetch, lookup Lookup) (*Result, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p, err := b.acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", f.URL, err)
	}
	defer b.release(p)
	res, err := p.render(ctx, b.opts.Limits, f, lookup)
	if err != nil {
		b.drop(p) // whatever is wrong with it, the next page gets another one
		return nil, fmt.Errorf("render %s: %w", f.URL, err)
	}
	return res, nil
}

// Close ends the browser and waits for it. Pages that are being rendered fail. Close may be
// called for a nil browser.
func (b *Browser) Close() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	p := b.now
	b.now, b.closed = nil, true
	b.mu.Unlock()
	if p != nil {
		p.end()
	}
	for range cap(b.slots) { // the pages that are being rendered
		b.slots <- struct{}{}
	}
	for range cap(b.slots) {
		<-b.slots
	}
	return nil
}

// acquire returns a running browser process, which the caller gives back with release.
func (b *Browser) acquire(ctx context.Context) (*process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	if p := b.now; p != nil && p.ctx.Err() != nil {
		b.now = nil // it has died
		p.retire()
	}
	if b.now == nil {
		p, err := start(ctx, b.opts)
		if err != nil {
			return nil, err
		}
		b.now = p
	}
	p := b.now
	p.users++
	if p.pages++; p.pages >= b.opts.Lifetime {
		b.now = nil // the last user ends it
		p.retired = true
	}
	return p, nil
}

func (b *Browser) release(p *process) {
	b.mu.Lock()
	p.users--
	last := p.retired && p.users == 0
	b.mu.Unlock()
	if last {
		p.end()
	}
}

// drop makes the next page start another process.
func (b *Browser) drop(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == p {
		b.now = nil
	}
	p.retired = true
}

// process is a running Chromium.
type process struct {
	ctx     context.Context // of chromedp; ends with the process
	cancel  context.CancelFunc
	profile *profile

	ending sync.Once

	// Guarded by Browser.mu.
	users, pages int
	retired      bool // ended by its last user
}

func start(ctx context.Context, o Options) (*process, error) {
	if o.Starting != nil {
		o.Starting()
	}
	files, err := newProfile()
	if err != nil {
		return nil, err
	}
	var said output
	// Chromium and its libraries also write elsewhere: a socket, crash reports, settings of the
	// desktop. All of that goes into the profile.
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.WithoutCancel(ctx), append(flags(o), chromedp.UserDataDir(files.dir),
		chromedp.Env("TMPDIR="+files.dir, "XDG_CONFIG_HOME="+files.dir, "XDG_CACHE_HOME="+files.dir), chromedp.CombinedOutput(&said))...)
	// chromedp writes to the log what it does not understand of newer browsers.
	browser, cancelBrowser := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {}))
	p := &process{ctx: browser, profile: files, cancel: func() { cancelBrowser(); cancelAlloc() }}
	started := make(chan error, 1)
	go func() { started <- chromedp.Run(browser) }()
	select {
	case err = <-started:
	case <-ctx.Done():
		p.cancel()
		<-started
		err = ctx.Err()
	}
	if err != nil {
		p.end()
		return nil, fmt.Errorf("start the browser %s: %w%s", o.Path, err, said.hint())
	}
	return p, nil
}

// flags are the command line of the browser. DefaultExecAllocatorOptions turn off the
// background activity of a browser.
func flags(o Options) []chromedp.ExecAllocatorOption {
	list := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(o.Path),
		chromedp.WSURLReadTimeout(startTime),
		chromedp.WindowSize(viewportWidth, viewportHeight),
		// No network.
		chromedp.ProxyServer("http://proxy.invalid:1"),
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("force-webrtc-ip-handling-policy", "disable_non_proxied_udp"),
		chromedp.Flag("dns-prefetch-disable", true),
		// Frames of all sites in the process of their page, so that one session sees all requests.
		chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("disable-features", "IsolateOrigins,site-per-process,Translate,BackForwardCache,ServiceWorkerPaymentApps,OptimizationHints,MediaRouter"),
		chromedp.Flag("disable-web-security", true),
		chromedp.Flag("disable-popup-blocking", false), // of DefaultExecAllocatorOptions
		chromedp.Flag("disable-3d-apis", true),
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("force-prefers-reduced-motion", true),
		chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("lang", "en-US"),
		chromedp.Flag("js-flags", fmt.Sprintf("--max-old-space-size=%d", o.Limits.HeapMiB)),
		chromedp.Env("TZ=UTC", "LANGUAGE=en_US"),
	)
	if !Sandboxed() {
		list = append(list, chromedp.NoSandbox)
	}
	return list
}

// retire ends a process that has died. Its users have failed already, or are about to.
func (p *process) retire() {
	p.retired = true
	if p.users == 0 {
		p.end()
	}
}

// end kills the process, waits for it, and removes its profile.
func (p *process) end() {
	p.ending.Do(func() {
		c := chromedp.FromContext(p.ctx)
		p.cancel()
		if c != nil && c.Allocator != nil {
			c.Allocator.Wait()
		}
		p.profile.remove()
	})
}

// output keeps the end of what the browser writes.
type output struct {
	mu   sync.Mutex
	text []byte
}

const keptOutput = 4 << 10

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b...)
	if extra := len(o.text) - keptOutput; extra > 0 {
		o.text = append(o.text[:0], o.text[extra:]...)
	}
	return len(b), nil
}

// hint says what to do if the browser wrote why it does not start.
func (o *output) hint() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.Contains(string(o.text), "No usable sandbox") {
		return "; the system lets it have no sandbox: allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)"
	}
	return ""
}
