package fetch

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/internal/coding/codingtest"
)

// TestResponses serves what the specs say, byte for byte, over TCP.
//
// Each line of the input is sent with CRLF; a line in Go quotes as it is, without.
// "@CODING+CODING*N TEXT" is TEXT (or what its Go quotes hold) N times with those codings on it. The argument
// end says how the server ends: close (what it has not sent never comes), reset,
// or keep. header, payload and body are the limits in bytes. An empty "" keeps the
// empty line before it, which would be the input's end.
func TestResponses(t *testing.T) {
	datadriven.Walk(t, "testdata/responses", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			end := "close"
			d.MaybeScanArgs(t, "end", &end)
			data := wire(t, d.Input)
			s := serveRaw(t, func(c *net.TCPConn, _ string) bool {
				_, _ = c.Write(data) // fails if the client has seen enough
				if end == "reset" {
					_ = c.SetLinger(0)
					_ = c.Close()
				}
				return end == "keep"
			})
			f := newFetcher(t, s.addr, func(o *Options) {
				d.MaybeScanArgs(t, "header", &o.MaxHeader)
				d.MaybeScanArgs(t, "payload", &o.MaxPayload)
				d.MaybeScanArgs(t, "body", &o.MaxBody)
			})
			r := Request{URL: "http://h.test/"}
			d.MaybeScanArgs(t, "enough", &r.Enough)
			d.MaybeScanArgs(t, "most", &r.MaxBody)
			res := do(t, f, r)
			f.Close()
			return describe(&res, d.HasArg("block"))
		})
	})
}

// describe shows what a reader of a spec can check.
func describe(r *Result, block bool) string {
	var b strings.Builder
	if r.Class != OK {
		fmt.Fprintf(&b, "failed: %s\n", r.Fetch.Err)
	}
	if r.Proto != "" {
		fmt.Fprintf(&b, "%s %d", r.Proto, r.Fetch.Status)
		if r.Fetch.Revisit {
			b.WriteString(" revisit")
		}
		b.WriteString("\n")
	}
	for _, name := range []string{"Content-Type", "Location", "Content-Encoding", "Content-Length"} {
		for _, v := range r.Fetch.Header[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	if r.RetryAfter != 0 {
		fmt.Fprintf(&b, "retry after: %v\n", r.RetryAfter)
	}
	if len(r.Fetch.Body) > 0 {
		fmt.Fprintf(&b, "body: %s\n", short(r.Fetch.Body))
	}
	if r.Head != nil {
		fmt.Fprintf(&b, "head: %s\n", short(r.Head))
	}
	if r.Truncated {
		b.WriteString("truncated\n")
	}
	if r.CountsAgainstHost() {
		b.WriteString("counts against the host\n")
	}
	if block {
		for line := range strings.SplitAfterSeq(string(r.ResponseBlock()), "\n") {
			fmt.Fprintf(&b, "%q\n", line)
		}
	}
	return b.String()
}

func short(b []byte) string {
	if len(b) <= 100 {
		return strconv.Quote(string(b))
	}
	return fmt.Sprintf("%q... (%d bytes)", b[:20], len(b))
}

func wire(t *testing.T, input string) []byte {
	var b bytes.Buffer
	for line := range strings.SplitSeq(input, "\n") {
		switch {
		case strings.HasPrefix(line, `"`):
			raw, err := strconv.Unquote(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			b.WriteString(raw)
		case strings.HasPrefix(line, "@"):
			b.Write(coded(t, line[1:]))
		default:
			b.WriteString(line + "\r\n")
		}
	}
	return b.Bytes()
}

func coded(t *testing.T, line string) []byte {
	how, text, _ := strings.Cut(line, " ")
	names, count, repeated := strings.Cut(how, "*")
	n := 1
	if repeated {
		var err error
		if n, err = strconv.Atoi(count); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasPrefix(text, `"`) {
		var err error
		if text, err = strconv.Unquote(text); err != nil {
			t.Fatal(err)
		}
	}
	data := bytes.Repeat([]byte(text), n)
	for name := range strings.SplitSeq(names, "+") {
		data = codingtest.Encode(t, name, data)
	}
	return data
}
