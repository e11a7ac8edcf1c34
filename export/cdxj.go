package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/webindexer/indexer/page"
)

// capture is the JSON part of a line. Numbers are strings, as in pywb.
type capture struct {
	URL    page.URL `json:"url"`
	MIME   string   `json:"mime,omitempty"`
	Status string   `json:"status"`
	Digest string   `json:"digest"`
	*place
}

// place says where the record of a capture is in a WARC file, with the names that pywb uses.
type place struct {
	Length   string `json:"length"`
	Offset   string `json:"offset"`
	Filename string `json:"filename"`
}

// CDXJLine returns the line of a capture in a CDXJ index, without the newline: the URL
// as a SURT key, the time to the second, and a JSON object. It has no filename and no
// offset, because the capture is not in a WARC file.
//
// Lines are sorted by their bytes. The key comes first, which keeps the lines of a site
// together and allows binary search.
func CDXJLine(c *Capture) ([]byte, error) { return cdxjLine(c, nil) }

// cdxjLine returns the line of a capture that is at a place in a WARC file, or in no WARC file.
func cdxjLine(c *Capture, in *place) ([]byte, error) {
	at := c.Time.UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return nil, fmt.Errorf("cdxj: %s was fetched in the year %d, which does not have four digits", c.URL, at.Year())
	}
	var line bytes.Buffer
	fmt.Fprintf(&line, "%s %s ", page.SURT(c.URL), at.Format("20060102150405"))
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(capture{c.URL, c.MIME, strconv.Itoa(c.Status), labelledSHA256(c.Sum[:]), in})
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), err
}

// WriteCDXJ writes the lines in a Sorter, and returns their number.
func WriteCDXJ(w io.Writer, lines *Sorter) (n int, err error) {
	out := bufio.NewWriterSize(w, buffered)
	err = lines.Sorted(func(line []byte) error {
		n++
		_, err := out.Write(append(line, '\n'))
		return err
	})
	if err != nil {
		return n, err
	}
	return n, out.Flush()
}
