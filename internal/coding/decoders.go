package coding

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the window of zstd as a content coding (RFC 9659 section 3).
const maxWindow = 8 << 20

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
	return nil, ErrUnknown
}

// The state of decoders, 40 kB of gzip's and up to twice maxWindow of zstd's, is
// kept for the next body. A zstd decoder of concurrency 1 has no goroutines, so one
// that the pool drops need not be closed.
var (
	gunzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}
	unzstders  sync.Pool // of *zstd.Decoder
)

func newUnzstder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

func unzstd(b []byte, limit int64) ([]byte, error) {
	z, ok := unzstders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		if z, err = newUnzstder(nil); err != nil {
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
		if head, _ := src.Peek(4); !isGzip(head) {
			return out, nil
		}
		if err := z.Reset(src); err != nil {
			return nil, err
		}
	}
}

// isGzip wants magic, the one method there is, and no reserved flags (RFC 1952
// section 2.3.1).
func isGzip(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b, 8}) && len(b) >= 4 && b[3]&0xe0 == 0
}

// inflate reads "deflate" with the zlib header that RFC 9110 section 8.4.1.2 asks
// for, and without it, as some servers send it.
func inflate(b []byte, limit int64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err == nil {
		var out []byte
		if out, err = readLimited(z, limit); err == nil || errors.Is(err, ErrTooLong) {
			return out, err
		}
	}
	out, rawErr := readLimited(flate.NewReader(bytes.NewReader(b)), limit)
	if rawErr == nil || errors.Is(rawErr, ErrTooLong) {
		return out, rawErr
	}
	return nil, err
}

// readLimited reads all of r, or fails as soon as that is over the limit. Its memory
// grows with what comes.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(out)) > limit {
		return nil, ErrTooLong
	}
	return out, nil
}

// decoder returns a reader that removes coding from what r yields.
func decoder(r io.Reader, coding string) (io.Reader, error) {
	switch coding {
	case "gzip":
		return gzip.NewReader(r)
	case "br":
		return brotli.NewReader(r), nil
	case "deflate":
		src := bufio.NewReader(r)
		if head, _ := src.Peek(2); len(head) == 2 && isZlib(head) {
			return zlib.NewReader(src)
		}
		return flate.NewReader(src), nil
	case "zstd":
		return newUnzstder(r)
	}
	return nil, ErrUnknown
}

// isZlib checks the header of RFC 1950 section 2.2.
func isZlib(b []byte) bool { return b[0]&0x0f == 8 && (int(b[0])<<8|int(b[1]))%31 == 0 }
