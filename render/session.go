package render

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/webindexer/indexer/page"
)

//go:embed prelude.js
var prelude string

//go:embed serialise.js
var serialise string

// session is the rendering of one page.
//
// Two goroutines belong to it, besides those of chromedp: its own follows the protocol (load,
// wait, serialise, take pictures), and the answerer answers requests, one after the other. The
// listener of chromedp must not block, so it only puts events into the session's queues.
type session struct {
	limits Limits
	fetch  *page.Fetch
	lookup Lookup

	requests chan *fetch.EventRequestPaused
	progress chan struct{} // gets a token when an answer has arrived

	spent, crashed event // the virtual time is used up; the renderer process has died

	// The answerer's own.
	frames  int  // so far that were asked for
	answers int  // so far
	bytes   int  // of these
	served  bool // the page itself was answered

	mu      sync.Mutex                 // guards the rest
	arrived map[network.RequestID]bool // of requests that wait for an answer: it has arrived to the last byte
	result  Result
	failure string // a limit that the session noticed
	mayPass bool   // Result.MayPass
	broken  error  // of lookup
}

// event is something that happens once. It is a context that ends then.
type event struct {
	context.Context
	happen context.CancelFunc
}

func newEvent() event {
	ctx, cancel := context.WithCancel(context.Background())
	return event{ctx, cancel}
}

// maxPaused is how many requests may wait for their answers. A page that asks for more has
// passed every limit.
const maxPaused = 20_000

// pictureTime bounds a screenshot: a browser that cannot take one costs only the picture.
const pictureTime = 5 * time.Second

func (p *process) render(ctx context.Context, l Limits, f *page.Fetch, lookup Lookup) (*Result, error) {
	s := &session{
		limits: l, fetch: f, lookup: lookup,
		requests: make(chan *fetch.EventRequestPaused, maxPaused),
		progress: make(chan struct{}, 1), arrived: make(map[network.RequestID]bool),
		spent: newEvent(), crashed: newEvent(),
	}
	err := p.inTab(ctx, func(tab context.Context) error { return s.run(ctx, tab) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.broken != nil:
		return nil, s.broken
	case s.failure != "":
		return &Result{Failure: s.failure, MayPass: s.mayPass, Requests: s.result.Requests, Console: s.result.Console}, nil
	case err != nil:
		return nil, err
	}
	return &s.result, nil
}

// inTab calls fn with the context of a new tab, in a browser context of its own. The context
// ends with ctx and with the browser.
func (p *process) inTab(ctx context.Context, fn func(tab context.Context) error) error {
	browserLevel := cdp.WithExecutor(p.ctx, chromedp.FromContext(p.ctx).Browser)
	opening, cancel := context.WithTimeout(browserLevel, startTime)
	defer cancel()
	id, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(opening)
	if err != nil {
		return fmt.Errorf("open a browser context: %w", err)
	}
	defer p.dispose(browserLevel, id)
	if err := browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorDeny).WithBrowserContextID(id).Do(opening); err != nil {
		return fmt.Errorf("refuse downloads: %w", err)
	}
	window, err := target.CreateTarget("about:blank").WithBrowserContextID(id).WithNewWindow(true).Do(opening)
	if err != nil {
		return fmt.Errorf("open a tab: %w", err)
	}
	tab, closeTab := chromedp.NewContext(p.ctx, chromedp.WithTargetID(window))
	defer closeTab()
	stop := context.AfterFunc(ctx, closeTab)
	defer stop()
	return fn(tab)
}

// dispose closes a browser context. If the browser does not do so in time, it is killed, and its
// other pages are rendered again.
func (p *process) dispose(browserLevel context.Context, id cdp.BrowserContextID) {
	closing, cancel := context.WithTimeout(browserLevel, endTime)
	defer cancel()
	if target.DisposeBrowserContext(id).Do(closing) != nil {
		p.cancel()
	}
}

