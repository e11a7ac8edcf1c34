package warc

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/webindexer/indexer/internal/coding"
	"github.com/webindexer/indexer/page"
)

// response is a recorded HTTP response with its codings.
type response struct {
	status int
	header http.Header
	body   []byte // part of the block
}

var errNoStatus = errors.New("no HTTP status line")

// parseResponse parses the block of a response record. It accepts what servers send and
// crawlers write: any protocol version, ICY, a missing reason, lines that end in LF,
// folded fields, and interim 1xx responses before the final one.
func parseResponse(block []byte) (response, error) {
	for {
		n := headerEnd(block, 0)
		if n < 0 && len(bytes.TrimSpace(block)) == 0 {
			return response{}, errors.New("the HTTP response is empty")
		}
		status, err := parseStatus(block)
		switch {
		case err != nil:
			return response{}, err
		case n < 0:
			return response{}, errors.New("the HTTP header has no end")
		case n > maxHeader:
			return response{}, fmt.Errorf("HTTP header of %d bytes is over the limit of %d", n, maxHeader)
		}
		if rest := block[n:]; status < 200 && status != http.StatusSwitchingProtocols && bytes.HasPrefix(rest, []byte("HTTP/")) {
			block = rest
			continue
		}
		_, text, _ := bytes.Cut(block[:n], []byte("\n"))
		header := parseHTTPHeader(text)
		page.OneContentType(header)
		return response{status, header, block[n:]}, nil
	}
}

// parseStatus reads the status of the first line: a word, spaces, three digits.
func parseStatus(block []byte) (int, error) {
	line, _, _ := bytes.Cut(block, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	proto, rest, _ := bytes.Cut(line, []byte(" "))
	if !bytes.HasPrefix(proto, []byte("HTTP/")) && !bytes.Equal(proto, []byte("HTTP")) && !bytes.Equal(proto, []byte("ICY")) {
		return 0, errNoStatus
	}
	rest = bytes.TrimLeft(rest, " ")
	code, _, _ := bytes.Cut(rest, []byte(" "))
	if len(code) == 3 {
		if status, err := strconv.Atoi(string(code)); err == nil && status >= 100 { // which rules out a sign
			return status, nil
		}
	}
	return 0, fmt.Errorf("bad HTTP status line %q", abbreviate(string(line)))
}

// parseHTTPHeader returns the fields with values in valid UTF-8. It reads other values as
// Latin-1, which was their encoding until RFC 7230.
func parseHTTPHeader(text []byte) http.Header {
	var buf [32]Field
	fields := parseFields(buf[:0], string(text))
	h := make(http.Header, len(fields))
	values := make([]string, 0, len(fields)) // one array for all fields that occur once
	for _, f := range fields {
		key := http.CanonicalHeaderKey(toUTF8(f.Name))
		value := toUTF8(f.Value)
		if old, ok := h[key]; ok {
			h[key] = append(old, value)
			continue
		}
		values = append(values, value)
		h[key] = values[len(values)-1 : len(values) : len(values)]
	}
	return h
}

func toUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// payload removes the transfer and content codings, and the header fields that declare
// them. The result shares no memory with the block.
func (resp *response) payload(limit int64) ([]byte, error) {
	transfer := coding.List(resp.header["Transfer-Encoding"])
	content := coding.List(resp.header["Content-Encoding"])
	body, own := resp.body, false // own: body shares no memory with the block
	if n := len(transfer); n > 0 && transfer[n-1] == "chunked" {
		transfer = transfer[:n-1]
		var err error
		if body, own, err = dechunk(body); err != nil {
			return nil, err
		}
	}
	body, decoded, err := coding.Decode(body, append(content, transfer...), limit)
	if err != nil {
		return nil, err
	}
	if len(resp.header["Transfer-Encoding"])+len(resp.header["Content-Encoding"]) > 0 {
		resp.header.Del("Transfer-Encoding")
		resp.header.Del("Content-Encoding")
		resp.header.Del("Content-Length")
	}
	if own || decoded {
		return body, nil
	}
	return bytes.Clone(body), nil
}
