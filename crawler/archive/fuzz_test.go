package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// FuzzIndexLine: whatever the URL and the Content-Type, the result is one line of three
// parts, its key has no space, and it contains what it was made from.
func FuzzIndexLine(f *testing.F) {
	f.Add("https://www.example.com/A?b=c d", "text/html; charset=utf-8", 200)
	f.Add("http://[2001:db8::1]:8080/\"\\", "text/html\r\nx", 304)
	f.Add("http://u:p@bücher.example./%0A", "a/b; c=\"", 404)
	f.Fuzz(func(t *testing.T, raw, contentType string, status int) {
		u, err := page.ParseURL(raw)
		if err != nil {
			return
		}
		fetched := page.Fetch{URL: u, Status: status, Time: time.Unix(1, 0), Header: http.Header{"Content-Type": {contentType}}}
		var line bytes.Buffer
		out := bufio.NewWriter(&line)
		if err := newEntry(u, &fetched, "sha1:X", 10, 25).write(out, "F.warc.gz"); err != nil {
			t.Fatal(err)
		}
		_ = out.Flush() // to memory
		text, rest, ok := strings.Cut(line.String(), "\n")
		parts := strings.SplitN(text, " ", 3)
		if !ok || rest != "" || len(parts) != 3 || parts[0] == "" || parts[1] != "19700101000001" {
			t.Fatalf("%q", line.String())
		}
		if !strings.Contains(parts[0], ")/") || strings.ToLower(parts[0]) != parts[0] {
			t.Errorf("key %q", parts[0])
		}
		var fields map[string]string
		if err := json.Unmarshal([]byte(parts[2]), &fields); err != nil {
			t.Fatalf("%s: %v", parts[2], err)
		}
		if page.URL(fields["url"]) != u || fields["offset"] != "10" || fields["length"] != "15" || fields["digest"] != "X" || fields["filename"] != "F.warc.gz" {
			t.Errorf("%s says %v", u, fields)
		}
	})
}
