package coding

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/webindexer/indexer/internal/coding/codingtest"
)

func TestList(t *testing.T) {
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{nil, ""},
		{[]string{"gzip"}, "gzip"},
		{[]string{"X-GZip ,\tBR", "identity, deflate,,none"}, "gzip br deflate"},
		{[]string{"aws-chunked, gzip"}, "aws-chunked gzip"},
	} {
		if got := strings.Join(List(c.fields), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.fields, got, c.want)
		}
	}
}

var all = []string{"gzip", "br", "zstd", "deflate", "raw-deflate"}

func TestDecode(t *testing.T) {
	const text = "hello, world"
	plain, noise := []byte(text), []byte{0, 1, 2, 3, 255, 254}
	grows := make([]byte, 110) // as gzip it has more than 120 bytes
	rand.NewChaCha8([32]byte{}).Read(grows)
	for _, c := range []struct {
		name    string
		body    []byte
		codings string
		want    string
		decoded bool
		err     string
	}{
		{"no coding", plain, "", text, false, ""},
		{"gzip", codingtest.Encode(t, "gzip", plain), "gzip", text, true, ""},
		{"br", codingtest.Encode(t, "br", plain), "br", text, true, ""},
		{"zstd", codingtest.Encode(t, "zstd", plain), "zstd", text, true, ""},
		{"deflate", codingtest.Encode(t, "deflate", plain), "deflate", text, true, ""},
		{"deflate without zlib's header", codingtest.Encode(t, "raw-deflate", plain), "deflate", text, true, ""},
		{"the last applied is the first removed", codingtest.Encode(t, "br", codingtest.Encode(t, "gzip", plain)), "gzip br", text, true, ""},
		{"two gzip members", append(codingtest.Encode(t, "gzip", plain), codingtest.Encode(t, "gzip", plain)...), "gzip", text + text, true, ""},
		{"rubbish after gzip", append(codingtest.Encode(t, "gzip", plain), noise...), "gzip", text, true, ""},
		{"the beginning of a member after gzip", append(codingtest.Encode(t, "gzip", plain), 0x1f, 0x8b, 8), "gzip", text, true, ""},
		{"a member with reserved flags after gzip", append(codingtest.Encode(t, "gzip", plain), 0x1f, 0x8b, 8, 0xe0, 1, 2, 3), "gzip", text, true, ""},
		{"gzip cut", codingtest.Encode(t, "gzip", noise)[:20], "gzip", "", false, "content coding \"gzip\": unexpected EOF"},
		{"declared and text all the same", plain, "gzip", text, false, ""},
		{"declared twice, there once", codingtest.Encode(t, "gzip", plain), "gzip gzip", text, true, ""},
		{"declared and neither", noise, "br", "", false, "content coding \"br\": "},
		{"unknown, text", plain, "rot13", text, false, ""},
		{"unknown, no text", noise, "rot13", "", false, "content coding \"rot13\": it is not known"},
		{"empty", nil, "gzip br", "", false, ""},
		{"five", codingtest.Encode(t, "gzip", plain), "gzip gzip gzip gzip gzip", text, true, ""},
		{"six", codingtest.Encode(t, "gzip", plain), "gzip gzip gzip gzip gzip gzip", "", false, "too many content codings: 6, more than 5"},
		{"as long as allowed", bytes.Repeat(plain, 10), "", strings.Repeat(text, 10), false, ""},
		{"longer", bytes.Repeat(plain, 11), "", "", false, "the decoded body is over the limit of 120 bytes"},
		{"longer, decoded", codingtest.Encode(t, "zstd", bytes.Repeat(plain, 11)), "zstd", "", false, "the decoded body is over the limit of 120 bytes"},
		{"longer before the last step", codingtest.Encode(t, "zstd", codingtest.Encode(t, "gzip", grows)), "gzip zstd", "", false, "the decoded body is over the limit of 120 bytes"},
		{"longer in two members", append(codingtest.Encode(t, "gzip", bytes.Repeat(plain, 10)), codingtest.Encode(t, "gzip", plain)...), "gzip", "", false, "the decoded body is over the limit"},
	} {
		out, decoded, err := Decode(c.body, strings.Fields(c.codings), 120)
		switch {
		case c.err == "" && (err != nil || string(out) != c.want || decoded != c.decoded):
			t.Errorf("%s: %q, %v, %v", c.name, out, decoded, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || out != nil):
			t.Errorf("%s: %q, %v; want %s", c.name, out, err, c.err)
		}
	}
}

