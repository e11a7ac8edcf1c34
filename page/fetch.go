package page

import (
	"net/http"
	"strings"
	"time"

	"github.com/webindexer/indexer/page/office"
)

// Fetch is one attempt to get one URL, as a crawler made it or a WARC file
// recorded it.
type Fetch struct {
	URL  URL
	Time time.Time // when it was fetched, in UTC, up to nanoseconds

	// Status is the HTTP status, or 0 without a response.
	Status int
	// Header holds the response's header fields, with one Content-Type at most (OneContentType).
	Header http.Header
	// Body is the payload with transfer and content codings removed.
	Body []byte

	// Revisit marks a fetch without a payload because the page is unchanged (a 304, or a
	// WARC revisit record). It renews only the time.
	Revisit bool
	// Office says that an office document is a page: semantics.md has no such pages, so
	// only the setting office makes the loader set it. It is stored with the fetch. What
	// a stored fetch means therefore follows from the fetch alone, whatever the setting
	// is now.
	Office bool
	// Resource says that the body is kept although it is not a page, because pages may need it
	// when they are rendered. Only the setting render makes the loader set it, for a fetch for
	// which IsResource holds. It is stored with the fetch.
	Resource bool
	// Reading says that Body is not the payload but what was read of it when the fetch was
	// loaded. Only the setting pdf makes the loader set it, for a fetch for which IsPDF holds.
	// It is stored with the fetch.
	Reading Reading
	// Err says why there is no usable response (network error, body that cannot
	// be decoded); empty otherwise. A fetch with Err has the outcome Failed.
	Err string
}

// Reading is what a reader in a process of its own made of a payload that Interpret does not
// read: a PDF document. The zero Reading says that there is none.
type Reading struct {
	Version int      // of the reader, from 1
	Failed  bool     // there is no text; the result says why
	Sum     [32]byte // SHA-256 of the result: HTML in UTF-8, or the reason
}

// Exists reports whether there is a reading.
func (r Reading) Exists() bool { return r.Version != 0 }

// Plain returns the fetch as it would be if all settings had been off when it was loaded: without
// Office, Resource and Reading. Interpret does not read its body if there was one of them.
func (f *Fetch) Plain() *Fetch {
	plain := *f
	plain.Office, plain.Resource, plain.Reading = false, false, Reading{}
	return &plain
}

// HasFailed reports whether Interpret would return Failed, without reading the body.
// Such a fetch leaves an earlier one in force.
func (f *Fetch) HasFailed() bool {
	switch {
	case f.Err != "":
		return true
	case f.IsRevisit(), f.Status == http.StatusNotFound, f.Status == http.StatusGone:
		return false
	case isRedirectStatus(f.Status):
		return strings.TrimSpace(f.Header.Get("Location")) == ""
	}
	return !isSuccessStatus(f.Status)
}

// IsRedirect reports whether the status is one of a redirect that a browser follows.
func (f *Fetch) IsRedirect() bool { return isRedirectStatus(f.Status) }

// IsSuccess reports whether there is a payload with a status of 2xx.
func (f *Fetch) IsSuccess() bool {
	return f.Err == "" && !f.IsRevisit() && isSuccessStatus(f.Status)
}

// mayBePage reports whether all but the media type of the response is that of a page.
func (f *Fetch) mayBePage() bool { return f.IsSuccess() && !f.URL.IsRobotsTxt() }

// IsOffice reports whether the response is an office document, which Interpret reads if Office
// is set.
func (f *Fetch) IsOffice() bool {
	return f.mayBePage() && officeKind(f) != office.None
}

// IsPDF reports whether the response is a PDF document, which Interpret reads if there is a
// Reading of it.
func (f *Fetch) IsPDF() bool {
	return f.mayBePage() && isPDF(f)
}

func isPDF(f *Fetch) bool {
	switch essence(f.Header.Get("Content-Type")) {
	case "application/pdf", "application/x-pdf":
		return true
	}
	return false
}

func officeKind(f *Fetch) office.Kind { return office.KindOf(essence(f.Header.Get("Content-Type"))) }

// NeedsBody reports whether the result of Interpret depends on the body, or pages that are
// rendered may need it. If not, the body need not be kept.
func (f *Fetch) NeedsBody() bool {
	if !f.mayBePage() {
		return false
	}
	mediaType := essence(f.Header.Get("Content-Type"))
	return f.Resource || f.Reading.Exists() || !strings.Contains(mediaType, "/") || bodyKind(f) != kindOther
}
