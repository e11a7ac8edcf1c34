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
	// Header holds the response's header fields.
	Header http.Header
	// Body is the payload with transfer and content codings removed.
	Body []byte

	// Revisit marks a fetch without a payload because the page is unchanged (a 304, or a
	// WARC revisit record). It renews only the time.
	Revisit bool
	// Office says that an office document is a page: semantics.md has none, so only the
	// setting office makes the loader set it. It is stored with the fetch. What a stored
	// fetch means therefore follows from the fetch alone, whatever the setting is now.
	Office bool
	// Resource says that the body is kept although it is no page, because pages may need it
	// when they are rendered. Only the setting render makes the loader set it, for a fetch for
	// which IsResource holds. It is stored with the fetch.
	Resource bool
	// Err says why there is no usable response (network error, body that cannot
	// be decoded); empty otherwise. A fetch with Err has the outcome Failed.
	Err string
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
	return f.Status < 200 || f.Status > 299
}

// IsOffice reports whether the response is an office document, which Interpret reads if Office
// is set.
func (f *Fetch) IsOffice() bool {
	return f.Err == "" && !f.IsRevisit() && f.Status >= 200 && f.Status <= 299 && !isRobotsTxt(f.URL) && officeKind(f) != office.None
}

func officeKind(f *Fetch) office.Kind { return office.KindOf(essence(f.Header.Get("Content-Type"))) }

// NeedsBody reports whether the result of Interpret depends on the body, or pages that are
// rendered may need it. If not, the body need not be kept.
func (f *Fetch) NeedsBody() bool {
	if f.Err != "" || f.IsRevisit() || f.Status < 200 || f.Status > 299 || isRobotsTxt(f.URL) {
		return false
	}
	mediaType := essence(f.Header.Get("Content-Type"))
	return f.Resource || !strings.Contains(mediaType, "/") || bodyKind(f) != kindOther
}
