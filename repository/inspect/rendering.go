package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Rendering is what is known about the second form of a page: the document after its scripts
// have run in a browser (docs/semantics.md, "Rendering").
type Rendering struct {
	// Setting says which pages are rendered: auto or all.
	Setting string `json:"setting"`
	// Qualifies reports whether this page is to be rendered, and Why says why or why not.
	Qualifies bool   `json:"qualifies"`
	Why       string `json:"why"`
	// State is rendered, not rendered or waiting; Reason explains it if necessary.
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	// Raw is the content of the page as fetched, and Rendered the content of its form,
	// which is in the index.
	Raw      *Reading `json:"raw,omitempty"`
	Rendered *Reading `json:"rendered,omitempty"`
	// Resources are what the page asked for, in this order.
	Resources []Resource `json:"resources,omitempty"`
	// Console are the errors that the page reported.
	Console []string `json:"console,omitempty"`
	// Screenshot is the size of the stored screenshot in bytes, or 0 if there is none.
	Screenshot int `json:"screenshot_bytes,omitempty"`
	// Versions are the renderings that are still stored, newest first, at most 20.
	Versions []RenderedVersion `json:"versions,omitempty"`
}

// The states of a rendering.
const (
	StateRendered    = "rendered"
	StateNotRendered = "not rendered"
	StateWaiting     = "waiting" // for the observers; Reason says why
)

// Reading is what a form of a page says.
type Reading struct {
	Title      string   `json:"title"`
	Characters int      `json:"characters"` // of its text
	Links      int      `json:"links"`      // links that count
	Canonical  page.URL `json:"canonical,omitempty"`
	NoIndex    bool     `json:"noindex"`
	NoFollow   bool     `json:"nofollow"`
}

// Robots names the directives that are set, with commas between them.
func (r *Reading) Robots() string {
	var names []string
	if r.NoIndex {
		names = append(names, "noindex")
	}
	if r.NoFollow {
		names = append(names, "nofollow")
	}
	return strings.Join(names, ", ")
}

// Resource is what a page asked for when it was rendered.
type Resource struct {
	URL page.URL `json:"url"`
	// State is used, missing or changed. Changed means that the input has changed after
	// the rendering, so the page waits to be rendered again.
	State  string `json:"state"`
	Status int    `json:"status,omitempty"` // of the fetch in force
	Type   string `json:"type,omitempty"`   // its media type as sent
}

// The states of a resource.
const (
	ResourceUsed    = "used"
	ResourceMissing = "missing"
	ResourceChanged = "changed"
)

// maxNeeders bounds Tail.NeededBy.
const maxNeeders = 20

// readRendering sets Rendering and NeededBy, unless pages are not rendered.
func (i *inspector) readRendering(ctx context.Context) error {
	setting, err := schema.ReadRender(ctx, i.tx)
	if err != nil || setting.Mode() == schema.RenderOff {
		return err
	}
	if err := i.readNeeders(ctx); err != nil || i.Outcome != page.Page.String() {
		return err
	}
	f, err := readCopy(ctx, i.tx, i.URL)
	if errors.Is(err, ErrNoCopy) {
		return nil
	}
	if err != nil {
		return err
	}
	raw, found := page.Examine(f)
	r := &Rendering{Setting: string(setting.Mode()), Why: setting.Qualifies(&raw, found), Raw: readingOf(&raw)}
	i.Rendering = r
	if r.Qualifies = r.Why != ""; !r.Qualifies {
		r.State, r.Why = StateNotRendered, whyNot(found)
	} else {
		r.State, r.Reason = StateWaiting, "it has not been rendered yet"
	}
	form, err := observers.FormOf(ctx, i.tx, i.URL)
	if err != nil || form == nil {
		return err
	}
	return i.readForm(ctx, f, &raw, form)
}

func whyNot(found page.Examined) string {
	if !found.HTML {
		return "only HTML is rendered"
	}
	return "its text does not seem to come from scripts"
}

// readForm adds what a stored form says.
func (i *inspector) readForm(ctx context.Context, f *page.Fetch, raw *page.Document, form *schema.StoredForm) error {
	r := i.Rendering
	r.Console = form.Console
	inForce, err := schema.ReadInForce(ctx, i.tx, i.URL)
	if err != nil {
		return err
	}
	current := form.Page == inForce.Content // readRendering has read it
	for _, input := range form.Inputs {
		resource, err := i.resource(ctx, input)
		if err != nil {
			return err
		}
		current = current && resource.State != ResourceChanged
		r.Resources = append(r.Resources, resource)
	}
	if form.HTML != nil {
		rendered := page.InterpretForm(f, raw, form.HTML)
		r.Rendered = readingOf(&rendered)
	}
	switch {
	case !r.Qualifies:
		r.State, r.Reason = StateWaiting, "its form is about to be removed"
	case !current:
		r.State, r.Reason = StateWaiting, "the page, or something that it needs, has changed since it was rendered"
	case form.Failure == schema.NoBrowser:
		r.State, r.Reason = StateNotRendered, "no browser was found; it is rendered when a process that finds Chromium opens the repository"
	case form.Failure != "":
		r.State, r.Reason = StateNotRendered, form.Failure
	default:
		r.State, r.Reason = StateRendered, ""
	}
	shot, err := i.tx.Get(ctx, schema.URLRow(i.URL), schema.Screenshot)
	if err != nil {
		return err
	}
	r.Screenshot = len(shot.Data)
	r.Versions, err = renderings(ctx, i.db, i.URL)
	return err
}

