package warc

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxCodings is how many codings may be stacked on one body.
	maxCodings = 5
	// maxContentWindow bounds the window of zstd as a content coding (RFC 9659).
	maxContentWindow = 8 << 20
)

// decodeBody removes content codings, given in the order they were applied. Where
// there is nothing to remove, decoded is false and out is body itself.
func decodeBody(body []byte, codings []string, limit int64) (out []byte, decoded bool, err error) {
	if len(codings) > maxCodings {
		return nil, false, fmt.Errorf("%d content codings, more than %d", len(codings), maxCodings)
	}
	for i := len(codings) - 1; i >= 0; i-- {
		part, err := decodeOne(body, codings[i], limit)
		var tooLong *bodyTooLongError
		switch {
		case err == nil:
			decoded = decoded || len(body) > 0
			body = part
		case errors.As(err, &tooLong) || !isText(body):
			return nil, false, fmt.Errorf("content coding %q: %w", abbreviate(codings[i]), err)
		default:
			// Declared, but the body is plain text: crawlers store bodies decoded
			// and keep the header.
		}
	}
	if int64(len(body)) > limit {
		return nil, false, &bodyTooLongError{limit}
	}
	return body, decoded, nil
}

// isText says whether a body that fails to decode is readable as it is.
func isText(body []byte) bool {
	return strings.HasPrefix(http.DetectContentType(body), "text/")
}

type bodyTooLongError struct{ limit int64 }

func (e *bodyTooLongError) Error() string {
	return fmt.Sprintf("the body is over the limit of %d bytes", e.limit)
}

func decodeOne(body []byte, coding string, limit int64) ([]byte, error) {
	if len(body) == 0 { // an answer to HEAD, or a stored redirect
		return body, nil
	}
	var r io.Reader
	switch coding {
	case "gzip":
		return gunzip(body, limit)
	case "br":
		r = brotli.NewReader(bytes.NewReader(body))
	case "deflate":
		return inflate(body, limit)
	case "zstd":
		dec, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxContentWindow))
		if err != nil {
			return nil, err
		}
		defer dec.Close()
		r = dec
	default:
		return nil, errors.New("it is not known")
	}
	return readLimited(r, limit)
}

// gunzippers saves the 40 KB of state that each of thousands of small bodies needs.
var gunzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}

// gunzip reads all gzip members of a body; what follows them is ignored, as
// browsers do.
func gunzip(body []byte, limit int64) ([]byte, error) {
	src := bufio.NewReader(bytes.NewReader(body))
	z := gunzippers.Get().(*gzip.Reader)
	defer gunzippers.Put(z)
	if err := z.Reset(src); err != nil {
		return nil, err
	}
	var out []byte
	for {
		z.Multistream(false)
		part, err := readLimited(z, limit-int64(len(out)))
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = part
		} else {
			out = append(out, part...)
		}
		if head, _ := src.Peek(4); !isGzip(head) {
			return out, nil
		}
		if err := z.Reset(src); err != nil {
			return nil, err
		}
	}
}

// inflate reads "deflate", which servers send with the zlib header the standard
// asks for and without it.
func inflate(body []byte, limit int64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err == nil {
		var out []byte
		if out, err = readLimited(z, limit); err == nil {
			return out, nil
		}
	}
	out, rawErr := readLimited(flate.NewReader(bytes.NewReader(body)), limit)
	if rawErr == nil {
		return out, nil
	}
	return nil, err
}

// readLimited reads all of r, or fails as soon as that is over the limit. Its
// memory grows with what is read.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(out)) > limit {
		return nil, &bodyTooLongError{limit}
	}
	return out, nil
}
