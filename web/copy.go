package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"indexer/page"
	"indexer/web/assets"
)

// A stored copy is a stranger's page on our server. What keeps it from doing anything
// is in layers, each of which would be enough against most pages:
//
//  1. sanitize.go writes the page anew, out of elements and attributes that can only
//     show something. No script, frame, form action, link or address of anything
//     outside is left.
//  2. The policy allows nothing to be loaded but images that are in the page, and
//     styles that are in it. 'self' is not among what is allowed.
//  3. sandbox, without any allowance: no scripts, forms, popups or navigation of the
//     page around it; refreshes do not run; and an origin of its own, so that even a
//     script could not read a page of ours.
//  4. nosniff, and a type that we say: HTML where it was HTML, text otherwise. What
//     was fetched as anything else has no copy.
//
// Rejected: serving copies under a second host name, as large sites do. A sandbox
// gives the same separation without asking anybody to set up a name.
const copyPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// The forms of a copy.
const (
	formPage   = ""       // as it looked, as far as that is safe
	formText   = "text"   // title and text, as they are indexed
	formSource = "source" // the source, as text
)

// maxCopies is how many copies are made at a time: each is in memory as it was fetched (the
// setting warc.max_body bounds that), decoded, and written anew.
const maxCopies = 8

// oneOfCopies runs a handler that makes a copy, when there is room for it. Who waits for
// longer than a request may take is told to come back.
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

// readCopy reads which copy is asked for, and finds it.
func (s *Server) readCopy(r *http.Request) (*page.Fetch, uint64, error) {
	params := r.URL.Query()
	u, err := urlOf(params)
	if err != nil {
		return nil, 0, err
	}
	at, err := timestampOf(params)
	if err != nil {
		return nil, 0, err
	}
	f, err := s.opts.Inspect.Copy(r.Context(), u, at)
	if err != nil {
		return nil, 0, fmt.Errorf("copy of %s: %w", u, err)
	}
	return f, at, nil
}

func timestampOf(params url.Values) (uint64, error) {
	raw := params.Get("at")
	if raw == "" {
		return 0, nil
	}
	at, err := strconv.ParseUint(raw, 10, 64)
	if err != nil {
		return 0, badRequest("the parameter at takes the timestamp of a version, a whole number")
	}
	return at, nil
}

// copy sends the copy itself.
func (s *Server) copy(w http.ResponseWriter, r *http.Request) error {
	f, _, err := s.readCopy(r)
	if err != nil {
		return err
	}
	text, html, ok := page.BodyText(f)
	if !ok {
		return &requestError{http.StatusNotFound, "what was fetched is neither HTML nor plain text"}
	}
	mediaType, form := "text/plain; charset=utf-8", r.URL.Query().Get("view")
	switch {
	case form == formText:
		text = textOf(f)
	case form == formPage && html:
		mediaType, text = "text/html; charset=utf-8", sanitize(text)
	case form != formPage && form != formSource:
		return badRequest("the parameter view takes text, source or nothing")
	}
	h := w.Header()
	h.Set("Content-Security-Policy", copyPolicy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Content-Type", mediaType)
	h.Set("Last-Modified", f.Time.UTC().Format(http.TimeFormat))
	_, err = w.Write([]byte(text))
	return ignoreGone(err)
}

// textOf is what the index has of a copy.
func textOf(f *page.Fetch) string {
	d := page.Interpret(f)
	if d.Outcome != page.Page {
		return "(There is no text: the page only leads elsewhere.)\n"
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
	f, at, err := s.readCopy(r)
	if err != nil {
		return err
	}
	form := r.URL.Query().Get("view")
	if form != formPage && form != formText && form != formSource {
		return badRequest("the parameter view takes text, source or nothing")
	}
	return s.show(w, http.StatusOK, "copy.html", &copyPage{Frame: s.frame(""), Fetch: f, At: at, Form: form})
}

// Source is the address of the copy in the frame.
func (p *copyPage) Source() string { return copyAddress("/copy", p.Fetch.URL, p.At, p.Form) }

// As is the address of the page with the copy in another form.
func (p *copyPage) As(form string) string { return copyAddress("/view", p.Fetch.URL, p.At, form) }
