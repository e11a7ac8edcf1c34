// Package coding removes the content codings of HTTP (RFC 9110 section 8.4): gzip,
// br, zstd and deflate. The crawler and the reader of WARC files share it: a body
// must decode to the same bytes, or fail, both when it is fetched and when its
// record is replayed, or the index would not be that of the crawl.
//
// Rules in addition to the RFC, for what servers and archives really send:
//
//  1. A coding that is declared but absent, or unknown, is skipped if the body is text
//     without it: servers send plain files with the header of their compressed form, and
//     crawlers store decoded bodies and keep the header.
//  2. What follows the last gzip member is ignored.
//  3. "deflate" is read with the zlib header that the RFC asks for, and without.
//  4. An empty body is empty in every coding (answers to HEAD, stored redirects).
//  5. No step may yield more than the limit, whatever comes after it; no more than
//     MaxStacked codings are removed; the window of zstd is bounded (RFC 9659).
package coding

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// MaxStacked is how many codings may be stacked on one body.
const MaxStacked = 5

var (
	// ErrStacked is wrapped by the error for more than MaxStacked codings.
	ErrStacked = errors.New("too many content codings")
	// ErrTooLong is wrapped by the error for a body that is over the limit at any step.
	ErrTooLong = errors.New("the decoded body is over the limit")
	// ErrUnknown is wrapped by the error for a coding that is none of the four.
	ErrUnknown = errors.New("it is not known")
)

// List is the codings that Content-Encoding (or Transfer-Encoding) fields name, in
// the order in which they were applied, without those that change nothing.
func List(fields []string) []string {
	var list []string
	for _, field := range fields {
		for c := range strings.SplitSeq(field, ",") {
			switch c = strings.ToLower(strings.Trim(c, " \t")); c {
			case "", "identity", "none":
			case "x-gzip":
				list = append(list, "gzip")
			default:
				list = append(list, c)
			}
		}
	}
	return list
}

// Decode removes codings, given in the order in which they were applied. The result
// has at most limit bytes. decoded is false if nothing was removed; then out is body
// itself. Errors wrap ErrStacked or ErrTooLong, or name the coding that fails;
// those for an unknown one wrap ErrUnknown and say nothing else.
func Decode(body []byte, codings []string, limit int64) (out []byte, decoded bool, err error) {
	if len(codings) > MaxStacked {
		return nil, false, fmt.Errorf("%w: %d, more than %d", ErrStacked, len(codings), MaxStacked)
	}
	for i := len(codings) - 1; i >= 0 && len(body) > 0; i-- {
		part, err := decodeOne(body, codings[i], limit)
		switch {
		case err == nil:
			body, decoded = part, true
		case errors.Is(err, ErrTooLong):
			return nil, false, tooLong(limit)
		case !isText(body):
			return nil, false, fmt.Errorf("content coding %.40q: %w", codings[i], err)
		}
	}
	if int64(len(body)) > limit {
		return nil, false, tooLong(limit)
	}
	return body, decoded, nil
}

// Head returns the first n bytes of what Decode would return if body went on, and there were
// no limit; nil if there are not as many. It is for bodies that were not read to their end,
// or that are over the limit.
func Head(body []byte, codings []string, n int64) []byte {
	if len(codings) > MaxStacked {
		return nil
	}
	head := make([]byte, n)
	if r, err := decoders(body, codings); err == nil {
		if _, err = io.ReadFull(r, head); err == nil {
			return head
		}
	}
	if !isText(body) || int64(len(body)) < n {
		return nil
	}
	return body[:n]
}

// decoders returns a reader that removes codings from a body.
func decoders(body []byte, codings []string) (r io.Reader, err error) {
	r = bytes.NewReader(body)
	for _, name := range slices.Backward(codings) {
		if r, err = decoder(r, name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func tooLong(limit int64) error { return fmt.Errorf("%w of %d bytes", ErrTooLong, limit) }

// isText says whether a body that fails to decode is readable as it is.
func isText(b []byte) bool { return strings.HasPrefix(http.DetectContentType(b), "text/") }
