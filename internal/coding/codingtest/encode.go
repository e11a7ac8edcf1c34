// Package codingtest encodes bodies with content codings, for tests of code that removes them.
package codingtest

import (
	"bytes"
	"compress/zlib"
	"io"
	"slices"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Encode applies a content coding (RFC 9110 section 8.4.1): gzip, br, zstd, deflate, or
// raw-deflate, which is deflate without the header of zlib, as some servers send it. The coding
// as-is returns the data.
func Encode(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch name {
	case "as-is":
		return data
	case "gzip":
		w = gzip.NewWriter(&b)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw-deflate":
		w, err = flate.NewWriter(&b, flate.DefaultCompression)
	default:
		t.Fatalf("no coding %q", name)
	}
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clip(b.Bytes())
}
