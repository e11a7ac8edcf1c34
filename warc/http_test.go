package warc

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestHTTP checks how blocks of responses are read. Each line of input is a piece of
// the block in Go's quoting, without the quotes; \n means a bare line feed.
func TestHTTP(t *testing.T) {
	datadriven.RunTest(t, "testdata/http", func(t *testing.T, d *datadriven.TestData) string {
		block, err := strconv.Unquote(`"` + strings.ReplaceAll(d.Input, "\n", "") + `"`)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := parseResponse([]byte(block))
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		var out strings.Builder
		fmt.Fprintf(&out, "status %d\n", resp.status)
		body, err := resp.payload(100)
		for _, name := range slices.Sorted(maps.Keys(resp.header)) {
			fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(resp.header[name], " | "))
		}
		if err != nil {
			fmt.Fprintf(&out, "error: %v\n", err)
		} else {
			fmt.Fprintf(&out, "body %q\n", body)
		}
		return out.String()
	})
}

// TestManyFoldedLines: each line is copied once, although a header may consist of folded lines. Otherwise one of two
// mebibytes took five minutes.
func TestManyFoldedLines(t *testing.T) {
	const lines = 1000
	text := "a: b\r\n" + strings.Repeat("\tc \r\n", lines) + "d: e\r\n"
	fields := parseFields(nil, text)
	if len(fields) != 2 || fields[0].Value != "b"+strings.Repeat(" c", lines) || fields[1].Value != "e" {
		t.Fatalf("%d fields: %.200q", len(fields), fields)
	}
	if n := testing.AllocsPerRun(10, func() { parseFields(nil, text) }); n > lines/10 {
		t.Errorf("%d lines take %.0f allocations", lines, n)
	}
}

// FuzzHTTP looks for blocks that make the parser panic, or give more than the
// limit.
func FuzzHTTP(f *testing.F) {
	f.Add([]byte(html("x")))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Encoding: br, deflate\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\nContent-Encoding: gzip\n\n" + gz(strings.Repeat("bomb", 1<<14))))
	f.Add([]byte("ICY 200\nA: b\n c\nContent-Encoding: zstd\n\n(\xb5/\xfd"))
	f.Fuzz(func(t *testing.T, block []byte) {
		const limit = 1 << 12
		resp, err := parseResponse(block)
		if err != nil {
			return
		}
		if resp.status < 100 || resp.status > 999 {
			t.Fatalf("status %d", resp.status)
		}
		body, err := resp.payload(limit)
		if err == nil && len(body) > limit {
			t.Fatalf("body of %d bytes", len(body))
		}
	})
}

// TestPayloadIsOwn makes sure that a body outlives the block it came from.
func TestPayloadIsOwn(t *testing.T) {
	for _, block := range []string{
		html("plain"),
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nplain",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nplain\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\n\r\nplain",
	} {
		b := []byte(block)
		resp, err := parseResponse(b)
		if err != nil {
			t.Fatal(err)
		}
		body, err := resp.payload(100)
		if err != nil {
			t.Fatal(err)
		}
		clear(b)
		if !bytes.HasSuffix(body, []byte("plain")) {
			t.Errorf("%q: the body is now %q", block, body)
		}
	}
}
