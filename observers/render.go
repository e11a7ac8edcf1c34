package observers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// A Renderer runs the scripts of pages in a browser (package render).
type Renderer interface {
	// Version rises with every change that gives pages other forms. It is not 0.
	Version() uint64
	// Render renders a page. lookup returns the fetch in force of a URL, or nil if there is
	// none. What Render returns depends on nothing else. An error is the browser's fault, and
	// not the page's: the page is rendered again.
	Render(ctx context.Context, f *page.Fetch, lookup Lookup) (*Rendering, error)
}

// Lookup returns the fetch in force of a URL, or nil if there is none.
type Lookup = func(ctx context.Context, u page.URL) (*page.Fetch, error)

// Rendering is the result of rendering a page.
type Rendering struct {
	HTML     []byte     // the document after its scripts, in UTF-8; nil if Failure is set
	Failure  string     // why the page cannot be rendered
	MayPass  bool       // the machine may have caused the failure: another attempt may succeed
	Requests []page.URL // what the page asked for, in order, without duplicates and without the page
	Console  []string   // errors that the page reported

	Screenshot, Thumbnail []byte
}

// maxRequests bounds the requests of a page, and so the pair rows that a run creates or
// deletes. Transactions have at most 600 mutations.
const maxRequests = 500

// renderAttempts is how often a rendering may fail, because of the browser or possibly the
// machine, before the page is left without a form. maxFailed bounds the pages whose failures are
// remembered.
const (
	renderAttempts = 3
	maxFailed      = 10_000
)

// Reasons for forms without HTML. They are stored, and verify compares them.
const (
	tooManyRequests = "the page asks for more than 500 resources"
	browserFailed   = "the browser failed three times at the page; the next start tries again"
)

// renderer is the observer render, which keeps the rendered forms of pages.
//
//	watches  render:wake (weak)
//	reads    app:render; fetch:content, body:body of the page, and of the URLs that it needs;
//	         render:form
//	writes   render:form, shot:full, shot:thumb; the pair row (need:x) at each URL that the
//	         page needs
//	wakes    document (weak), when there is another form or thumbnail; itself (weak), after it has written;
//	         in a crawl discover (weak), when there is another form
//
// A form names its inputs, and the fetch of the page is one of them. A run first compares them
// with what is in force, like make, and starts the browser only if they differ. So a needless
// notification costs a few reads.
//
// # Why no update is missed
//
// Every run that writes wakes itself. So the last run at a page wrote nothing: it began at R,
// after E, the last commit of the form and its pair rows, and found that the form agreed with
// the fetches in force and with the setting. Let one of them change at C.
//
// If C < R, the run has seen the change. Otherwise E < R < C. Every change wakes document at
// the URL that changed, and the run of document begins at D > C. It sees the form and the pair
// rows of E, because nothing has written them since.
//
// At the page itself, document compares the form with the fetch, and wakes this observer if the
// form is of another fetch, is missing, or should not exist. At a URL that the page needs, it
// finds a pair row and wakes invalidate, which also finds the pair row, and wakes this observer.
//
// Waking only for new pair rows is not enough. Suppose the page changes from A to B and back to
// A, and a run that has read B is under way. document finds the form of A, and wakes no
// observer. Then the run commits the form of B, and no run would replace it.
//
// The setting and the version of the renderer change when the repository opens. It then wakes
// document for all pages, or this observer at all forms (repository/matchrender.go). document
// reads the form, and is woken by each commit that changes what it reads.
//
// # Other dangers
//
// A browser that fails (it does not start, or it dies) says nothing about the page. Even so,
// after three attempts the page is left without a form; otherwise it would end as a dead
// letter. The same transaction deletes app:render-version, so the next opening wakes this
// observer at all forms, and a process tries each of these pages once more (failed).
//
// A page that takes too much real time, or crashes the process that runs its scripts, usually
// does so every time. But the machine may have been busy or short of memory. If the first such
// failure were stored, two machines could have different forms of the same rows. So the page is
// tried three times, with the pauses of package notify in between, and the third failure is
// stored as the page's own, together with what the page asked for. The next opening does not
// try again: a page with an endless loop would cost each process three times the limit.
//
// The page and everything it needs are read at one snapshot, that of the transaction, however
// long the browser takes. The transaction holds no locks until it commits.
//
// One run creates up to 500 pair rows. It leaves obsolete rows of the last form to the next
// run (StoredForm.Stale), so that no transaction grows beyond 600 mutations.
type renderer struct {
	browser    Renderer      // nil: there is none
	unrendered *atomic.Int64 // counts pages left without a form because there is none

	mu     sync.Mutex
	failed map[string]int // how often the browser of this process has failed in a row, by URL row
}

func (x *renderer) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	setting, err := schema.ReadRender(ctx, tx)
	if err != nil {
		return err
	}
	return each(rows, func(row string) error { return x.renew(ctx, tx, setting, row) })
}

