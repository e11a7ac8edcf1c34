package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"

	"github.com/webindexer/indexer/internal/testenv"
)

// flushed compresses parts as one stream, and returns what had been written after each;
// the end of the stream comes after the last.
func flushed(t *testing.T, parts ...string) (out []string) {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	for i, part := range parts {
		_, err := io.WriteString(w, part)
		if err == nil {
			err = w.Flush()
		}
		if err == nil && i == len(parts)-1 {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, buf.String())
		buf.Reset()
	}
	return out
}

// A record that comes through a pipe which stays open is returned when it has come:
// nothing of the next one is needed. In fake time a reader that wants more than there
// is can only end in a deadlock, which the test reports at once.
func TestPipeStaysOpen(t *testing.T) {
	random := testenv.Random(t)
	noise := make([]byte, 100_000) // does not compress: the member is longer than every buffer
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	long := record("4", html(string(noise)))
	plain := []string{one, two, three, long, record("5", html(strings.Repeat("window ", 9_000))), record("6", html(strings.Repeat("x", 1<<15-len(html(""))-4)))}
	crc := []zstd.EOption{zstd.WithEncoderCRC(true)}
	forms := map[string][]string{
		"plain":                          plain,
		"plain with one line end of \\n": {strings.TrimSuffix(one, "\r\n\r\n") + "\n\n", strings.TrimSuffix(two, "\r\n\r\n") + "\r\n\n"},
	}
	for _, part := range plain {
		forms["gzip"] = append(forms["gzip"], gz(part))
		forms["gzip, flushed"] = append(forms["gzip, flushed"], strings.Join(flushed(t, part), ""))
		forms["gzip, flushed twice"] = append(forms["gzip, flushed twice"], strings.Join(flushed(t, part[:9], part[9:], ""), ""))
		forms["zstd"] = append(forms["zstd"], zst(t, nil, part))
		forms["zstd with checksums"] = append(forms["zstd with checksums"], zst(t, crc, part))
	}
	for name, parts := range forms {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src, w := io.Pipe()
				next := make(chan struct{})
				go func() {
					for _, part := range parts {
						for len(part) > 0 {
							n := min(len(part), 1+random.IntN(1<<random.IntN(18)))
							_, _ = io.WriteString(w, part[:n]) // fails when the test has
							part = part[n:]
						}
						<-next
					}
					_ = w.Close()
				}()
				r := NewReader(src, name, Options{})
				defer func() { _ = r.Close() }()
				for i := range parts {
					rec, err := r.Next()
					if err != nil {
						t.Fatal(err)
					}
					if f, ok := rec.Fetch(); !ok || describe(f) != fmt.Sprint(i+1) {
						t.Errorf("record %d is %v", i+1, f)
					}
					next <- struct{}{}
				}
				if _, err := r.Next(); err != io.EOF || r.Stats().Problems > 0 {
					t.Errorf("at the end: %v, %v", err, r.Problems())
				}
			})
		})
	}
}

// Of a member with many records, each but the first is returned when it has been
// flushed: only the first may be the whole member, whose checksum is waited for.
func TestPipeOfOneMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parts := flushed(t, one, two, three)
		src, w := io.Pipe()
		next := make(chan struct{})
		go func() {
			_, _ = io.WriteString(w, parts[0]+parts[1])
			<-next
			<-next
			_, _ = io.WriteString(w, parts[2])
			<-next
			_ = w.Close()
		}()
		r := NewReader(src, "test", Options{})
		defer func() { _ = r.Close() }()
		for range 3 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			next <- struct{}{}
		}
		if _, err := r.Next(); err != io.EOF || r.Stats().Problems > 0 {
			t.Errorf("at the end: %v, %v", err, r.Problems())
		}
	})
}

// A piece of a plain record that ends like the beginning of a member does not hold up the record.
func TestPipeOfMixedMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, w := io.Pipe()
		next := make(chan struct{})
		go func() {
			for _, part := range []string{gz(one), record("2", html("a (")), record("3", html("a \x1f"))} {
				i := strings.IndexAny(part, "(\x1f") + 1
				_, _ = io.WriteString(w, part[:i])
				_, _ = io.WriteString(w, part[i:])
				<-next
			}
			_ = w.Close()
		}()
		r := NewReader(src, "test", Options{})
		defer func() { _ = r.Close() }()
		for range 3 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			next <- struct{}{}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	})
}

// A member is not believed before its checksum, however slowly it comes.
func TestPipeWithDamage(t *testing.T) {
	for name, file := range map[string]string{
		"gzip":          gz(one) + gz(two)[:len(gz(two))-8] + "notright" + gz(three),
		"gzip, flushed": gz(one) + strings.Join(flushed(t, two), "")[:len(strings.Join(flushed(t, two), ""))-8] + "notright" + gz(three),
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			got, _ := drain(t, NewReader(&pieces{file, size}, name, Options{}))
			if got != "1 [2] 3 problems=2" {
				t.Errorf("%s in pieces of %d: %s", name, size, got)
			}
		}
	}
}

// pieces gives a text in pieces, as a pipe does, and cannot seek.
type pieces struct {
	text string
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(b, p.text[:min(p.size, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}
