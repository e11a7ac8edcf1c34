package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// dechunk removes the chunked transfer coding (RFC 9112 section 7.1), with its extensions
// and trailers. If b does not begin with a chunk, chunked is false and there is no error:
// crawlers store decoded bodies and keep the header that declares the coding.
//
// Like browsers, it accepts a body that ends between two chunks; a body that ends within a
// chunk is cut off.
func dechunk(b []byte) (body []byte, chunked bool, err error) {
	body = make([]byte, 0, len(b))
	for first := true; ; first = false {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		size, ok := chunkSize(line)
		switch {
		case !first && len(b) == 0:
			return body, true, nil
		case first && (!ok || !found):
			return b, false, nil
		case !ok || !found:
			return nil, true, fmt.Errorf("chunked body: bad chunk size %q", abbreviate(string(line)))
		case size == 0:
			return body, true, nil
		case size > int64(len(rest)):
			return nil, true, fmt.Errorf("chunked body: chunk of %d bytes has only %d: %w", size, len(rest), io.ErrUnexpectedEOF)
		}
		body = append(body, rest[:size]...)
		if b, ok = cutNewline(rest[size:]); !ok {
			return nil, true, errors.New("chunked body: no newline after a chunk")
		}
	}
}

// chunkSize reads a chunk's first line: hex digits and an optional extension.
func chunkSize(line []byte) (size int64, ok bool) {
	line, _, _ = bytes.Cut(line, []byte(";"))
	line = bytes.Trim(line, " \t\r")
	if len(line) == 0 {
		return 0, false
	}
	for _, c := range line {
		var digit byte
		switch {
		case c >= '0' && c <= '9':
			digit = c - '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			digit = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		size = min(size<<4|int64(digit), 1<<56)
	}
	return size, true
}

// cutNewline drops the newline after a chunk, which may be missing at the end of the body.
func cutNewline(b []byte) ([]byte, bool) {
	switch {
	case len(b) == 0 || len(b) == 1 && b[0] == '\r':
		return nil, true
	case b[0] == '\n':
		return b[1:], true
	case b[0] == '\r' && b[1] == '\n':
		return b[2:], true
	}
	return b, false
}
