package schema

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// The locality groups of rendering. They are empty while the setting is off.
const (
	GroupRender = "render" // URL rows: the rendered form of a page
	GroupShot   = "shot"   // URL rows: its screenshots
	GroupNeed   = "need"   // pair rows: source asked for target when it was rendered
)

// The columns of rendering (docs/decisions/0034-rendering.md).
var (
	// Render is the RenderSetting. w: repository
	Render = txn.Column{Group: GroupApp, Name: "render"}
	// RenderVersion is the version of the renderer that the forms come from; 0 if there was
	// no browser. w: repository
	RenderVersion = txn.Column{Group: GroupApp, Name: "render-version"}
	// Form is the StoredForm of a page that is rendered. w: render
	Form = txn.Column{Group: GroupRender, Name: "form"}
	// RenderWake is never written; a weak notification says that a page or something that it
	// needs may have changed. o: render
	RenderWake = txn.Column{Group: GroupRender, Name: "wake"}
	// ResourceChanged is never written; a weak notification says that the fetch of a URL that
	// pages need has changed. o: invalidate
	ResourceChanged = txn.Column{Group: GroupRender, Name: "changed"}
	// Invalidated says how far the pages that need a URL have been notified of a change
	// of it (a StoredPropagation). w: invalidate
	Invalidated = txn.Column{Group: GroupRender, Name: "told"}
	// Screenshot and Thumbnail are pictures of a rendered page, as the browser encoded them.
	// w: render
	Screenshot = txn.Column{Group: GroupShot, Name: "full"}
	Thumbnail  = txn.Column{Group: GroupShot, Name: "thumb"}
	// Need marks a pair row: the source asked for the target when it was rendered. w: render
	Need = txn.Column{Group: GroupNeed, Name: "x"}
)

// RenderSetting says which pages of a repository are rendered. It is stored in the column
// Render, which is absent while the setting is off.
type RenderSetting string

// The settings. A setting that ends in "soon" already holds while the program adapts what
// it stored before.
const (
	RenderOff      RenderSetting = ""
	RenderAuto     RenderSetting = "auto"
	RenderAll      RenderSetting = "all"
	RenderOffSoon  RenderSetting = "off soon"
	RenderAutoSoon RenderSetting = "auto soon"
	RenderAllSoon  RenderSetting = "all soon"
)

var renderSettings = []RenderSetting{RenderOff, RenderAuto, RenderAll, RenderOffSoon, RenderAutoSoon, RenderAllSoon}

// Mode returns which pages are rendered: RenderOff, RenderAuto or RenderAll.
func (s RenderSetting) Mode() RenderSetting {
	mode, _ := strings.CutSuffix(string(s), " soon")
	if mode == "off" {
		return RenderOff
	}
	return RenderSetting(mode)
}

// Soon returns the setting for mode s while the program adapts what it stored before.
func (s RenderSetting) Soon() RenderSetting {
	if s == RenderOff {
		return RenderOffSoon
	}
	return s + " soon"
}

// ReadRender reads the setting of a repository.
func ReadRender(ctx context.Context, tx *txn.Txn) (RenderSetting, error) {
	v, err := tx.Get(ctx, AppRow, Render)
	if err != nil {
		return RenderOff, err
	}
	s := RenderSetting(v.Data)
	if !slices.Contains(renderSettings, s) {
		return RenderOff, fmt.Errorf("schema: setting of rendering %.20q: %w", v.Data, store.ErrCorrupt)
	}
	return s, nil
}

// Write writes the setting of a repository.
func (s RenderSetting) Write(tx *txn.Txn) {
	if s == RenderOff {
		tx.Delete(AppRow, Render)
		return
	}
	tx.Set(AppRow, Render, []byte(s))
}

// WithoutBrowser reports whether the process that renders has no browser. An absent version
// means that it is about to be written (RenderVersion).
func WithoutBrowser(ctx context.Context, tx *txn.Txn) (bool, error) {
	v, err := tx.Get(ctx, AppRow, RenderVersion)
	return string(v.Data) == "0", err
}