// renew makes the form of a page agree with its inputs.
func (x *renderer) renew(ctx context.Context, tx *txn.Txn, setting schema.RenderSetting, row string) error {
	old, exists, err := readForm(ctx, tx, row)
	if err != nil {
		return err
	}
	if len(old.Stale) > 0 {
		return dropStale(tx, row, old)
	}
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return err
	}
	f, err := readFetch(ctx, tx, u)
	if err != nil {
		return err
	}
	why := ""
	if f != nil {
		doc, found := page.Examine(&f.Fetch)
		why = setting.Qualifies(&doc, found)
	}
	switch {
	case why == "" && exists:
		return dropForm(tx, row, old)
	case why == "":
		return nil
	}
	if exists {
		same, err := x.isCurrent(ctx, tx, row, old, f.Content)
		if err != nil || same && old.Why == why {
			return err
		}
		if same {
			old.Why = why
			tx.Set(row, schema.Form, old.Encode())
			tx.Continue(row, schema.RenderWake)
			return nil
		}
	}
	now, shots, err := x.render(ctx, tx, &f.Fetch)
	if err != nil {
		return err
	}
	now.Page, now.Why = f.Content, why
	writeForm(tx, u, &old, &now)
	return writeShots(ctx, tx, row, shots)
}

// isCurrent reports whether a form was made of the inputs that are in force.
func (x *renderer) isCurrent(ctx context.Context, tx *txn.Txn, row string, f schema.StoredForm, content schema.ContentDigest) (bool, error) {
	if x.browser != nil && (f.Version != x.browser.Version() || f.Failure == browserFailed && !x.hasFailedAt(row)) || f.Page != content {
		return false, nil
	}
	return InputsInForce(ctx, tx, f.Inputs)
}

// InputsInForce reports whether the inputs of a form are the fetches in force.
func InputsInForce(ctx context.Context, tx *txn.Txn, inputs []schema.RenderInput) (bool, error) {
	for _, i := range inputs {
		v, err := tx.GetOnce(ctx, schema.URLRow(i.URL), schema.FetchContent)
		if err != nil || schema.DigestContent(v) != i.Content {
			return false, err
		}
	}
	return true, nil
}

// render asks the browser for the form of a page.
func (x *renderer) render(ctx context.Context, tx *txn.Txn, f *page.Fetch) (schema.StoredForm, *Rendering, error) {
	if x.browser == nil {
		x.unrendered.Add(1)
		return schema.StoredForm{Failure: schema.NoBrowser}, nil, nil
	}
	form := schema.StoredForm{Version: x.browser.Version()}
	made, err := x.browser.Render(ctx, f, lookupIn(tx))
	if made, err = x.judge(ctx, tx, schema.URLRow(f.URL), made, err); err != nil {
		return form, nil, fmt.Errorf("render %s: %w", f.URL, err)
	}
	if len(made.Requests) > maxRequests {
		// The first requests are inputs: while their answers are the same, there are too many.
		made = &Rendering{Failure: tooManyRequests, Requests: made.Requests[:maxRequests], Console: made.Console}
	}
	if made.Failure == "" && len(made.HTML) == 0 {
		return form, nil, fmt.Errorf("render %s: %w", f.URL, errNoForm)
	}
	form.HTML, form.Failure, form.Console = made.HTML, made.Failure, made.Console
	for _, u := range made.Requests {
		v, err := tx.GetOnce(ctx, schema.URLRow(u), schema.FetchContent)
		if err != nil {
			return form, nil, err
		}
		form.Inputs = append(form.Inputs, schema.RenderInput{URL: u, Content: schema.DigestContent(v)})
	}
	return form, made, nil
}

// judge returns what to store after an attempt to render a page. An error means another attempt.
func (x *renderer) judge(ctx context.Context, tx *txn.Txn, row string, made *Rendering, err error) (*Rendering, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && !made.MayPass:
		x.succeedsAt(row)
	case err == nil && !x.failsAt(row):
		return nil, fmt.Errorf("attempt failed: %s", made.Failure)
	case err == nil:
		x.succeedsAt(row) // now the failure is the page's; another page in its place gets its own attempts
	case x.failsAt(row):
		tx.Delete(schema.AppRow, schema.RenderVersion)
		return &Rendering{Failure: browserFailed}, nil
	}
	return made, err
}

var errNoForm = errors.New("the renderer returned neither a document nor a reason")

// failsAt counts a failure of the browser, and reports whether there have been enough.
func (x *renderer) failsAt(row string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed == nil {
		x.failed = make(map[string]int)
	}
	if x.failed[row] == 0 && len(x.failed) >= maxFailed {
		for other := range x.failed {
			delete(x.failed, other) // which gets three attempts again
			break
		}
	}
	x.failed[row]++
	return x.failed[row] >= renderAttempts
}

func (x *renderer) hasFailedAt(row string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failed[row] >= renderAttempts
}

func (x *renderer) succeedsAt(row string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.failed, row)
}