// resource compares an input of a form with the fetch in force.
func (i *inspector) resource(ctx context.Context, input schema.RenderInput) (Resource, error) {
	r := Resource{URL: input.URL, State: ResourceUsed}
	f, err := schema.ReadInForce(ctx, i.tx, input.URL)
	switch {
	case err != nil:
		return r, err
	case f == nil && input.Absent():
		r.State = ResourceMissing
		return r, nil
	case f == nil:
		r.State = ResourceChanged
		return r, nil
	}
	r.Status, r.Type = f.Status, f.Header.Get("Content-Type")
	if f.Content != input.Content {
		r.State = ResourceChanged
	} else if f.IsSuccess() && !f.NeedsBody() {
		r.State = ResourceMissing // it was loaded without its body
	}
	return r, nil
}

func readingOf(doc *page.Document) *Reading {
	return &Reading{
		Title: doc.Title, Characters: utf8.RuneCountInString(doc.Text), Links: len(doc.Links),
		Canonical: doc.Target, NoIndex: doc.NoIndex, NoFollow: doc.NoFollow,
	}
}

// readNeeders lists the first pages that need the URL.
func (i *inspector) readNeeders(ctx context.Context) error {
	return i.tx.ScanPrefix(ctx, schema.GroupNeed, schema.PairPrefix(i.URL), func(row string, _ []txn.Version) error {
		if len(i.NeededBy) == maxNeeders {
			return txn.ErrStop
		}
		_, source, err := schema.ParsePairRow(row)
		i.NeededBy = append(i.NeededBy, source)
		return err
	})
}

// ErrNoPicture means that no screenshot of a page is stored, or that the screenshot of the
// requested time is no longer kept.
var ErrNoPicture = errors.New("there is no stored screenshot")

// Picture returns the screenshot of a page, or its thumbnail, as of a commit timestamp; 0 means
// now. The bytes are an image as the browser encoded it.
func Picture(ctx context.Context, db *txn.DB, u page.URL, at uint64, thumbnail bool) ([]byte, error) {
	column := schema.Screenshot
	if thumbnail {
		column = schema.Thumbnail
	}
	var image []byte
	err := readAt(ctx, db, at, func(tx *txn.Txn) error {
		v, err := tx.Get(ctx, schema.URLRow(u), column)
		image = v.Data
		return err
	})
	switch {
	case errors.Is(err, txn.ErrBelowSafePoint):
		return nil, fmt.Errorf("%w of %s from that time any more: %w", ErrNoPicture, u, err)
	case err != nil:
		return nil, fmt.Errorf("screenshot of %s: %w", u, err)
	case len(image) == 0:
		return nil, fmt.Errorf("%w of %s", ErrNoPicture, u)
	}
	return image, nil
}

// ErrNotRendering means that no pages are rendered, so nothing has a thumbnail.
var ErrNotRendering = errors.New("pages are not rendered")

// Pictured returns those of the given URLs that now have a thumbnail. The error matches
// ErrNotRendering while the setting of rendering is off.
func Pictured(ctx context.Context, db *txn.DB, urls []page.URL) ([]page.URL, error) {
	pictured := []page.URL{}
	err := db.View(ctx, func(tx *txn.Txn) error {
		setting, err := schema.ReadRender(ctx, tx)
		if err != nil {
			return err
		}
		if setting.Mode() == schema.RenderOff {
			return ErrNotRendering
		}
		for _, u := range urls {
			v, err := tx.Get(ctx, schema.URLRow(u), schema.Thumbnail)
			if err != nil {
				return err
			}
			if v.Exists {
				pictured = append(pictured, u)
			}
		}
		return nil
	})
	if errors.Is(err, ErrNotRendering) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("look for thumbnails: %w", err)
	}
	return pictured, nil
}

// PageText is the title and text of a page as the index had them at some time.
type PageText struct {
	Title    string `json:"title"`
	Text     string `json:"text"`
	Rendered bool   `json:"rendered"` // they come from its rendered form
	Pictured bool   `json:"pictured"` // there is a screenshot from that time
}

// Text returns the text of a page as of a commit timestamp; 0 means now. The error matches
// ErrNoCopy if the URL was not a page at that time, or that time is no longer kept.
func Text(ctx context.Context, db *txn.DB, u page.URL, at uint64) (*PageText, error) {
	t := new(PageText)
	err := readAt(ctx, db, at, func(tx *txn.Txn) error {
		_, outcome, err := observers.OutcomeOf(ctx, tx, u)
		if err != nil {
			return err
		}
		if outcome != page.Page {
			return fmt.Errorf("%w of %s: it is not a page", ErrNoCopy, u)
		}
		text, err := observers.TextOf(ctx, tx, u)
		if err != nil {
			return err
		}
		form, err := observers.FormOf(ctx, tx, u)
		if err != nil {
			return err
		}
		shot, err := tx.Get(ctx, schema.URLRow(u), schema.Screenshot)
		*t = PageText{Title: text.Title, Text: text.Text, Rendered: form != nil && form.HTML != nil, Pictured: shot.Exists}
		return err
	})
	return t, noCopy("text", u, err)
}

// readAt reads at a commit timestamp, 0 for now.
func readAt(ctx context.Context, db *txn.DB, at uint64, read func(*txn.Txn) error) error {
	release := db.Hold()
	defer release()
	last, err := db.Now(ctx)
	if err != nil {
		return err
	}
	if at == 0 || at > last {
		at = last
	}
	tx := db.At(at)
	defer tx.Rollback()
	return read(tx)
}
