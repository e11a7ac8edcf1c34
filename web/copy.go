package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/web/assets"
)

// A stored copy is a stranger's page on our server. Four layers keep it harmless, and
// each one alone would stop most attacks:
//
//  1. sanitize.go rewrites the page, using only elements and attributes that can do no
//     more than show something. No script, frame, form action, link or external URL
//     remains.
//  2. The content security policy allows only images and styles that are inside the
//     page itself. It does not even allow 'self'.
//  3. The sandbox has no exceptions: no scripts, forms, popups, refreshes or navigation
//     of the page around it. It also gives the copy an origin of its own, so that even
//     a script could not read our pages.
//  4. nosniff, with a media type that we choose: HTML if the page was HTML, plain text
//     otherwise. Other media types have no copy.
//
// Rejected: serving copies under a second host name, as large sites do. The sandbox
// isolates copies just as well, and needs no second name to be set up.
const copyPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// The forms of a copy.
const (
	formPage   = ""       // the page as it looked, as far as that is safe
	formText   = "text"   // title and text as indexed
	formSource = "source" // the HTML source, as text
)

// maxCopies is how many copies are made at a time. For each, memory holds the body as
// fetched (bounded by the setting warc.max_body), decoded, and rewritten.
const maxCopies = 8

// oneOfCopies lets at most maxCopies requests run a handler at a time. Others wait; a
// request that runs out of time is answered with 503.
func (s *Server) oneOfCopies(handle handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		select {
		case s.copies <- struct{}{}:
			defer func() { <-s.copies }()
			return handle(w, r)
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
}

// readCopy finds the copy that a request asks for, and returns its fetch, and the timestamp and
// the form asked for.
func (s *Server) readCopy(r *http.Request) (f *page.Fetch, at uint64, form string, err error) {
	params := r.URL.Query()
	u, err := urlOf(params)
	if err != nil {
		return nil, 0, "", err
	}
	if at, err = timestampOf(params, "at"); err != nil {
		return nil, 0, "", err
	}
	switch form = params.Get("view"); form {
	case formPage, formText, formSource:
	default:
		return nil, 0, "", badRequest("the parameter view must be text or source, or absent")
	}
	if f, err = s.opts.Inspect.Copy(r.Context(), u, at); err != nil {
		return nil, 0, "", fmt.Errorf("copy of %s: %w", u, err)
	}
	return f, at, form, nil
}

// copy sends the copy itself.
func (s *Server) copy(w http.ResponseWriter, r *http.Request) error {
	f, at, form, err := s.readCopy(r)
	if err != nil {
		return err
	}
	text, html, ok := page.BodyText(f)
	if !ok {
		return &requestError{http.StatusNotFound, "this URL has no cached copy: the body is neither HTML nor plain text"}
	}
	mediaType := "text/plain; charset=utf-8"
	switch {
	case form == formText:
		if text, err = s.indexedText(r, f, at); err != nil {
			return err
		}
	case form == formPage && html:
		mediaType, text = "text/html; charset=utf-8", sanitize(text)
	}
	h := w.Header()
	h.Set("Content-Security-Policy", copyPolicy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Last-Modified", f.Time.UTC().Format(http.TimeFormat))
	send(w, http.StatusOK, mediaType, []byte(text))
	return nil
}

// indexedText returns the title and text that are indexed for a copy. Those of a page that is
// rendered come from its form, as far as that can be known: the timestamp of an older version
// is that of its load, when its form did not exist yet.
func (s *Server) indexedText(r *http.Request, f *page.Fetch, at uint64) (string, error) {
	if at != 0 {
		return textOf(f), nil
	}
	t, err := s.opts.Inspect.Text(r.Context(), f.URL, 0)
	switch {
	case errors.Is(err, inspect.ErrNoCopy):
		return textOf(f), nil
	case err != nil:
		return "", fmt.Errorf("text of %s: %w", f.URL, err)
	case !t.Rendered:
		return textOf(f), nil
	}
	return strings.TrimSpace(t.Title+"\n\n"+t.Text) + "\n", nil
}

// textOf returns the title and text of a copy as it was fetched.
func textOf(f *page.Fetch) string {
	d := page.Interpret(f)
	if d.Outcome != page.Page {
		return "(There is no text: this page only redirects elsewhere.)\n"
	}
	return strings.TrimSpace(d.Title+"\n\n"+d.Text) + "\n"
}

// copyPage shows a copy under its date.
type copyPage struct {
	assets.Frame
	Fetch *page.Fetch
	At    uint64
	Form  string
}

// view sends the page around a copy.
func (s *Server) view(w http.ResponseWriter, r *http.Request) error {
	f, at, form, err := s.readCopy(r)
	if err != nil {
		return err
	}
	return s.show(w, http.StatusOK, "copy.html", &copyPage{Frame: s.frame(""), Fetch: f, At: at, Form: form})
}

// Source is the address of the copy in the frame.
func (p *copyPage) Source() string { return address("/copy", p.Fetch.URL, p.At, p.Form) }

// As is the address of the page with the copy in another form.
func (p *copyPage) As(form string) string { return address("/view", p.Fetch.URL, p.At, form) }
