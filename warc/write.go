package warc

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
)

// WriteInfo writes a warcinfo record, with fields such as software, format, isPartOf and
// description. By convention it is the first record of a file.
func (w *Writer) WriteInfo(date time.Time, fields Fields) error {
	var block bytes.Buffer
	for _, f := range fields {
		fmt.Fprintf(&block, "%s: %s\r\n", f.Name, f.Value)
	}
	_, err := w.Write(Fields{
		{"WARC-Type", "warcinfo"},
		{"WARC-Date", formatDate(date)},
		{"Content-Type", "application/warc-fields"},
	}, block.Bytes())
	return err
}

// WriteRequest writes the request that a response answers, in HTTP/1.1 form, and
// returns the record's id.
func (w *Writer) WriteRequest(u page.URL, date time.Time, block []byte) (id string, err error) {
	return w.Write(Fields{
		{"WARC-Type", "request"},
		{"WARC-Date", formatDate(date)},
		{"WARC-Target-URI", string(u)},
		{"Content-Type", "application/http; msgtype=request"},
	}, block)
}

// WriteFetch writes a response or, if the fetch is a revisit, a revisit record.
// It writes the body unchanged: to record codings, declare them in Header and apply them to
// Body. WARC has no form for a fetch without a response (Status 0, Err), so writing one is
// an error.
func (w *Writer) WriteFetch(f *page.Fetch) error {
	if f.Status == 0 && !f.Revisit {
		return fmt.Errorf("write WARC record of %s: the fetch has no response (%s)", f.URL, f.Err)
	}
	status := f.Status
	if f.Revisit {
		status = http.StatusNotModified
	}
	_, err := w.Write(responseFields(f.URL, f.Time, f.Body, f.Revisit), responseBlock(status, f.Header, f.Body))
	return err
}

// responseFields returns the header of a response record, or of a revisit record (IIPC revisit
// profile server-not-modified).
func responseFields(u page.URL, date time.Time, payload []byte, revisit bool) Fields {
	typ, about := "response", Field{"WARC-Payload-Digest", Digest(payload)}
	if revisit {
		typ, about = "revisit", Field{"WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified"}
	}
	return Fields{
		{"WARC-Type", typ},
		{"WARC-Date", formatDate(date)},
		{"WARC-Target-URI", string(u)},
		about,
		{"Content-Type", "application/http; msgtype=response"},
	}
}

// WriteResource writes a resource record: the content of a URL, without the response of a server.
func (w *Writer) WriteResource(u page.URL, date time.Time, mediaType string, body []byte) error {
	_, err := w.Write(Fields{
		{"WARC-Type", "resource"},
		{"WARC-Date", formatDate(date)},
		{"WARC-Target-URI", string(u)},
		{"WARC-Payload-Digest", Digest(body)},
		{"Content-Type", mediaType},
	}, body)
	return err
}

// responseBlock returns a response as sent over HTTP/1.1, with fields in order of their
// names. If Content-Length is missing, it adds it.
func responseBlock(status int, header http.Header, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", status, http.StatusText(status))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			b.WriteString(name + ": " + oneLine.Replace(value) + "\r\n")
		}
	}
	if header.Get("Content-Length") == "" && header.Get("Transfer-Encoding") == "" && status != http.StatusNotModified {
		b.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")
