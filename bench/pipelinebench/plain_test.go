package pipelinebench

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestReadPlain: responses are read with their URLs, other records are passed over, and a file
// that ends within a record is an error.
func TestReadPlain(t *testing.T) {
	const (
		info     = "WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n"
		head     = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\r\nContent-Length: 40\r\n"
		response = head + "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\r\n\r\n"
	)
	for name, c := range map[string]struct {
		text      string
		responses int
		broken    bool
	}{
		"nothing":          {"", 0, false},
		"only information": {info, 0, false},
		"two responses":    {info + response + response, 2, false},
		"no header":        {response + "WARC/1.1\r\n", 1, true},
		"half a header":    {response + head, 1, true},
		"no block":         {response + head + "\r\n", 1, true},
		"half a block":     {head + "\r\nHTTP/1.1 200", 0, true},
	} {
		path := filepath.Join(t.TempDir(), "a.warc")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		read := make(chan *http.Response, 2)
		n, err := readPlain(t.Context(), path, read)
		if n != c.responses || len(read) != n || (err != nil) != c.broken {
			t.Errorf("%s: %d responses, %v; want %d", name, n, err, c.responses)
		}
		for range n {
			if resp := <-read; resp.Header.Get(targetHeader) != "https://a.example/" || resp.StatusCode != http.StatusOK {
				t.Errorf("%s: %+v", name, resp)
			}
		}
	}
}