// run renders the page in a tab.
func (s *session) run(ctx context.Context, tab context.Context) error {
	late, cancel := context.WithTimeout(tab, s.limits.RealTime)
	defer cancel()
	if err := chromedp.Run(tab); err != nil { // attaches; the context must be the tab's own
		return fmt.Errorf("attach to a tab: %w", err)
	}
	chromedp.ListenTarget(tab, s.listen)
	var frame cdp.FrameID
	if err := chromedp.Run(late, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		frame, err = s.prepare(ctx)
		return err
	})); err != nil {
		return fmt.Errorf("prepare a tab: %w", err)
	}
	defer context.AfterFunc(s.crashed, cancel)() // a dead process does not answer what it was asked
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		s.answer(late, ctx, frame)
		cancel() // if lookup has failed, no request is answered
	}()
	err := s.load(late, frame)
	cancel()
	<-answered
	return err
}

// prepare fixes what the page can see of the world, and returns the page's frame.
func (s *session) prepare(ctx context.Context) (cdp.FrameID, error) {
	tree, err := cdppage.GetFrameTree().Do(ctx)
	if err != nil {
		return "", err
	}
	begin := cdp.TimeSinceEpoch(epoch)
	_, err = emulation.SetVirtualTimePolicy(emulation.VirtualTimePolicyPause).WithInitialVirtualTime(&begin).Do(ctx)
	if err != nil {
		return "", err
	}
	return tree.Frame.ID, chromedp.Tasks{
		emulation.SetDeviceMetricsOverride(viewportWidth, viewportHeight, 1, false).WithScreenWidth(viewportWidth).WithScreenHeight(viewportHeight),
		emulation.SetTimezoneOverride("UTC"),
		emulation.SetLocaleOverride().WithLocale("en-US"),
		// chromedp turns these on for actions that are not used here. Each change of a document
		// would be an event.
		css.Disable(), dom.Disable(), log.Disable(), cdppage.SetLifecycleEventsEnabled(false),
		network.Enable(),
		network.SetCacheDisabled(true),
		network.SetBypassServiceWorker(true),
		fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*"}}),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := cdppage.AddScriptToEvaluateOnNewDocument(prelude).Do(ctx)
			return err
		}),
	}.Do(ctx)
}

// load loads the page, waits until its time is used up, and takes the result.
func (s *session) load(ctx context.Context, frame cdp.FrameID) error {
	return chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		err := s.navigate(ctx)
		if err == nil {
			err = s.wait(ctx)
		}
		if err == nil {
			err = s.serialise(ctx, frame)
		}
		if err != nil || s.failed() {
			return s.blame(ctx, err)
		}
		s.takePictures(ctx)
		return nil
	}))
}

// navigate loads the page. The clock stands until the page has taken the place of the empty one
// of the tab, on which it would be used up at once.
func (s *session) navigate(ctx context.Context) error {
	_, _, text, _, err := cdppage.Navigate(string(s.fetch.URL)).Do(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("load: %w", err)
	case text != "":
		return fmt.Errorf("load: %s", text)
	}
	_, err = emulation.SetVirtualTimePolicy(emulation.VirtualTimePolicyPauseIfNetworkFetchesPending).
		WithBudget(float64(s.limits.VirtualTime.Milliseconds())).WithMaxVirtualTimeTaskStarvationCount(10_000).Do(ctx)
	if err != nil {
		return fmt.Errorf("start the page's clock: %w", err)
	}
	return nil
}

