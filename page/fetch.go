package page

import (
	"net/http"
	"time"
)

// Fetch is one attempt to get one URL, as a crawler made it or a WARC file
// recorded it.
type Fetch struct {
	URL  URL
	Time time.Time // when it was fetched, UTC, up to nanoseconds

	// Status is the HTTP status, or 0 when no response came.
	Status int
	// Header holds the response's header fields.
	Header http.Header
	// Body is the payload with transfer and content codings removed.
	Body []byte

	// Revisit marks a fetch that brought no payload because it is the same as
	// before (a 304, or a WARC revisit record): it renews the time only.
	Revisit bool
	// Err says why there is no usable response (network error, body that cannot
	// be decoded); empty otherwise. A fetch with Err has the outcome Failed.
	Err string
}
