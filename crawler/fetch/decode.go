package fetch

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
	// maxCodings is how many content codings may be stacked.
	maxCodings = 5
	// maxWindow bounds the window of zstd as a content coding (RFC 9659 section 3).
	maxWindow = 8 << 20
)

var errTooLarge = errors.New("too large")

// codings are the values of Content-Encoding fields in the order they were applied,
// without those that change nothing.
func codings(fields []string) []string {
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

// decode removes content codings; no step of it yields more than limit bytes. The
// result may be payload itself. Its answers are those of package warc on the same
// record, so that a recorded crawl replays to the same index; a test compares them.
//
// A coding that is declared but not there is passed over if the payload is text as
// it is: servers send files as they are with the header of their compressed form.
func decode(payload []byte, codings []string, limit int64) ([]byte, error) {
	if len(codings) > maxCodings {
		return nil, &failure{class: BadResponse, text: fmt.Sprintf("more than %d content codings", maxCodings)}
	}
	body := payload
	for i := len(codings) - 1; i >= 0 && len(body) > 0; i-- {
		part, err := decodeOne(body, codings[i], limit)
		switch {
		case err == nil:
			body = part
		case errors.Is(err, errTooLarge):
			return nil, tooLargeBody(limit)
		case !isText(body):
			return nil, &failure{BadResponse, "the body does not decode", fmt.Errorf("content coding %.40q: %w", codings[i], err)}
		}
	}
	if int64(len(body)) > limit {
		return nil, tooLargeBody(limit)
	}
	return body, nil
}

func tooLargeBody(limit int64) error {
	return &failure{class: TooLarge, text: fmt.Sprintf("the decoded body is over %d bytes", limit)}
}

func isText(b []byte) bool { return strings.HasPrefix(http.DetectContentType(b), "text/") }

func decodeOne(b []byte, coding string, limit int64) ([]byte, error) {
	switch coding {
	case "gzip":
		return gunzip(b, limit)
	case "br":
		return readLimited(brotli.NewReader(bytes.NewReader(b)), limit)
	case "deflate":
		return inflate(b, limit)
	case "zstd":
		return unzstd(b, limit)
	}
	return nil, errors.New("it is not known")
}

// The state of decoders, 40 kB of gzip's and up to twice maxWindow of zstd's, is
// kept for the next body. A zstd decoder of concurrency 1 has no goroutines, so one
// that the pool drops need not be closed.
var (
	gunzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}
	unzstders  sync.Pool // of *zstd.Decoder
)

func unzstd(b []byte, limit int64) ([]byte, error) {
	z, ok := unzstders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
	}
	defer func() {
		if z.Reset(nil) == nil { // lets go of b
			unzstders.Put(z)
		}
	}()
	if err := z.Reset(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	return readLimited(z, limit)
}

// gunzip reads the gzip members that b begins with and ignores what follows them,
// as browsers do.
func gunzip(b []byte, limit int64) ([]byte, error) {
	src := bufio.NewReader(bytes.NewReader(b)) // keeps gzip from reading past a member
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
		if head, _ := src.Peek(4); !bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}) || head[3]&0xe0 != 0 {
			return out, nil
		}
		if err := z.Reset(src); err != nil {
			return nil, err
		}
	}
}

// inflate reads "deflate" with the zlib header that RFC 9110 section 8.4.1.2 asks
// for, and without it, as some servers send it.
func inflate(b []byte, limit int64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err == nil {
		var out []byte
		if out, err = readLimited(z, limit); err == nil || errors.Is(err, errTooLarge) {
			return out, err
		}
	}
	out, rawErr := readLimited(flate.NewReader(bytes.NewReader(b)), limit)
	if rawErr == nil || errors.Is(rawErr, errTooLarge) {
		return out, rawErr
	}
	return nil, err
}

// readLimited reads all of r; its memory grows with what comes.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(out)) > limit {
		return nil, errTooLarge
	}
	return out, nil
}
