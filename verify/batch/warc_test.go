package batch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// readWARC feeds the responses and revisits of a gzip-compressed WARC file to
// add. It reads well-formed files only; package warc is the real reader, and
// batch must not depend on it.
func readWARC(t *testing.T, path string, add func(*page.Fetch)) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	members, err := gzip.NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	r := bufio.NewReaderSize(members, 1<<20)
	for {
		header, block, err := readRecord(r)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		kind := header.Get("WARC-Type")
		if kind != "response" && kind != "revisit" {
			continue
		}
		f, err := recordedFetch(header, block)
		if err != nil {
			t.Fatalf("%s: %s: %v", path, header.Get("WARC-Target-URI"), err)
		}
		f.Revisit = kind == "revisit"
		add(f)
	}
}

func readRecord(r *bufio.Reader) (textproto.MIMEHeader, []byte, error) {
	tr := textproto.NewReader(r)
	version, err := tr.ReadLine()
	for err == nil && version == "" {
		version, err = tr.ReadLine()
	}
	if err != nil {
		return nil, nil, err
	}
	if !strings.HasPrefix(version, "WARC/") {
		return nil, nil, fmt.Errorf("not a WARC version line: %q", version)
	}
	header, err := tr.ReadMIMEHeader()
	if err != nil {
		return nil, nil, err
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, nil, err
	}
	block := make([]byte, n)
	_, err = io.ReadFull(r, block)
	return header, block, err
}

func recordedFetch(header textproto.MIMEHeader, block []byte) (*page.Fetch, error) {
	u, err := page.ParseURL(header.Get("WARC-Target-URI"))
	if err != nil {
		return nil, err
	}
	at, err := time.Parse(time.RFC3339, header.Get("WARC-Date"))
	if err != nil {
		return nil, err
	}
	f := &page.Fetch{URL: u, Time: at}
	if len(block) == 0 {
		return f, nil
	}
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	f.Status, f.Header = response.StatusCode, response.Header
	if header.Get("WARC-Type") == "response" {
		f.Body, err = readBody(response)
	}
	return f, err
}

func readBody(response *http.Response) ([]byte, error) {
	var body io.Reader = response.Body
	switch coding := response.Header.Get("Content-Encoding"); coding {
	case "":
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = z
	default:
		return nil, fmt.Errorf("content coding %q", coding)
	}
	return io.ReadAll(body)
}
