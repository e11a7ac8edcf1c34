package page

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/internal/testenv"
)

// testdata/surt.txt: URLs, and their keys as the Internet Archive has them.
func TestSURT(t *testing.T) {
	datadriven.RunTest(t, filepath.Join("testdata", "surt.txt"), func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
			fmt.Fprintln(&out, SURT(URL(line)))
		}
		return out.String()
	})
}

// TestUnescapeAll: unescaping in one pass gives the same as pass after pass, for texts that are full
// of nested escapes.
func TestUnescapeAll(t *testing.T) {
	r := testenv.Random(t)
	for range 10_000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = "%%%2345617aF"[r.IntN(12)]
		}
		want := string(b)
		for next := percentDecode(want); next != want; next = percentDecode(want) {
			want = next
		}
		if got := unescapeAll(string(b)); got != want {
			t.Fatalf("%q: %q, want %q", b, got, want)
		}
	}
}

func BenchmarkSURTNested(b *testing.B) {
	u := MustParseURL("https://a.example/%" + strings.Repeat("25", MaxURLLength/2-20))
	for b.Loop() {
		SURT(u)
	}
}

// A key that is again a URL has itself as its key: normalisation is idempotent.
func FuzzSURT(f *testing.F) {
	f.Add("https://www.example.com/a//b/%2541?b=1&a=%2526")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := ParseURL(raw)
		if err != nil {
			return
		}
		key := SURT(u)
		if strings.ContainsAny(key, " \n\t#") || !strings.Contains(key, ")/") {
			t.Errorf("the key of %q is %q", u, key)
		}
	})
}

// The Python package is the definition, where it is installed: random URLs, all of
// characters that mean something.
func TestSURTAgainstPython(t *testing.T) {
	python, missing := os.Getenv("INDEXER_TEST_PYTHON"), t.Fatal
	if python == "" {
		python, missing = "python3", t.Skip
	}
	if err := exec.CommandContext(t.Context(), python, "-c", "import surt").Run(); err != nil {
		missing("there is no Python with the package surt (pip install surt; INDEXER_TEST_PYTHON names the interpreter):", err)
	}
	r := testenv.Random(t)
	pieces := []string{"/", "/", "a", "B", "%2f", "%2E", ".", "..", "%25", "%2541", "%zz", "~", "%20", "ü", "index.html", "&", "=", "&sid=0123456789abcdef0123456789ABCDEF", "&", "(abcdefghijklmnopqrstuvwx)", "x.aspx", "+", ";", "%23", "%3f"}
	text := func(n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	var urls []URL
	for len(urls) < 2000 {
		raw := []string{"http://", "https://", "https://www.", "http://www2.", "http://user@"}[r.IntN(5)] +
			[]string{"example.com", "a.b.co.uk", "example.com:8080", "wwwx.example", "192.0.2.7", "[2001:db8::1]", "[2001:db8::1]:81"}[r.IntN(7)] + "/" + text(8)
		if r.IntN(2) == 0 {
			raw += "?" + text(8)
		}
		if u, err := ParseURL(raw); err == nil {
			urls = append(urls, u)
		}
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", "import sys,surt\nfor line in sys.stdin: print(surt.surt(line.rstrip('\\n')))")
	var in strings.Builder
	for _, u := range urls {
		fmt.Fprintln(&in, u)
	}
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	for _, u := range urls {
		if !lines.Scan() {
			t.Fatal("Python wrote too few keys")
		}
		if got := SURT(u); got != lines.Text() {
			t.Errorf("%s\n  is     %s\n  python %s", u, got, lines.Text())
		}
	}
}