// TestHead: the head of a body is what Decode returns of it, even if the rest of the body
// is missing or over the limit.
func TestHead(t *testing.T) {
	text := bytes.Repeat([]byte("hello, world\n"), 10_000)
	for _, c := range []struct {
		name    string
		body    []byte
		codings string
		n       int64 // 0: there is none
	}{
		{"no coding", text, "", 1000},
		{"all of it", text, "", int64(len(text))},
		{"too short", text, "gzip", 0},
		{"gzip", codingtest.Encode(t, "gzip", text), "gzip", 1000},
		{"br", codingtest.Encode(t, "br", text), "br", 1000},
		{"zstd", codingtest.Encode(t, "zstd", text), "zstd", 1000},
		{"deflate", codingtest.Encode(t, "deflate", text), "deflate", 1000},
		{"deflate without zlib's header", codingtest.Encode(t, "raw-deflate", text), "deflate", 1000},
		{"two codings", codingtest.Encode(t, "br", codingtest.Encode(t, "gzip", text)), "gzip br", 1000},
		{"declared and text all the same", text, "gzip", 1000},
		{"declared and text all the same, all of it", text, "gzip", int64(len(text))},
		{"declared, text all the same, too short", text, "gzip", 0},
		{"declared and neither", []byte{0, 1, 2, 3, 255, 254}, "gzip", 0},
		{"unknown", codingtest.Encode(t, "gzip", text), "rot13", 0},
		{"too many", codingtest.Encode(t, "gzip", text), "gzip gzip gzip gzip gzip gzip", 0},
	} {
		want := text[:c.n]
		if c.n == 0 {
			c.n, want = int64(len(text))+1, nil
		}
		if got := Head(c.body, strings.Fields(c.codings), c.n); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want the first %d of the text", c.name, len(got), len(want))
		}
	}
	// Noise stays as long as it is, so that half of it is half of the text.
	noise := make([]byte, 1_000_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for _, name := range all {
		cut := codingtest.Encode(t, name, noise)[:600_000]
		if got := Head(cut, []string{strings.TrimPrefix(name, "raw-")}, 1000); !bytes.Equal(got, noise[:1000]) {
			t.Errorf("%s, cut: %d bytes, want the first 1000", name, len(got))
		}
	}
	// What Decode refuses has no head.
	if got := Head(noise, []string{"gzip"}, 1000); got != nil {
		t.Errorf("no text, and not gzip: %d bytes", len(got))
	}
	if got := Head(text, slices.Repeat([]string{"gzip"}, MaxStacked+1), 1000); got != nil {
		t.Errorf("too many codings: %d bytes", len(got))
	}
}

// TestBombs: what inflates to 24 MiB costs a small multiple of the limit.
func TestBombs(t *testing.T) {
	const limit, most = 1 << 20, 16 << 20
	zeros := make([]byte, 24<<20)
	for _, name := range all {
		for _, stacked := range []bool{false, true} {
			bomb, codings := codingtest.Encode(t, name, zeros), []string{strings.TrimPrefix(name, "raw-")}
			if stacked {
				bomb, codings = codingtest.Encode(t, "gzip", bomb), append(codings, "gzip")
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := Decode(bomb, codings, limit)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, ErrTooLong) {
				t.Errorf("%s: %v", codings, err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Errorf("%s: %d bytes were allocated to find that out", codings, n)
			}
		}
	}
}

// TestWindow: a frame that wants a window beyond RFC 9659's is refused before there
// is memory for it.
func TestWindow(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(64<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.Write(make([]byte, 9<<20)); err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, _, err := Decode(b.Bytes(), []string{"zstd"}, 64<<20); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// FuzzDecode: no body decodes to more than the limit, none does harm, and what
// can be encoded comes back.
func FuzzDecode(f *testing.F) {
	for _, name := range all {
		f.Add(codingtest.Encode(f, name, []byte("hello")), name+", gzip")
	}
	f.Fuzz(func(t *testing.T, body []byte, fields string) {
		const limit = 1 << 16
		list := List([]string{fields})
		out, decoded, err := Decode(body, list, limit)
		if len(out) > limit || err != nil && (out != nil || decoded) {
			t.Errorf("%d bytes, decoded %v, %v", len(out), decoded, err)
		}
		if err == nil && !decoded && !bytes.Equal(out, body) {
			t.Errorf("nothing was decoded, and %q became %q", body, out)
		}
		if head := Head(body, list, 10); head != nil && len(head) != 10 {
			t.Errorf("a head of %d bytes", len(head))
		}
		if len(body) == 0 || len(body) > limit/2 {
			return
		}
		for _, name := range all {
			if name == "raw-deflate" {
				continue // which can look like zlib's
			}
			encoded := codingtest.Encode(t, name, body)
			out, _, err := Decode(encoded, []string{name}, limit)
			if err != nil || !bytes.Equal(out, body) {
				t.Errorf("%s: %q, %v", name, out, err)
			}
			if half := body[:len(body)/2]; !bytes.Equal(Head(encoded, []string{name}, int64(len(half))), half) {
				t.Errorf("%s: the head of %q is not its first half", name, body)
			}
		}
	})
}