// Qualifies returns why a page is rendered under the setting, or "" if it is not.
func (s RenderSetting) Qualifies(doc *page.Document, found page.Examined) string {
	switch {
	case doc.Outcome != page.Page || !found.HTML:
		return ""
	case found.Why == "" && s.Mode() == RenderAll:
		return "the setting render is all"
	case s.Mode() == RenderOff:
		return ""
	}
	return found.Why
}

// ContentDigest identifies a value of FetchContent. It is zero for no value.
type ContentDigest [16]byte

// DigestContent returns the digest of a value of FetchContent.
func DigestContent(v txn.Value) (d ContentDigest) {
	if v.Exists {
		sum := sha256.Sum256(v.Data)
		copy(d[:], sum[:])
	}
	return d
}

// RenderInput is a URL that a page asked for when it was rendered, with the fetch that
// was in force there.
type RenderInput struct {
	URL     page.URL
	Content ContentDigest
}

// Absent reports whether nothing was in force.
func (i RenderInput) Absent() bool { return i.Content == ContentDigest{} }

// NoBrowser is the Failure of forms that were stored without a browser.
const NoBrowser = "no browser"

// StoredForm is the form of a page after its scripts ran, or why there is none.
type StoredForm struct {
	// Version is the version of the renderer, or 0 if there was no browser.
	Version uint64
	// Page is the fetch of the page that was rendered.
	Page ContentDigest
	// Why says why the page is rendered.
	Why string
	// Failure says why there is no HTML. It is "" if there is HTML.
	Failure string
	// Inputs are the URLs that the page asked for, in order, without duplicates.
	Inputs []RenderInput
	// Stale are inputs of the previous form that this form does not have, and whose pair rows
	// have not been deleted yet.
	Stale   []page.URL
	Console []string
	HTML    []byte
}

// Encode encodes the form for Form.
func (f StoredForm) Encode() []byte {
	return packBuilt(func(e enc) enc {
		e = append(e.uint(f.Version), f.Page[:]...)
		e = e.string(f.Why).string(f.Failure).uint(uint64(len(f.Inputs)))
		for _, i := range f.Inputs {
			e = append(e.string(string(i.URL)), i.Content[:]...)
		}
		e = e.urls(f.Stale).strings(f.Console)
		return append(e.uint(uint64(len(f.HTML))), f.HTML...)
	})
}

// DecodeForm decodes a form.
func DecodeForm(b []byte) (f StoredForm, err error) {
	err = readUnpacked(b, "rendered form", func(d dec) error {
		f.Version = d.Uint()
		copy(f.Page[:], d.Take(uint64(len(f.Page))))
		f.Why, f.Failure = d.Text(), d.Text()
		for n := d.Uint(); n > 0 && !d.Failed(); n-- {
			i := RenderInput{URL: page.URL(d.Text())}
			copy(i.Content[:], d.Take(uint64(len(i.Content))))
			f.Inputs = append(f.Inputs, i)
		}
		for n := d.Uint(); n > 0 && !d.Failed(); n-- {
			f.Stale = append(f.Stale, page.URL(d.Text()))
		}
		f.Console = d.strings()
		f.HTML = slices.Clone(d.Take(d.Uint()))
		return d.done("rendered form")
	})
	if len(f.Console) == 0 {
		f.Console = nil
	}
	if len(f.HTML) == 0 {
		f.HTML = nil
	}
	return f, err
}

// WithoutResource returns the content of a fetch as if the setting had been off when it was
// loaded, and reports whether it differs.
func WithoutResource(content []byte) ([]byte, bool, error) {
	f, sum, err := DecodeContent(content)
	if err != nil || !f.Resource {
		return content, false, err
	}
	f.Resource = false
	return EncodeContent(&f, sum), true, nil
}
