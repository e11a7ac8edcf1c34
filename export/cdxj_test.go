package export

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// pywb's parts read the index: warcio's time, surt's keys, and the order that their
// look-ups rely on.
func TestCDXJReadByPython(t *testing.T) {
	python := pythonWith(t, "surt, warcio.timeutils")
	r := testenv.Random(t)
	s := NewSorter(t.TempDir(), 3000)
	for i := range 300 {
		u, err := page.ParseURL(fmt.Sprintf("https://www%d.example.com/%c/x%%2f%d/?b=%d&a=ü", r.IntN(2), 'A'+rune(r.IntN(6)), i, i))
		if err != nil {
			t.Fatal(err)
		}
		line, err := CDXJLine(&Capture{URL: u, Time: time.Unix(r.Int64N(2e9), 999), Status: 200, MIME: "text/html"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := WriteCDXJ(&out, s); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "index.cdxj")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := runPython(t, python, "read_cdxj.py", file); got != "300 captures in order\n" {
		t.Error(got)
	}
}
