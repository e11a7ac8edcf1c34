package fetch

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/webindexer/indexer/internal/coding"
	"github.com/webindexer/indexer/page"
)

// describe sets the status line and the header, and returns the content codings. raw is
// the header as received, or nil if it was not copied.
//
// The index uses the block that is recorded, not net/http's header, which lacks some
// fields and treats names with a space before the colon as different: a reader of the
// record must see the same as the index.
func (r *Result) describe(resp *http.Response, raw []byte) ([]string, error) {
	r.Proto = resp.Proto
	r.Fetch.Status = resp.StatusCode
	chunked := slices.Contains(resp.TransferEncoding, "chunked")
	if hasStatus(raw, resp.StatusCode) {
		r.HeaderBlock, r.Chunked = raw, chunked
	} else {
		r.HeaderBlock = headerBlock(resp)
	}
	h := parseHeader(r.HeaderBlock)
	page.OneContentType(h)
	r.RetryAfter, _ = page.RetryAfter(h, time.Now())
	list := coding.List(h["Content-Encoding"])
	if slices.Contains(coding.List(h["Transfer-Encoding"]), "chunked") != r.Chunked {
		return nil, &failure{class: BadResponse, text: "the transfer coding is ambiguous"}
	}
	if len(h["Transfer-Encoding"])+len(h["Content-Encoding"]) > 0 {
		h.Del("Transfer-Encoding")
		h.Del("Content-Encoding")
		h.Del("Content-Length")
	}
	r.Fetch.Header = h
	return list, nil
}

// hasStatus guards against a tape that was started in the middle of a response.
func hasStatus(raw []byte, status int) bool {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	fields := bytes.Fields(line)
	return len(fields) >= 2 && bytes.HasPrefix(line, []byte("HTTP/")) && string(fields[1]) == strconv.Itoa(status)
}

// headerBlock builds a header in HTTP/1.1 form, its fields in order of their names.
func headerBlock(resp *http.Response) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", resp.StatusCode, http.StatusText(resp.StatusCode))
	_ = resp.Header.Write(&b) // a Buffer does not fail
	b.WriteString("\r\n")
	return b.Bytes()
}

// parseHeader reads the fields of a header block. It reads values that are not UTF-8 as
// Latin-1 (RFC 9110 section 5.5), drops space around names (RFC 9112 section 5.1), and
// omits what it cannot read.
func parseHeader(block []byte) http.Header {
	_, fields, _ := bytes.Cut(block, []byte("\n"))
	parsed, _ := textproto.NewReader(bufio.NewReader(bytes.NewReader(fields))).ReadMIMEHeader()
	h := make(http.Header, len(parsed))
	for _, name := range slices.Sorted(maps.Keys(parsed)) {
		key := http.CanonicalHeaderKey(strings.TrimSpace(name))
		for _, v := range parsed[name] {
			// A folded line that is empty leaves a space at the end.
			h[key] = append(h[key], toUTF8(strings.Trim(v, " \t")))
		}
	}
	return h
}

func toUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	out, err := charmap.ISO8859_1.NewDecoder().String(s)
	if err != nil { // every byte is a character of Latin-1
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return out
}

// checkStatus rejects answers that cannot belong to this request.
func checkStatus(req *http.Request, resp *http.Response) error {
	switch {
	case resp.StatusCode < 200:
		return &failure{class: BadResponse, text: fmt.Sprintf("status %d is no final response", resp.StatusCode)}
	case resp.StatusCode == http.StatusNotModified && !isConditional(req):
		// As a revisit it would leave the URL without content for ever.
		return &failure{class: BadResponse, text: "status 304 for a request without condition"}
	}
	return nil
}