// lookupIn returns what is in force in the snapshot of a transaction. A browser makes several
// requests at a time, and a transaction serves one goroutine. A resource that was loaded
// without its body counts as absent.
func lookupIn(tx *txn.Txn) Lookup {
	var one sync.Mutex
	return func(ctx context.Context, u page.URL) (*page.Fetch, error) {
		one.Lock()
		defer one.Unlock()
		f, err := schema.ReadInForce(ctx, tx, u)
		if err != nil || f == nil || f.Reading.Exists() { // its text is stored, not the response
			return nil, err
		}
		stored, err := f.ReadBody(ctx, tx)
		if err != nil || !stored && f.IsSuccess() {
			return nil, err
		}
		return &f.Fetch, nil
	}
}

// readFetch reads the fetch in force of a URL, with its body if that is stored. It returns nil if
// there is none.
func readFetch(ctx context.Context, tx *txn.Txn, u page.URL) (*schema.InForce, error) {
	f, err := schema.ReadInForce(ctx, tx, u)
	if err != nil || f == nil {
		return nil, err
	}
	_, err = f.ReadBody(ctx, tx)
	return f, err
}

// readForm reads the form of a page, and reports whether the page has one.
func readForm(ctx context.Context, tx *txn.Txn, row string) (schema.StoredForm, bool, error) {
	v, err := tx.Get(ctx, row, schema.Form)
	if err != nil || !v.Exists {
		return schema.StoredForm{}, false, err
	}
	f, err := schema.DecodeForm(v.Data)
	return f, true, err
}

// FormOf reads the rendered form of a URL, for readers such as inspect. It returns nil if
// there is none.
func FormOf(ctx context.Context, tx *txn.Txn, u page.URL) (*schema.StoredForm, error) {
	f, exists, err := readForm(ctx, tx, schema.URLRow(u))
	if err != nil || !exists {
		return nil, err
	}
	return &f, nil
}

// writeForm replaces a form, and wakes the observers that depend on it.
func writeForm(tx *txn.Txn, u page.URL, old, now *schema.StoredForm) {
	needed := make(map[page.URL]bool, len(old.Inputs)) // to whether the new form needs it
	for _, i := range old.Inputs {
		needed[i.URL] = false
	}
	for _, i := range now.Inputs {
		if _, before := needed[i.URL]; !before {
			tx.Create(schema.PairRow(i.URL, u), schema.Need, nil)
		}
		needed[i.URL] = true
	}
	for _, i := range old.Inputs {
		if !needed[i.URL] {
			now.Stale = append(now.Stale, i.URL)
		}
	}
	row := schema.URLRow(u)
	tx.Set(row, schema.Form, now.Encode())
	tx.Continue(row, schema.RenderWake)
	if len(now.Inputs) > 0 {
		tx.Notify(row, schema.Discover)
	}
	if !bytes.Equal(old.HTML, now.HTML) {
		tx.Notify(row, schema.FetchContent)
	}
}

// dropStale deletes the pair rows that the last form left behind.
func dropStale(tx *txn.Txn, row string, f schema.StoredForm) error {
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return err
	}
	for _, target := range f.Stale {
		tx.Delete(schema.PairRow(target, u), schema.Need)
	}
	f.Stale = nil
	tx.Set(row, schema.Form, f.Encode())
	tx.Continue(row, schema.RenderWake)
	return nil
}

// dropForm deletes a form with everything that belongs to it. Its stale pair rows must be gone.
func dropForm(tx *txn.Txn, row string, f schema.StoredForm) error {
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return err
	}
	for _, i := range f.Inputs {
		tx.Delete(schema.PairRow(i.URL, u), schema.Need)
	}
	tx.Delete(row, schema.Form)
	tx.Delete(row, schema.Screenshot)
	tx.Delete(row, schema.Thumbnail)
	tx.Continue(row, schema.RenderWake)
	if f.HTML != nil {
		tx.Notify(row, schema.FetchContent)
	}
	return nil
}

// writeShots stores the screenshots that differ. The index also has thumbnails. A new thumbnail
// wakes document, which wakes index at the cluster that the page is in at that time. This
// observer does not wake index itself: the page may be in another cluster when this transaction
// commits, and the run that moved it there has seen the old picture.
func writeShots(ctx context.Context, tx *txn.Txn, row string, made *Rendering) error {
	if made == nil {
		made = new(Rendering)
	}
	for c, now := range map[txn.Column][]byte{schema.Screenshot: made.Screenshot, schema.Thumbnail: made.Thumbnail} {
		old, err := tx.GetOnce(ctx, row, c)
		switch {
		case err != nil:
			return err
		case bytes.Equal(old.Data, now):
			continue
		case len(now) == 0:
			tx.Delete(row, c)
		default:
			tx.Set(row, c, now)
		}
		if c == schema.Thumbnail {
			tx.Notify(row, schema.FetchContent)
		}
	}
	return nil
}
