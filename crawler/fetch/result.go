package fetch

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
)

// Request says what to fetch.
type Request struct {
	URL page.URL
	// ETag and LastModified make the request conditional (If-None-Match,
	// If-Modified-Since; RFC 9110 section 13.1). They are the fields of an earlier
	// response, "" for none. Values that cannot be sent are omitted.
	ETag, LastModified string
	// Cookies are sent, and receive what the response sets; nil: use none.
	Cookies *Cookies
	// MaxBody is the largest payload and the largest decoded body in bytes; 0: as Options
	// say.
	MaxBody int64
	// Reservation bounds the memory of large bodies; nil: nothing does. The caller releases
	// it after the result.
	Reservation *Reservation
	// Enough is how many bytes of the decoded body are enough for the caller; 0: all are
	// needed. See Result.Head.
	Enough int64
}

// Result is the outcome of a request. Its byte slices may share memory: do not change
// them.
type Result struct {
	// Fetch is the fetch for the index. Its Time is when the request began. Its Body is
	// decoded, and its Header lacks the fields that described codings. If Class is not
	// OK, its Err is "CLASS: reason", always the same text for the same failure, and
	// Status and Header are set only if the header was received.
	Fetch page.Fetch
	Class Class
	Cause error // everything known about a failure; nil if Class is OK

	Proto      string         // "HTTP/1.1", "HTTP/2.0"; "" if no header came
	RemoteAddr netip.AddrPort // the server's; zero with a proxy or without a connection
	Reused     bool           // the connection had served an earlier fetch
	Timings    Timings

	// RetryAfter is how long the server asks to wait, 0 if it does not.
	RetryAfter time.Duration

	// RequestBlock is the request in HTTP/1.1 form. Over HTTP/1.1 it is what was sent;
	// over HTTP/2 it is the equivalent request.
	RequestBlock []byte
	// HeaderBlock is the response's status line, fields and empty line. Over HTTP/1.x
	// these are the bytes received (without interim 1xx responses). Over HTTP/2 and
	// through a proxy's tunnel they are built from the fields, in HTTP/1.1 form and in
	// order of names.
	HeaderBlock []byte
	// Payload is the response's content as received, with content codings and without
	// transfer coding; at most Options.MaxPayload bytes.
	Payload []byte
	// Chunked reports that HeaderBlock declares the chunked transfer coding, which
	// Payload no longer has.
	Chunked bool
	// Truncated reports that Payload is incomplete. Err is set then.
	Truncated bool
	// Head is the first Request.Enough bytes of the decoded body if the exchange failed
	// after they had been received; otherwise nil.
	Head []byte
}

// Timings are the durations of an exchange's phases. Those of connecting are 0 if the
// connection was reused or a proxy connects.
type Timings struct {
	Resolve, Connect, TLS time.Duration
	FirstByte             time.Duration // from the request sent to the response's first byte
	Waited                time.Duration // for the Reservation
	Total                 time.Duration // from Fetch called to its return
}

// ResponseBlock returns the response as the block of a WARC response record:
// HeaderBlock, then the payload. If the header declares chunks, the payload becomes one
// chunk, so that header and body agree; the server's chunk boundaries are lost. It is
// nil if no header was received. Do not record it as a full response if Truncated.
func (r *Result) ResponseBlock() []byte {
	if len(r.HeaderBlock) == 0 {
		return nil
	}
	block := slices.Grow(slices.Clone(r.HeaderBlock), len(r.Payload)+32)
	if !r.Chunked {
		return append(block, r.Payload...)
	}
	if len(r.Payload) > 0 {
		block = fmt.Appendf(block, "%x\r\n", len(r.Payload))
		block = append(block, r.Payload...)
		block = append(block, "\r\n"...)
	}
	return append(block, "0\r\n\r\n"...)
}

// CountsAgainstHost reports whether the result is a reason to leave the host alone for
// a while: a failure of such a class, status 429 or a 5xx. A failure after a wait for the
// Reservation does not count, because the server may have given up meanwhile.
func (r *Result) CountsAgainstHost() bool {
	return r.Class.CountsAgainstHost() && r.Timings.Waited == 0 || r.Fetch.Status == http.StatusTooManyRequests || r.Fetch.Status >= 500
}

func (r *Result) fail(f *failure) {
	r.Class, r.Cause = f.class, f
	r.Fetch.Err, r.Fetch.Body, r.Fetch.Revisit = f.stable(), nil, false
}
