package fetch

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// describe notes the status line and the header. raw is the header as received, or
// nil if it was not read along.
func (r *Result) describe(resp *http.Response, raw []byte) {
	r.Proto = resp.Proto
	r.Fetch.Status = resp.StatusCode
	r.RetryAfter = retryAfter(resp.Header, time.Now())
	if hasStatus(raw, resp.StatusCode) {
		r.HeaderBlock, r.Chunked = raw, slices.Contains(resp.TransferEncoding, "chunked")
	} else {
		r.HeaderBlock = headerBlock(resp)
	}
	r.Fetch.Header = indexHeader(r.HeaderBlock)
}

// hasStatus guards against a tape that was started in the middle of something.
func hasStatus(raw []byte, status int) bool {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	fields := bytes.Fields(line)
	return len(fields) >= 2 && bytes.HasPrefix(line, []byte("HTTP/")) && string(fields[1]) == strconv.Itoa(status)
}

// headerBlock makes a header in HTTP/1.1 form, its fields in order of their names.
func headerBlock(resp *http.Response) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", resp.StatusCode, http.StatusText(resp.StatusCode))
	_ = resp.Header.Write(&b) // a Buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

// indexHeader is the header for page.Fetch, from the block that is recorded, as
// net/http drops some fields: values in valid UTF-8, read as Latin-1 where they are
// not (RFC 9110 section 5.5), and without the fields that tell of codings, which
// the body no longer has. What cannot be read is left out.
func indexHeader(block []byte) http.Header {
	_, fields, _ := bytes.Cut(block, []byte("\n"))
	parsed, _ := textproto.NewReader(bufio.NewReader(bytes.NewReader(fields))).ReadMIMEHeader()
	h := http.Header(parsed)
	for _, values := range h {
		for i, v := range values {
			values[i] = toUTF8(v)
		}
	}
	if len(h["Transfer-Encoding"])+len(h["Content-Encoding"]) > 0 {
		h.Del("Transfer-Encoding")
		h.Del("Content-Encoding")
		h.Del("Content-Length")
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

// checkStatus refuses the answers that cannot be an answer to this request.
func checkStatus(req *http.Request, resp *http.Response) error {
	switch {
	case resp.StatusCode < 200:
		return &failure{class: BadResponse, text: fmt.Sprintf("status %d is no final response", resp.StatusCode)}
	case resp.StatusCode == http.StatusNotModified && !isConditional(req):
		// Taken for a revisit it would keep the URL without content for ever.
		return &failure{class: BadResponse, text: "status 304 for a request without condition"}
	}
	return nil
}