// wait waits until the page's time is used up.
func (s *session) wait(ctx context.Context) error {
	select {
	case <-s.spent.Done():
		return nil
	case <-s.crashed.Done():
		return errCrashed
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errCrashed = errors.New("the process of the page has died")

// blame finds out whose an error is. It returns nil if it is the page's, which is then a
// failure, and ends a page that hangs. A crash and the limit of real time can also be the
// machine's: the system may have ended the process for want of memory, or the machine may have
// been busy.
func (s *session) blame(ctx context.Context, err error) error {
	if s.failed() {
		return nil
	}
	if s.crashed.Err() != nil {
		s.fail(true, "its scripts crashed the process that ran them, for example because they took too much memory")
		return nil
	}
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	s.fail(true, fmt.Sprintf("it was not complete after %s", s.limits.RealTime))
	unhindered, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	stop := context.AfterFunc(s.crashed, cancel)
	defer stop()
	_ = cdppage.Crash().Do(unhindered) // runs concurrently with the scripts; a dead process sends no answer
	return nil
}

// serialise takes the document, in a world in which the page's scripts have changed nothing.
func (s *session) serialise(ctx context.Context, frame cdp.FrameID) error {
	if s.failed() {
		return nil
	}
	world, err := cdppage.CreateIsolatedWorld(frame).WithWorldName("indexer").Do(ctx)
	if err != nil {
		return fmt.Errorf("make a world to read the document in: %w", err)
	}
	value, thrown, err := runtime.Evaluate(fmt.Sprintf("(%s)(%d)", strings.TrimSuffix(strings.TrimSpace(serialise), ";"), s.limits.HTMLBytes)).
		WithContextID(world).WithReturnByValue(true).Do(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read the document: %w", err)
	case thrown != nil && thrown.Exception != nil && strings.Contains(thrown.Exception.Description, "RangeError: large"):
		s.fail(false, fmt.Sprintf("its document has more than %d bytes", s.limits.HTMLBytes))
		return nil
	case thrown != nil:
		return fmt.Errorf("read the document: %w", thrown)
	}
	var html string
	if err := json.Unmarshal(value.Value, &html); err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	if len(html) > s.limits.HTMLBytes { // bytes, where the script counts UTF-16 units
		s.fail(false, fmt.Sprintf("its document has more than %d bytes", s.limits.HTMLBytes))
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result.HTML = []byte(html)
	return nil
}

// takePictures takes the screenshot and the thumbnail, if it can.
func (s *session) takePictures(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pictureTime)
	defer cancel()
	_, _, _, _, _, size, err := cdppage.GetLayoutMetrics().Do(ctx)
	if err != nil || size == nil {
		return
	}
	height := min(max(size.Height, viewportHeight), float64(s.limits.Height))
	take := func(height, scale float64) []byte {
		image, err := cdppage.CaptureScreenshot().WithFormat(cdppage.CaptureScreenshotFormatWebp).WithQuality(70).WithCaptureBeyondViewport(true).
			WithClip(&cdppage.Viewport{Width: viewportWidth, Height: height, Scale: scale}).Do(ctx)
		if err != nil {
			return nil
		}
		return image
	}
	full, small := take(height, 1), take(viewportHeight, thumbnailScale)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.result.Screenshot, s.result.Thumbnail = full, small
}

// fail notes the first failure of the page. mayPass is Result.MayPass.
func (s *session) fail(mayPass bool, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == "" {
		s.failure, s.mayPass = why, mayPass
	}
}

func (s *session) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure != "" || s.broken != nil
}

// listen is called by chromedp for each event of the tab, and must not block.
func (s *session) listen(of any) {
	switch e := of.(type) {
	case *fetch.EventRequestPaused:
		s.enqueue(e)
	case *network.EventLoadingFinished:
		s.finish(e.RequestID)
	case *network.EventLoadingFailed:
		s.finish(e.RequestID)
	case *emulation.EventVirtualTimeBudgetExpired:
		s.spent.happen()
	case *inspector.EventTargetCrashed:
		s.crashed.happen()
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError {
			s.console(argumentsOf(e.Args))
		}
	case *runtime.EventExceptionThrown:
		s.console(exceptionOf(e.ExceptionDetails))
	}
}

// enqueue keeps only what find reads of a request: a page can make thousands that wait, each with
// megabytes of data. A URL over the limit names nothing that was fetched.
func (s *session) enqueue(e *fetch.EventRequestPaused) {
	u := e.Request.URL
	if len(u) > page.MaxURLLength {
		u = ""
	}
	e.Request = &network.Request{Method: e.Request.Method, URL: u}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.requests <- e:
		s.arrived[e.NetworkID] = false
	default: // it stays paused, until the time is over
	}
}

// finish notes that an answer has arrived. The browser also reports what is not a request, such as
// data in a URL.
func (s *session) finish(id network.RequestID) {
	s.mu.Lock()
	_, asked := s.arrived[id]
	if asked {
		s.arrived[id] = true
	}
	s.mu.Unlock()
	if !asked {
		return
	}
	select {
	case s.progress <- struct{}{}:
	default: // a token is there already
	}
}
