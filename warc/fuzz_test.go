package warc

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzReader looks for files that make the Reader panic, hang, or hold more than
// it may; and for files that it passes over silently.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{one + two, gz(one, two), gz(one + two), gz(one) + "junk" + gz(two),
		one + recordWith("2", 1<<40, html("two"), "") + three, "WARC/1.1\r\n\r\n", "\x28\xb5\x2f\xfd", skippable(0xd, "x")} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		fuzzOne(t, file, bytes.NewReader(file))
		fuzzOne(t, file, struct{ io.Reader }{bytes.NewReader(file)}) // a pipe
	})
}

func fuzzOne(t *testing.T, file []byte, src io.Reader) {
	const limit = 1 << 12
	r := NewReader(src, "fuzz", Options{MaxBody: limit})
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Damage == "" && int64(len(rec.Block)) != rec.Length {
			t.Fatalf("block of %d bytes, Content-Length %d", len(rec.Block), rec.Length)
		}
		if fetch, ok := rec.Fetch(); ok && len(fetch.Body) > limit {
			t.Fatalf("body of %d bytes", len(fetch.Body))
		}
	}
	s := r.Stats()
	if s.Bytes != int64(len(file)) {
		t.Fatalf("stopped at byte %d of %d", s.Bytes, len(file))
	}
	if len(r.win.buf) > 16<<20 || len(r.Problems()) > MaxProblems {
		t.Fatalf("window of %d bytes, %d problems kept", len(r.win.buf), len(r.Problems()))
	}
	if len(s.Records) == 0 && s.Problems == 0 && len(bytes.Trim(file, "\r\n\x00")) > 0 && sniff(file) == kindNone {
		t.Fatal("nothing is read and nothing is said")
	}
}
